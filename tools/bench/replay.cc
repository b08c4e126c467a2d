#include "tools/bench/replay.h"

#include <algorithm>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "transfer/base/check.h"

namespace mooncake::bench {

uint64_t ReplayHits(const Trace& trace, size_t capacity, core::EvictionPolicy& policy) {
  MC_CHECK(capacity > 0 && policy.size() == 0);
  uint64_t hits = 0;
  std::vector<core::BlockId> chain;
  size_t start = 0;
  for (const size_t end : trace.chain_ends) {
    chain.assign(trace.uses.begin() + static_cast<ptrdiff_t>(start),
                 trace.uses.begin() + static_cast<ptrdiff_t>(end));
    start = end;
    policy.StartChain(chain);
    for (const core::BlockId block : chain) {
      if (policy.Use(block)) {
        ++hits;
        continue;
      }
      if (policy.size() == capacity) policy.Evict();
      policy.Insert(block);
    }
  }
  return hits;
}

uint64_t BeladyHits(const Trace& trace, size_t capacity) {
  MC_CHECK(capacity > 0);
  const size_t count = trace.uses.size();
  const size_t never = count;
  std::vector<size_t> next_use(count);
  std::vector<size_t> following(trace.blocks, never);
  for (size_t i = count; i-- > 0;) next_use[i] = std::exchange(following[trace.uses[i]], i);

  // A use leaves a stale entry behind; it names a time that is past, or a block that is gone.
  std::priority_queue<std::pair<size_t, uint32_t>> last_used_first;
  std::vector<size_t> held_until(trace.blocks, 0);  // next use of a held block; 0: not held
  size_t held = 0;
  uint64_t hits = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t block = trace.uses[i];
    if (held_until[block] != 0) {
      ++hits;
    } else if (held < capacity) {
      ++held;
    } else {
      while (held_until[last_used_first.top().second] != last_used_first.top().first)
        last_used_first.pop();
      held_until[last_used_first.top().second] = 0;
      last_used_first.pop();
    }
    held_until[block] = next_use[i];
    last_used_first.emplace(next_use[i], block);
  }
  return hits;
}

double ShareClosed(uint64_t lru, uint64_t policy, uint64_t belady) {
  if (belady <= lru) return 0;
  return (static_cast<double>(policy) - static_cast<double>(lru)) /
         (static_cast<double>(belady) - static_cast<double>(lru));
}

}  // namespace mooncake::bench

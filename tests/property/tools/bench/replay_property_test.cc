// Laws of the replay: Belady is the best of all choices (tried exhaustively on small traces), so nothing beats it; a
// policy holds what it was given and gives up nothing else.
#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tools/bench/replay.h"
#include "tools/bench/replay_master.h"
#include "transfer/base/rng.h"

namespace mooncake::bench {
namespace {

Trace RandomTrace(Rng& rng, size_t uses, uint32_t blocks) {
  Trace trace;
  while (trace.uses.size() < uses) {
    std::vector<uint32_t> chain(1 + rng.Below(5));
    for (uint32_t& block : chain)  // small numbers more often
      block = static_cast<uint32_t>(rng.Below(1 + rng.Below(blocks)));
    trace.Add(chain);
  }
  return trace;
}

// The most hits from use `at` on, with `held` in the cache.
uint64_t BestHits(const Trace& trace, size_t capacity, size_t at, const std::set<uint32_t>& held) {
  if (at == trace.uses.size()) return 0;
  const uint32_t block = trace.uses[at];
  if (held.contains(block)) return 1 + BestHits(trace, capacity, at + 1, held);
  std::set<uint32_t> with = held;
  with.insert(block);
  if (with.size() <= capacity) return BestHits(trace, capacity, at + 1, with);
  uint64_t best = 0;
  for (const uint32_t victim : held) {
    std::set<uint32_t> without = with;
    without.erase(victim);
    best = std::max(best, BestHits(trace, capacity, at + 1, without));
  }
  return best;
}

// Passes everything on and checks what comes back against a set.
class CheckedPolicy : public core::EvictionPolicy {
 public:
  explicit CheckedPolicy(std::string_view name) : policy_(core::MakeEvictionPolicy(name)) {}

  void StartChain(std::span<const core::BlockId> chain) override { policy_->StartChain(chain); }
  bool Use(core::BlockId block) override {
    const bool hit = policy_->Use(block);
    EXPECT_EQ(hit, held_.contains(block));
    return hit;
  }
  void Insert(core::BlockId block) override {
    policy_->Insert(block);
    held_.insert(block);
    EXPECT_EQ(policy_->size(), held_.size());
  }
  core::BlockId Evict() override {
    const core::BlockId victim = policy_->Evict();
    EXPECT_EQ(held_.erase(victim), 1u);
    EXPECT_EQ(policy_->size(), held_.size());
    return victim;
  }
  size_t size() const override { return policy_->size(); }

 private:
  std::unique_ptr<core::EvictionPolicy> policy_;
  std::set<core::BlockId> held_;
};

class ReplayLaws : public testing::TestWithParam<uint64_t> {};

TEST_P(ReplayLaws, BeladyIsTheBestOfAllChoices) {
  Rng rng(GetParam());
  for (int round = 0; round < 50; ++round) {
    const Trace trace = RandomTrace(rng, 10, 5);
    for (const size_t capacity : {1, 2, 3})
      ASSERT_EQ(BeladyHits(trace, capacity), BestHits(trace, capacity, 0, {})) << round;
  }
}

TEST_P(ReplayLaws, NoPolicyBeatsBeladyAndEachGivesUpWhatItHolds) {
  Rng rng(GetParam());
  const Trace trace = RandomTrace(rng, 20000, 2000);
  for (const size_t capacity : {1, 7, 100, 1000}) {
    const uint64_t best = BeladyHits(trace, capacity);
    for (const std::string_view name : core::EvictionPolicyNames()) {
      CheckedPolicy policy(name);
      EXPECT_LE(ReplayHits(trace, capacity, policy), best) << name << " " << capacity;
    }
  }
}

TEST_P(ReplayLaws, WithRoomForAllEachBlockMissesOnce) {
  Rng rng(GetParam());
  const Trace trace = RandomTrace(rng, 5000, 500);
  const std::set<uint32_t> distinct(trace.uses.begin(), trace.uses.end());
  const uint64_t expected = trace.uses.size() - distinct.size();
  EXPECT_EQ(BeladyHits(trace, 500), expected);
  for (const std::string_view name : core::EvictionPolicyNames()) {
    CheckedPolicy policy(name);
    EXPECT_EQ(ReplayHits(trace, 500, policy), expected) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ReplayLaws, testing::Range<uint64_t>(1, 6));

// Questions on documents that come again, between prompts that don't: the place in the chain tells them apart, and only if the
// whole batch reaches the policy as one chain.
TEST(ReplayInMaster, HitDensityBeatsLeastRecentlyUsedByWhatChainsTell) {
  Trace trace;
  Rng rng(7);
  uint32_t fresh = 1000;
  for (int request = 0; request < 1500; ++request) {
    std::vector<uint32_t> chain;
    if (rng.Chance(1, 2)) {
      const auto document = static_cast<uint32_t>(rng.Below(20));
      for (uint32_t i = 0; i < 10; ++i) chain.push_back(document * 10 + i);
      chain.push_back(fresh++);
    } else {
      for (int i = 0; i < 30; ++i) chain.push_back(fresh++);
    }
    trace.Add(chain);
  }
  const uint64_t lru = ReplayHitsInMaster(trace, 200, core::EvictionPolicyKind::kLru);
  const uint64_t dense = ReplayHitsInMaster(trace, 200, core::EvictionPolicyKind::kHitDensity);
  EXPECT_GT(dense, 2 * lru);
  EXPECT_LE(dense, BeladyHits(trace, 200));
  EXPECT_EQ(dense, ReplayHitsInMaster(trace, 200, core::EvictionPolicyKind::kHitDensity));
}

}  // namespace
}  // namespace mooncake::bench

#include "master/core/eviction/hole_maker.h"

#include <algorithm>
#include <vector>

#include <absl/container/flat_hash_set.h>

#include "master/core/eviction/evictor.h"
#include "master/core/versions.h"

namespace mooncake::core {
namespace {

constexpr uint32_t kNoBlock = SegmentAllocator::kNoHandle;
constexpr size_t kMaxWindows = 8;
constexpr size_t kColdObjects = 256;  // looked at, over all segments

struct Seed {
  uint32_t slot;
  uint32_t block;
  uint64_t offset;
};

// Blocks side by side that are free or may be made so.
class Window {
 public:
  Window(const State& state, Seed seed, TimePoint now)
      : state_(state),
        allocator_(*state.pool.at(seed.slot).allocator),
        slot_(seed.slot),
        now_(now) {
    if (!MayBeFree(seed.block)) return;
    left_ = right_ = seed.block;
    Count(seed.block);
  }

  // Grows on both sides until it has `wanted` bytes, is blocked, or has `limit` victims. True: enough.
  bool Grow(uint64_t wanted, size_t limit) {
    bool right = true;
    bool blocked = left_ == kNoBlock;
    for (bool other_blocked = false; bytes_ < wanted && !blocked && victims_.size() < limit;) {
      const uint32_t next = right ? allocator_.After(right_) : allocator_.Before(left_);
      if (next != kNoBlock && MayBeFree(next)) {
        (right ? right_ : left_) = next;
        Count(next);
        if (!other_blocked) right = !right;
      } else {
        blocked = other_blocked;
        other_blocked = true;
        right = !right;
      }
    }
    return bytes_ >= wanted;
  }
  const std::vector<Object*>& victims() const { return victims_; }
  bool Contains(const Seed& seed) const {
    return seed.slot == slot_ && left_ != kNoBlock &&
           allocator_.BlockOffset(left_) <= seed.offset &&
           seed.offset <= allocator_.BlockOffset(right_);
  }

 private:
  bool MayBeFree(uint32_t block) const {
    if (!allocator_.IsLive(block)) return true;
    const Object* owner = state_.pool.Owner(slot_, block);
    if (owner == nullptr || owner->queue == Queue::kNone || IsLeased(state_, *owner, now_)) {
      return false;
    }
    return owner->soft_pin_until() == TimePoint{};
  }
  void Count(uint32_t block) {
    bytes_ += allocator_.BlockBytes(block);
    if (!allocator_.IsLive(block)) return;
    Object* owner = state_.pool.Owner(slot_, block);
    if (seen_.insert(owner).second) victims_.push_back(owner);
  }

  const State& state_;
  const SegmentAllocator& allocator_;
  const uint32_t slot_;
  const TimePoint now_;
  uint32_t left_ = kNoBlock;
  uint32_t right_ = kNoBlock;
  uint64_t bytes_ = 0;
  std::vector<Object*> victims_;
  absl::flat_hash_set<const Object*> seen_;
};

// Where to begin: the largest hole if it is a good part of what is wanted, then the coldest objects of all
// segments, coldest first.
std::vector<Seed> Seeds(const State& state, uint64_t bytes, std::span<const uint32_t> excluded,
                        TimePoint now) {
  struct Cold {
    TimePoint touched;
    PutId put_id;
    Seed seed;
  };
  std::vector<Cold> cold;
  Seed hole{kNoSlot, kNoBlock, 0};
  uint64_t hole_bytes = bytes / 4;
  const size_t each = std::clamp<size_t>(
      kColdObjects / std::max<size_t>(state.pool.allocatable().size(), 1), 2, 64);
  for (const uint32_t slot : state.pool.allocatable()) {
    const Segment& segment = state.pool.at(slot);
    if (std::find(excluded.begin(), excluded.end(), slot) != excluded.end()) continue;
    if (segment.allocator->capacity() < bytes) continue;
    const uint32_t block = segment.allocator->LargestHole();
    if (block != kNoBlock && segment.allocator->BlockBytes(block) > hole_bytes) {
      hole = {slot, block, segment.allocator->BlockOffset(block)};
      hole_bytes = segment.allocator->BlockBytes(block);
    }
    for (const Queue queue : {Queue::kUnread, Queue::kRead}) {
      const Object* object = segment.queues[static_cast<size_t>(queue)].coldest();
      for (size_t i = 0; i < each && object != nullptr; ++i, object = object->warmer) {
        if (IsLeased(state, *object, now)) continue;
        ExtentRef scratch;
        const ExtentRef first = object->extents(scratch)[0];
        cold.push_back({object->touched, object->put_id, {slot, first.block, first.offset}});
      }
    }
  }
  std::sort(cold.begin(), cold.end(), ColderFirst());
  std::vector<Seed> seeds;
  if (hole.slot != kNoSlot) seeds.push_back(hole);
  for (const Cold& one : cold) seeds.push_back(one.seed);
  return seeds;
}

}  // namespace

bool MakeHole(State& state, uint64_t bytes, std::span<const uint32_t> excluded, uint32_t limit,
              TimePoint now) {
  std::vector<Window> tried;
  for (const Seed& seed : Seeds(state, bytes, excluded, now)) {
    // A window that was too small is too small from wherever in it one begins.
    const auto contains = [&](const Window& window) { return window.Contains(seed); };
    if (std::any_of(tried.begin(), tried.end(), contains)) continue;
    Window& window = tried.emplace_back(state, seed, now);
    if (window.Grow(bytes, limit)) {
      for (Object* victim : window.victims()) EvictObject(state, victim, now);
      return true;
    }
    if (tried.size() == kMaxWindows) break;
  }
  // Nowhere enough. If that is for the limit, a part of the work is done; the next attempt begins with its hole.
  for (const Window& window : tried) {
    if (window.victims().size() < limit) continue;
    for (Object* victim : window.victims()) EvictObject(state, victim, now);
    break;
  }
  return false;
}

}  // namespace mooncake::core

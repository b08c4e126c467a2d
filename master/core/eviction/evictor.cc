#include "master/core/eviction/evictor.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "master/core/eviction/hole_maker.h"
#include "master/core/eviction/tenant_evictor.h"
#include "master/core/eviction/victim_draw.h"
#include "master/core/versions.h"

namespace mooncake::core {
namespace {

// The head of one queue of one segment.
struct Source {
  TimePoint touched;
  PutId put_id;
  uint32_t slot;
  Queue queue;
};
bool Warmer(const Source& a, const Source& b) { return ColderFirst()(b, a); }

// A heap of queue heads, coldest first.
class Sources {
 public:
  Sources(const State& state, uint32_t only_slot, Queue unread, Queue read) : state_(state) {
    const auto add = [&](uint32_t slot) {
      Refill(slot, unread);
      Refill(slot, read);
    };
    if (only_slot != kNoSlot) {
      add(only_slot);
    } else {
      for (const auto& [name, slot] : state.pool.by_name()) add(slot);
    }
  }
  std::optional<Source> Pop() {
    if (heap_.empty()) return std::nullopt;
    std::pop_heap(heap_.begin(), heap_.end(), Warmer);
    const Source source = heap_.back();
    heap_.pop_back();
    return source;
  }
  void Refill(uint32_t slot, Queue queue) {
    const Object* object = state_.pool.at(slot).queues[static_cast<size_t>(queue)].coldest();
    if (object == nullptr) return;
    heap_.push_back({object->touched, object->put_id, slot, queue});
    std::push_heap(heap_.begin(), heap_.end(), Warmer);
  }

 private:
  const State& state_;
  std::vector<Source> heap_;
};

class Run {
 public:
  Run(State& state, const EvictionGoal& goal, TimePoint now)
      : state_(state), goal_(goal), now_(now) {}

  EvictionOutcome Do() {
    if (state_.reuse != nullptr) DrawPass();
    // Also after a draw: only the queues know that there is nothing left.
    bool exhausted = Pass(Queue::kUnread, Queue::kRead);
    if (exhausted && state_.options.allow_evict_soft_pinned) {
      soft_ = true;
      exhausted = Pass(Queue::kSoftUnread, Queue::kSoftRead);
    }
    outcome_.exhausted = exhausted;
    return outcome_;
  }

 private:
  bool Enough() const { return outcome_.bytes >= goal_.bytes || visited_ >= goal_.limit; }

  // True when the queues ran dry before the goal was reached.
  bool Pass(Queue unread, Queue read) {
    Sources sources(state_, goal_.slot, unread, read);
    while (!Enough()) {
      const auto source = sources.Pop();
      if (!source.has_value()) return true;
      Object* object =
          state_.pool.at(source->slot).queues[static_cast<size_t>(source->queue)].coldest();
      // In a Read queue everything warmer is leased too, in any queue everything warmer is as fresh: the queue has
      // nothing to give.
      if (object == nullptr || Spared(*object)) continue;
      if (IsLeased(state_, *object, now_)) {
        // Only its group is leased: it is as warm as the group. Met twice, it says that the queue
        // went round; that is no work, or a small limit would never see the end.
        if (object->touched == now_) continue;
        ++visited_;
        Rewarm(*object);
      } else {
        ++visited_;
        EvictWithGroup(object);
      }
      sources.Refill(source->slot, source->queue);
    }
    return false;
  }

  // By hit density, until the goal is reached or no victim is drawn.
  void DrawPass() {
    VictimDraw draw(state_, goal_.slot);
    const auto may_go = [&](const Object& object) {
      return (object.queue == Queue::kUnread || object.queue == Queue::kRead) && !Spared(object) &&
             !IsLeased(state_, object, now_);
    };
    while (!Enough()) {
      Object* victim = draw.Next(may_go);
      if (victim == nullptr) return;
      visited_ += kWorkOfADraw;
      EvictWithGroup(victim);
    }
  }

  bool Spared(const Object& object) const {
    const bool fresh = SaturatingAdd(object.touched, state_.options.lease_ttl) > now_;
    return (fresh && (object.leased || goal_.ahead)) || object.size > goal_.largest;
  }

  void Rewarm(Object& object) {
    Dequeue(state_, object);
    object.leased = false;
    Enqueue(state_, object, now_);
  }

  void EvictWithGroup(Object* object) {
    if (object->group() == nullptr) return EvictOne(object);
    // A huge group takes several runs: no run is longer than its limit allows.
    const size_t bound = visited_ < goal_.limit ? goal_.limit - visited_ : 0;
    const std::vector<Object*> members = MembersToEvict(object, bound, soft_);
    for (Object* member : members) EvictOne(member);
    visited_ += static_cast<uint32_t>(members.size()) - 1;
  }

  void EvictOne(Object* object) {
    outcome_.bytes += EvictObject(state_, object, now_);
    ++outcome_.objects;
  }

  static constexpr uint32_t kWorkOfADraw = 3;  // a draw takes about as long as so many evictions

  State& state_;
  const EvictionGoal goal_;
  const TimePoint now_;
  bool soft_ = false;
  uint32_t visited_ = 0;
  EvictionOutcome outcome_;
};

uint64_t Share(double ratio, uint64_t bytes) {
  return static_cast<uint64_t>(ratio * static_cast<double>(bytes));
}

struct Watermarks {
  uint64_t high;
  uint64_t low;
};
Watermarks WatermarksOf(double high, double ratio, uint64_t capacity) {
  return {high >= 1.0 ? capacity : Share(high, capacity),
          Share(std::max(high - ratio, 0.0), capacity)};
}

constexpr size_t kMembersAtOnce = 256;

}  // namespace

std::vector<Object*> MembersToEvict(Object* object, size_t bound, bool soft_pinned_too) {
  std::vector<Object*> members = {object};
  const Group* group = object->group();
  if (group == nullptr) return members;
  for (Object* member : group->members) {
    if (members.size() >= std::max(bound, kMembersAtOnce)) break;
    const bool pinned = member->queue == Queue::kNone ||
                        (!soft_pinned_too && member->soft_pin_until() != TimePoint{});
    if (!pinned && member != object) members.push_back(member);
  }
  return members;
}

uint64_t EvictObject(State& state, Object* object, TimePoint now) {
  const uint64_t used = state.pool.in_use();
  DropVersion(state, object, now);
  const uint64_t freed = used - state.pool.in_use();
  ++state.counters.evicted_objects;
  state.counters.evicted_bytes += freed;
  return freed;
}

EvictionOutcome Evict(State& state, const EvictionGoal& goal, TimePoint now) {
  return Run(state, goal, now).Do();
}

bool EvictAboveWatermarks(State& state, TimePoint now, uint32_t budget) {
  const CoreOptions& options = state.options;
  bool more = false;
  const auto slice = [&](EvictionGoal goal, bool& evicting) {
    if (budget == 0) return;
    goal.limit = budget;
    const EvictionOutcome outcome = Evict(state, goal, now);
    budget -= static_cast<uint32_t>(std::min<uint64_t>(outcome.objects, budget));
    evicting = outcome.bytes < goal.bytes && !outcome.exhausted;
    more = more || evicting;
  };
  more = GrantWishes(state, now, budget);
  const uint64_t capacity = state.pool.capacity();
  const Watermarks all =
      WatermarksOf(options.eviction_high_watermark, options.eviction_ratio, capacity);
  const uint64_t used = state.pool.in_use();
  const bool above = used > all.high || (state.evicting && used > all.low);
  const uint64_t wished = std::exchange(state.eviction_wish, 0);
  if (const uint64_t hole = std::exchange(state.hole_wish, 0); hole > state.pool.held()) {
    const uint64_t before = state.counters.evicted_objects;
    const bool made = MakeHole(state, hole, {}, budget, now);
    const uint64_t evicted = state.counters.evicted_objects - before;
    budget -= static_cast<uint32_t>(std::min<uint64_t>(evicted, budget));
    if (!made && evicted > 0) state.hole_wish = hole;
    more = more || state.hole_wish > 0;
  }
  state.evicting = false;
  if (wished > 0) slice({.bytes = wished}, state.evicting);
  if (const uint64_t left = state.pool.in_use(); above && left > all.low)
    slice({.bytes = left - all.low, .ahead = true, .largest = capacity / 2}, state.evicting);
  for (const auto& [name, slot] : state.pool.by_name()) {
    Segment& segment = state.pool.at(slot);
    const Watermarks own =
        WatermarksOf(options.segment_high_watermark, options.eviction_ratio, segment.capacity());
    const bool full =
        segment.in_use() > own.high || (segment.evicting && segment.in_use() > own.low);
    segment.evicting = false;
    if (full) {
      slice({.bytes = segment.in_use() - own.low,
             .slot = slot,
             .ahead = true,
             .largest = segment.capacity() / 2},
            segment.evicting);
    }
  }
  return more;
}

}  // namespace mooncake::core

// Makes room: least recently used first, by bytes, in bounded steps.
#pragma once

#include <cstdint>
#include <vector>

#include "master/core/state.h"

namespace mooncake::core {

struct EvictionGoal {
  uint64_t bytes = 0;       // until so many are free again
  uint32_t limit = 0;       // objects looked at
  uint32_t slot = kNoSlot;  // of this segment only
  // Eviction ahead of need. A version that was written or read less than a lease ago stays, and so does one larger
  // than `largest`: for room that nobody has asked for, nobody should lose what they have just put.
  bool ahead = false;
  uint64_t largest = UINT64_MAX;
};

struct EvictionOutcome {
  uint64_t bytes = 0;
  uint64_t objects = 0;
  bool exhausted = false;  // nothing evictable is left
};

// Soft-pinned objects only when nothing else is left, and only if the options allow it. A member of a group goes
// with its whole group, unless a member is leased: then the group stays.
EvictionOutcome Evict(State& state, const EvictionGoal& goal, TimePoint now);

// The object and what goes with it, because it is in its group; `bound` objects, but a few hundred in any case.
std::vector<Object*> MembersToEvict(Object* object, size_t bound, bool soft_pinned_too);

// This one, which must be in a queue and unleased. Returns the bytes freed.
uint64_t EvictObject(State& state, Object* object, TimePoint now);

// One slice of eviction above the watermarks (ahead of need; `largest` is half of the capacity) and of what failed puts
// wished for, `budget` objects at most. True: more is to be done.
bool EvictAboveWatermarks(State& state, TimePoint now, uint32_t budget);

}  // namespace mooncake::core

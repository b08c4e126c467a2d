// Writes in progress: how one begins, is preempted, revoked, expires or is committed. README.md has the diagram.
#pragma once

#include "master/core/state.h"

namespace mooncake::core {

// Registers the write on `object`, which has none, until the release timeout, and charges it to the tenant.
void BeginWrite(State& state, Object& object, std::unique_ptr<PendingPut> put);

// What may still arrive from the writer?
enum class InFlight : uint8_t {
  kNothing,  // each write was acknowledged, refused or fenced: the space is free at once
  kPerhaps,  // the space is held until nobody can write any more
};
// Ends the write on `object` without a version. The object is erased when nothing is left of it: answers it, or null.
Object* AbandonWrite(State& state, Object* object, InFlight in_flight, TimePoint now);

// Takes the write off `object`, which stays, even empty: for PutEnd.
std::unique_ptr<PendingPut> TakeWrite(State& state, Object& object);

// Space of a discarded write whose writer now says that nothing is in flight. False: no such write.
bool ReleaseDiscarded(State& state, PutId put_id);

// What is due of each kind, `budget` items at most; they take from it.
void ExpireWrites(State& state, TimePoint now, uint32_t& budget);
void ExpireDiscarded(State& state, TimePoint now, uint32_t& budget);

}  // namespace mooncake::core

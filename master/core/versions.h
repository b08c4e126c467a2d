// Life of a readable version: committed, touched by readers, detached or dropped. README.md has the diagram.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "master/core/state.h"

namespace mooncake::core {

// The end of the last lease on it, or on its group. TimePoint{} when there never was one.
TimePoint LeaseEnd(const State& state, const Object& object);
bool IsLeased(const State& state, const Object& object, TimePoint now);
// Somebody reads it: to be called before Touch.
void CountUse(State& state, Object& object, TimePoint now);
// Grants a full lease and makes it the warmest.
void Touch(State& state, Object& object, TimePoint now);

// What PutEnd commits.
struct NewVersion {
  PutId put_id;
  uint64_t size = 0;
  int64_t created_ms = 0;
  ExtentList extents;
  uint8_t replicas_wanted = 1;
  std::optional<ObjectAttributes> attributes;
  bool hard_pin = false;
  TimePoint soft_pin_until{};  // TimePoint{} = none
  std::string group;
};
// `object` has no version.
void Commit(State& state, Object& object, NewVersion version, TimePoint now);

// Takes the version away from its name; its space is free at once, or kept until its leases end. The object is
// erased when no write is in progress on it: don't touch it afterwards.
void DropVersion(State& state, Object* object, TimePoint now);
// Drops a version that nobody can read any more because its segments are gone. Answers the object, or null when
// that erased it.
Object* DropIfLost(State& state, Object* object, TimePoint now);
// Takes out replicas with an extent on a dead segment. May erase the object.
void DropDeadReplicas(State& state, Object* object, TimePoint now);
// Takes out replicas with an extent in `slot`; their space is free at once, so nobody may hold a lease. A readable
// replica must be left.
void DropReplicasOn(State& state, Object& object, uint32_t slot, TimePoint now);
// Removes replicas with a dead extent from the list, giving their space back.
void ReleaseDeadReplicas(State& state, Tenant& tenant, ExtentList& extents);
// A lease on the version was extended: the rests of its replicas are kept as long. One of them is no more.
void RenewRests(State& state, PutId version, TimePoint until);
void ForgetRest(State& state, PutId version, PutId rest);
void ReleaseAll(State& state, Tenant& tenant, std::span<const ExtentRef> extents);

// Until when an object is soft-pinned after such a request; `old_pin` is until when it was.
TimePoint SoftPinOf(const State& state, SoftPinAction action, std::optional<Duration> ttl,
                    TimePoint old_pin, TimePoint now);
// Pins a version anew; a `soft_until` that has passed is no soft pin. The object joins the queues that go with it.
void Pin(State& state, Object& object, TimePoint soft_until, bool hard, TimePoint now);

// Enters the queue where it belongs, as the warmest; leaves its queue.
void Enqueue(State& state, Object& object, TimePoint now);
void Dequeue(State& state, Object& object);

// `object`'s version and everything that refers to it move to `to`, which has none.
void MoveVersion(State& state, Object* object, Object* to, TimePoint now);

}  // namespace mooncake::core

#include "master/core/versions.h"

#include <algorithm>
#include <utility>

#include "master/core/persist/outcomes.h"
#include "master/core/quota.h"
#include "master/core/replicas.h"
#include "transfer/base/check.h"

namespace mooncake::core {
namespace {

void CountReplicas(State& state, std::span<const ExtentRef> extents, uint64_t sign) {
  ForEachReplica(extents, [&](std::span<const ExtentRef> replica) {
    for (size_t i = 0; i < replica.size(); ++i) {
      const auto same = [&](const ExtentRef& e) { return e.slot == replica[i].slot; };
      if (std::none_of(replica.begin(), replica.begin() + static_cast<std::ptrdiff_t>(i), same)) {
        state.pool.at(replica[i].slot).replicas += sign;
      }
    }
    return true;
  });
}

void SetUnderReplicated(State& state, Object& object) {
  const bool under = object.has_version() && object.size > 0 &&
                     ReadableReplicas(state, object) < object.replicas_wanted;
  state.counters.under_replicated_objects += static_cast<uint64_t>(under) - object.under_replicated;
  object.under_replicated = under;
}

// Puts `extents` into the object; it owns them from now on.
void StoreExtents(State& state, Object& object, std::span<const ExtentRef> extents) {
  for (const ExtentRef& extent : extents) state.pool.SetOwner(extent, &object);
  object.home = extents.empty() ? kNoSlot : extents.front().slot;
  object.block = extents.empty() ? 0 : extents.front().block;
  object.offset = extents.empty() ? 0 : extents.front().offset;
  if (extents.size() > 1) {
    object.MutableExtra().extents =
        std::make_unique<std::vector<ExtentRef>>(extents.begin(), extents.end());
  } else if (object.extra != nullptr) {
    object.extra->extents.reset();
  }
}

void JoinGroup(Object& object, const std::string& name) {
  if (name.empty()) return;
  std::unique_ptr<Group>& group = object.tenant->groups[name];
  if (group == nullptr) {
    group = std::make_unique<Group>();
    group->tenant = object.tenant;
    group->name = name;
  }
  group->members.insert(&object);
  object.MutableExtra().group = group.get();
}

void LeaveGroup(Object& object) {
  Group* group = object.group();
  if (group == nullptr) return;
  group->members.erase(&object);
  object.extra->group = nullptr;
  if (group->members.empty()) object.tenant->groups.erase(std::string(group->name));
}

void SetSoftPin(State& state, Object& object, TimePoint until, TimePoint now) {
  if (until <= now) return;
  object.MutableExtra().soft_pin_until = until;
  state.soft_pins.Insert(object.put_id, until, &object);
}

void ForgetSoftPin(State& state, Object& object) {
  if (object.soft_pin_until() == TimePoint{}) return;
  state.soft_pins.Take(object.put_id);
  object.extra->soft_pin_until = TimePoint{};
}

void Detach(State& state, Tenant& tenant, PutId id, TimePoint until, ExtentList extents,
            uint64_t released_by, PutId part_of = kNoPut) {
  for (const ExtentRef& extent : extents) state.pool.SetOwner(extent, nullptr);
  state.pool.AddNameless(Nameless::kDetached, extents);
  ++tenant.books.nameless;
  state.detached.Insert(id, until,
                        DetachedVersion{&tenant, std::move(extents), released_by, part_of});
}

}  // namespace

TimePoint LeaseEnd(const State& state, const Object& object) {
  TimePoint end{};
  if (object.leased) end = SaturatingAdd(object.touched, state.options.lease_ttl);
  if (const Group* group = object.group()) end = std::max(end, group->lease_until);
  if (object.put_id < FirstPutIdOf(state.term)) end = std::max(end, state.old_leases_end);
  return end;
}

bool IsLeased(const State& state, const Object& object, TimePoint now) {
  return object.has_version() && LeaseEnd(state, object) > now;
}

void Touch(State& state, Object& object, TimePoint now) {
  ++state.counters.leases_granted;
  const bool queued = object.queue != Queue::kNone;
  if (queued) Dequeue(state, object);
  object.touched = now;
  object.leased = true;
  if (Group* group = object.group())
    group->lease_until = SaturatingAdd(now, state.options.lease_ttl);
  if (object.renamed) state.renamed.SetDeadline(object.put_id, LeaseEnd(state, object));
  if (!state.rests.empty()) RenewRests(state, object.put_id, LeaseEnd(state, object));
  if (queued) Enqueue(state, object, now);
}

static uint64_t HashOfKey(const Object& object) {
  return ReuseHash(object.tenant->name, object.key());
}

void CountUse(State& state, Object& object, TimePoint now) {
  // Under the lease of the last use it is the same use: an engine asks whether a key is there, and then for its bytes.
  if (state.reuse == nullptr || (object.leased && LeaseEnd(state, object) > now)) return;
  object.reuse_class = state.reuse->Used(now, HashOfKey(object), object.reuse_class);
}

void Enqueue(State& state, Object& object, TimePoint now) {
  if (object.home == kNoSlot || object.hard_pin) return;
  const bool read = object.leased && SaturatingAdd(object.touched, state.options.lease_ttl) > now;
  // Whoever enters without a lease enters now: the order of the queue is that of `touched`.
  if (!read) {
    object.leased = false;
    object.touched = now;
  }
  const bool soft = object.soft_pin_until() != TimePoint{};
  object.queue = soft ? (read ? Queue::kSoftRead : Queue::kSoftUnread)
                      : (read ? Queue::kRead : Queue::kUnread);
  state.pool.at(object.home).queues[static_cast<size_t>(object.queue)].PushWarmest(&object);
}

void Dequeue(State& state, Object& object) {
  if (object.queue == Queue::kNone) return;
  state.pool.at(object.home).queues[static_cast<size_t>(object.queue)].Remove(&object);
  object.queue = Queue::kNone;
}

void Commit(State& state, Object& object, NewVersion version, TimePoint now) {
  MC_CHECK(!object.has_version() && object.queue == Queue::kNone);
  object.put_id = version.put_id;
  object.size = version.size & ((uint64_t{1} << 56) - 1);  // kMaxObjectBytes is less
  object.touched = now;
  object.leased = false;
  object.created_ms = version.created_ms;
  object.replicas_wanted = version.replicas_wanted;
  object.hard_pin = version.hard_pin;
  StoreExtents(state, object, version.extents);
  CountReplicas(state, version.extents, 1);
  if (version.attributes.has_value()) object.MutableExtra().SetAttributes(*version.attributes);
  JoinGroup(object, version.group);
  SetSoftPin(state, object, version.soft_pin_until, now);
  object.tenant->readable.insert(&object);
  state.counters.hard_pinned_objects += object.hard_pin;
  ++state.counters.objects;
  if (state.reuse != nullptr) object.reuse_class = state.reuse->Written(now, HashOfKey(object));
  SetUnderReplicated(state, object);
  Enqueue(state, object, now);
  LogCommit(state, object);
}

void ReleaseAll(State& state, Tenant& tenant, std::span<const ExtentRef> extents) {
  Uncharge(state, tenant, extents);
  for (const ExtentRef& extent : extents) state.pool.Release(extent);
}

// Everything of the version but its extents.
static void ForgetVersion(State& state, Object& object) {
  Dequeue(state, object);
  ForgetSoftPin(state, object);
  LeaveGroup(object);
  if (object.renamed) state.renamed.Take(object.put_id);
  object.tenant->readable.erase(&object);
  state.counters.hard_pinned_objects -= object.hard_pin;
  state.counters.under_replicated_objects -= object.under_replicated;
  --state.counters.objects;
  object.put_id = kNoPut;
  object.size = 0;
  object.leased = object.hard_pin = object.renamed = object.under_replicated = false;
  object.home = kNoSlot;
  object.extra.reset();
}

void DropVersion(State& state, Object* object, TimePoint now) {
  MC_CHECK(object->has_version());
  ExtentRef scratch;
  const auto span = object->extents(scratch);
  const ExtentList extents(span.begin(), span.end());
  CountReplicas(state, extents, ~uint64_t{0});
  const uint64_t released_by = LogNameGone(state, *object);
  const TimePoint lease_end = LeaseEnd(state, *object);
  // Not readable, but a part of it may lie in a living segment, where somebody reads it.
  if (lease_end > now && (extents.empty() || AnyLive(state, extents))) {
    Detach(state, *object->tenant, object->put_id, lease_end, extents, released_by);
    ForgetVersion(state, *object);
  } else {
    ForgetVersion(state, *object);
    ReleaseAfter(state, *object->tenant, extents, released_by);
  }
  if (object->pending == nullptr) state.table.Erase(object);
}

Object* DropIfLost(State& state, Object* object, TimePoint now) {
  if (object == nullptr || !object->has_version() || IsReadable(state, *object)) return object;
  const bool erased = object->pending == nullptr;
  ++state.counters.lost_objects;
  DropVersion(state, object, now);
  return erased ? nullptr : object;
}

// Takes out the replicas that `go` says, and returns them.
template <typename F>
static ExtentList TakeReplicas(ExtentList& extents, F&& go) {
  ExtentList kept;
  ExtentList gone;
  ForEachReplica(std::span<const ExtentRef>(extents), [&](std::span<const ExtentRef> replica) {
    ExtentList& to = go(replica) ? gone : kept;
    to.insert(to.end(), replica.begin(), replica.end());
    return true;
  });
  extents = std::move(kept);
  return gone;
}

static ExtentList TakeDeadReplicas(const State& state, ExtentList& extents) {
  return TakeReplicas(extents,
                      [&](std::span<const ExtentRef> replica) { return !AllLive(state, replica); });
}

void ReleaseDeadReplicas(State& state, Tenant& tenant, ExtentList& extents) {
  // Their parts on living segments must not be reused before the death of the others is durable.
  ReleaseAfter(state, tenant, TakeDeadReplicas(state, extents), state.journal.last());
}

void RenewRests(State& state, PutId version, TimePoint until) {
  const auto rests = state.rests.find(version);
  if (rests == state.rests.end()) return;
  for (const PutId rest : rests->second) {
    const TimePoint before = state.detached.Find(rest)->deadline;
    state.detached.SetDeadline(rest, std::max(before, until));
  }
}

void ForgetRest(State& state, PutId version, PutId rest) {
  const auto rests = state.rests.find(version);
  MC_CHECK(rests != state.rests.end());
  std::erase(rests->second, rest);
  if (rests->second.empty()) state.rests.erase(rests);
}

// `change` alters the version's extents.
template <typename F>
static void ChangeReplicas(State& state, Object& object, TimePoint now, F&& change) {
  ExtentRef scratch;
  const auto span = object.extents(scratch);
  ExtentList extents(span.begin(), span.end());
  const bool queued = object.queue != Queue::kNone;
  Dequeue(state, object);
  CountReplicas(state, extents, ~uint64_t{0});
  change(extents);
  StoreExtents(state, object, extents);
  CountReplicas(state, extents, 1);
  SetUnderReplicated(state, object);
  if (queued) Enqueue(state, object, now);
}

void DropDeadReplicas(State& state, Object* object, TimePoint now) {
  if (DropIfLost(state, object, now) == nullptr || !object->has_version()) return;
  ExtentList dead;
  ChangeReplicas(state, *object, now,
                 [&](ExtentList& extents) { dead = TakeDeadReplicas(state, extents); });
  if (!IsLeased(state, *object, now) || !AnyLive(state, dead))
    return ReleaseAfter(state, *object->tenant, dead, state.journal.last());
  const PutId rest{FirstPutIdOf(state.term).value | ++state.put_count};
  state.rests[object->put_id].push_back(rest);
  Detach(state, *object->tenant, rest, LeaseEnd(state, *object), std::move(dead),
         state.journal.last(), object->put_id);
}

void DropReplicasOn(State& state, Object& object, uint32_t slot, TimePoint now) {
  ExtentList gone;
  ChangeReplicas(state, object, now, [&](ExtentList& extents) {
    gone = TakeReplicas(extents, [&](std::span<const ExtentRef> replica) {
      return TouchesSlot(replica, slot) || !AllLive(state, replica);
    });
  });
  ReleaseAfter(state, *object.tenant, gone, LogChange(state, object));
}

TimePoint SoftPinOf(const State& state, SoftPinAction action, std::optional<Duration> ttl,
                    TimePoint old_pin, TimePoint now) {
  switch (action) {
    case SoftPinAction::kPreserve:
      return old_pin;
    case SoftPinAction::kEnable:
      return SaturatingAdd(now, ttl.value_or(state.options.soft_pin_ttl));
    case SoftPinAction::kDisable:
      break;
  }
  return TimePoint{};
}

void Pin(State& state, Object& object, TimePoint soft_until, bool hard, TimePoint now) {
  MC_CHECK(object.has_version());
  Dequeue(state, object);
  ForgetSoftPin(state, object);
  SetSoftPin(state, object, soft_until, now);
  state.counters.hard_pinned_objects += hard;
  state.counters.hard_pinned_objects -= object.hard_pin;
  object.hard_pin = hard;
  // With a write in progress it is in no queue.
  if (object.pending == nullptr) Enqueue(state, object, now);
}

void MoveVersion(State& state, Object* object, Object* to, TimePoint now) {
  MC_CHECK(object->has_version() && !to->has_version() && object->tenant == to->tenant);
  const PutId id = object->put_id;
  const bool leased = IsLeased(state, *object, now);
  const bool queued = object->queue != Queue::kNone;
  object->tenant->readable.erase(object);
  Group* group = object->group();
  if (group != nullptr) group->members.erase(object);
  if (queued) {
    state.pool.at(object->home).queues[static_cast<size_t>(object->queue)].Replace(object, to);
  }
  to->queue = object->queue;
  object->queue = Queue::kNone;
  to->leased = object->leased;
  to->hard_pin = object->hard_pin;
  to->renamed = object->renamed;
  to->under_replicated = object->under_replicated;
  object->leased = object->hard_pin = object->renamed = object->under_replicated = false;
  to->replicas_wanted = object->replicas_wanted;
  to->put_id = std::exchange(object->put_id, kNoPut);
  to->size = object->size;
  object->size = 0;
  to->reuse_class = object->reuse_class;
  to->touched = object->touched;
  to->created_ms = object->created_ms;
  to->home = std::exchange(object->home, kNoSlot);
  to->block = object->block;
  to->offset = object->offset;
  to->extra = std::move(object->extra);
  ExtentRef scratch;
  for (const ExtentRef& extent : to->extents(scratch)) state.pool.SetOwner(extent, to);
  if (group != nullptr) group->members.insert(to);
  to->tenant->readable.insert(to);
  if (auto* pin = state.soft_pins.Find(id)) pin->value = to;
  if (to->renamed) {
    state.renamed.Find(id)->value = to;
  } else if (leased) {
    to->renamed = true;
    state.renamed.Insert(id, LeaseEnd(state, *to), to);
  }
  LogMove(state, object->key(), *to);
}

}  // namespace mooncake::core

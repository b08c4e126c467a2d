// Reads of one object, its attributes and pins.
#include <algorithm>

#include "master/core/checks.h"
#include "master/core/ops/ops.h"
#include "master/core/persist/outcomes.h"
#include "master/core/prefix_rename.h"
#include "master/core/replicas.h"
#include "master/core/versions.h"

namespace mooncake::core {
namespace {

Status NotFound(std::string_view key) {
  return {ErrorCode::kObjectNotFound, "key " + Quote(key) + " has no readable version"};
}

Object* FindReadable(State& state, TimePoint now, const ObjectName& name) {
  Object* object = Lookup(state, now, name);
  return object != nullptr && IsReadable(state, *object) ? object : nullptr;
}

uint64_t HashOf(const ObjectName& name) { return ReuseHash(TenantOf(name.tenant), name.key); }

void CountMiss(State& state, const ObjectName& name) {
  if (state.reuse != nullptr) state.reuse->Missed(HashOf(name));
}

}  // namespace

ReplicaList LeaseAndDescribe(State& state, TimePoint now, Object& object) {
  CountUse(state, object, now);
  Touch(state, object, now);
  ReplicaList list;
  list.put_id = object.put_id;
  list.size = object.size;
  ExtentRef scratch;
  list.replicas = Describe(state, object.extents(scratch), ReplicaStatus::kComplete);
  list.lease = LeaseEnd(state, object) - now;
  list.attributes = object.attributes();
  list.created_ms = object.created_ms;
  return list;
}

Result<ReplicaList> GetReplicaList(State& state, TimePoint now, const ObjectName& name) {
  RETURN_IF_ERROR(CheckName(name));
  Object* object = Lookup(state, now, name);
  if (object != nullptr && IsReadable(state, *object)) {
    if (IsAttached(state, *object)) return LeaseAndDescribe(state, now, *object);
    return {ErrorCode::kUnavailableInCurrentStatus,
            "key " + Quote(name.key) +
                " is known from before the master's restart; its nodes have not mounted again yet"};
  }
  CountMiss(state, name);
  if (object == nullptr) return NotFound(name.key);
  if (object->pending == nullptr) return NotFound(name.key);
  return {ErrorCode::kReplicaIsNotReady, "key " + Quote(name.key) + " is being written, put " +
                                             std::to_string(object->pending->put_id.value)};
}

Result<Duration> RenewLease(State& state, TimePoint now, const LeaseRef& lease) {
  RETURN_IF_ERROR(CheckName(lease.name));
  const Duration ttl = state.options.lease_ttl;
  Object* object = FindReadable(state, now, lease.name);
  if (object != nullptr && object->put_id == lease.put_id) {
    Touch(state, *object, now);
    return ttl;
  }
  const auto* version = state.detached.Find(lease.put_id);
  if (version != nullptr && version->deadline > now &&
      (version->value.extents.empty() || AnyReplicaLives(state, version->value.extents))) {
    state.detached.SetDeadline(lease.put_id, std::max(version->deadline, SaturatingAdd(now, ttl)));
    RenewRests(state, lease.put_id, SaturatingAdd(now, ttl));
    return ttl;
  }
  if (auto* renamed = state.renamed.Find(lease.put_id);
      renamed != nullptr && IsReadable(state, *renamed->value)) {
    Touch(state, *renamed->value, now);
    return ttl;
  }
  return {ErrorCode::kObjectNotFound, "version " + std::to_string(lease.put_id.value) + " of key " +
                                          Quote(lease.name.key) + " is gone"};
}

Result<bool> ExistKey(State& state, TimePoint now, const ObjectName& name, bool grant_lease) {
  RETURN_IF_ERROR(CheckName(name));
  Object* object = FindReadable(state, now, name);
  if (object == nullptr) {
    if (grant_lease) CountMiss(state, name);
    return false;
  }
  if (grant_lease) {
    CountUse(state, *object, now);
    Touch(state, *object, now);
  }
  return true;
}

ObjectStat StatOf(const State& state, TimePoint now, const Object& object) {
  ObjectStat stat;
  stat.put_id = object.put_id;
  stat.size = object.size;
  stat.replica_count = ReadableReplicas(state, object);
  stat.lease_left = std::max(LeaseEnd(state, object) - now, Duration::zero());
  if (object.soft_pin_until() != TimePoint{}) {
    stat.soft_pin_left = std::max(object.soft_pin_until() - now, Duration::zero());
  }
  stat.hard_pin = object.hard_pin;
  if (const Group* group = object.group()) stat.group = group->name;
  stat.attributes = object.attributes();
  stat.created_ms = object.created_ms;
  return stat;
}

Result<ObjectStat> Stat(State& state, TimePoint now, const ObjectName& name) {
  RETURN_IF_ERROR(CheckName(name));
  const Object* object = FindReadable(state, now, name);
  if (object == nullptr) return NotFound(name.key);
  return StatOf(state, now, *object);
}

uint8_t PlaceInChain(const State& state, size_t count,
                     absl::FunctionRef<const ObjectName&(size_t)> name_at) {
  // By halves: where exactly a chain breaks off matters little.
  size_t known = 0;
  size_t last = 0;
  for (size_t end = count; known < end;) {
    const size_t middle = known + (end - known) / 2;
    if (const auto uses = state.reuse->UsesOf(HashOf(name_at(middle)))) {
      known = middle + 1;
      last = *uses;
    } else {
      end = middle;
    }
  }
  if (known == 0) return ReuseClass::PlaceOf(count, std::nullopt);
  const size_t middle = state.reuse->UsesOf(HashOf(name_at(known / 2))).value_or(0);
  return ReuseClass::PlaceOf(count - known, ReuseClass::Beginning{.middle = middle, .last = last});
}

Status SetAttributes(State& state, TimePoint now, const ObjectName& name, PutId version,
                     const ObjectAttributes& attributes) {
  RETURN_IF_ERROR(CheckName(name));
  RETURN_IF_ERROR(CheckAttributes(attributes));
  Object* object = FindReadable(state, now, name);
  if (object == nullptr) return NotFound(name.key);
  if (version != kNoPut && version != object->put_id) {
    return {ErrorCode::kInvalidVersion, "key " + Quote(name.key) + " has version " +
                                            std::to_string(object->put_id.value) + ", not " +
                                            std::to_string(version.value)};
  }
  object->MutableExtra().SetAttributes(attributes);
  LogChange(state, *object);
  return Status::Ok();
}

Status SetPin(State& state, TimePoint now, const SetPinArgs& args) {
  RETURN_IF_ERROR(CheckSetPin(args, state.options.soft_pin_max_ttl));
  Object* object = FindReadable(state, now, args.name);
  if (object == nullptr) return NotFound(args.name.key);
  const bool was_hard = object->hard_pin;
  const bool hard = args.hard.value_or(was_hard);
  Pin(state, *object, SoftPinOf(state, args.soft, args.soft_ttl, object->soft_pin_until(), now),
      hard, now);
  // Soft pins are not kept over a restart.
  if (hard != was_hard) LogChange(state, *object);
  return Status::Ok();
}

}  // namespace mooncake::core

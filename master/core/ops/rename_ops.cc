// A new name for what is there; no data moves, version and leases stay. Prefixes: prefix_rename.h.
#include "master/core/checks.h"
#include "master/core/ops/ops.h"
#include "master/core/prefix_rename.h"
#include "master/core/replicas.h"
#include "master/core/versions.h"

namespace mooncake::core {
namespace {

Status Busy(std::string_view key) {
  return {ErrorCode::kObjectReplicaBusy, "key " + Quote(key) + " has a write in progress"};
}

}  // namespace

Status Rename(State& state, TimePoint now, const ObjectName& from, const ObjectName& to,
              bool no_replace) {
  RETURN_IF_ERROR(CheckName(from));
  RETURN_IF_ERROR(CheckName(to));
  const std::string_view tenant = TenantOf(from.tenant);
  if (tenant != TenantOf(to.tenant)) {
    return {ErrorCode::kInvalidParams, "an object cannot move from tenant " + Quote(tenant) +
                                           " to tenant " + Quote(TenantOf(to.tenant))};
  }
  Object* object = Lookup(state, now, from);
  if (object == nullptr || !IsReadable(state, *object)) {
    return {ErrorCode::kObjectNotFound, "key " + Quote(from.key) + " has no readable version"};
  }
  if (from.key == to.key) return Status::Ok();
  if (object->pending != nullptr) return Busy(from.key);
  Object* target = DropIfLost(state, LookupToCreate(state, now, to), now);
  if (target != nullptr) {
    if (target->has_version() && no_replace) {
      return {ErrorCode::kObjectAlreadyExists, "key " + Quote(to.key) + " has a readable version"};
    }
    if (target->pending != nullptr) return Busy(to.key);
    ++state.counters.replaced_objects;
    DropVersion(state, target, now);
  }
  MoveObject(state, object, to.key, now);
  return Status::Ok();
}

}  // namespace mooncake::core

// New names for what is there; no data moves, versions and leases stay.
#include <vector>

#include "master/core/checks.h"
#include "master/core/ops/ops.h"
#include "master/core/versions.h"

namespace mooncake::core {
namespace {

Status Busy(std::string_view key) {
  return {ErrorCode::kObjectReplicaBusy, "key " + Quote(key) + " has a write in progress"};
}

// `object` must be readable, `to` must have neither version nor write.
void Move(State& state, Object* object, std::string_view to, TimePoint now) {
  Object* target = state.table.Insert(object->tenant->name, to);
  MoveVersion(state, object, target, now);
  state.table.Erase(object);
}

// The first key with this prefix in the index; null when there is none.
const Object* FirstWithPrefix(const KeyIndex& index, std::string_view prefix) {
  const auto it = index.lower_bound(prefix);
  if (it == index.end() || (*it)->key().substr(0, prefix.size()) != prefix) return nullptr;
  return *it;
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
  Object* object = state.table.Find(tenant, from.key);
  if (object == nullptr || !IsReadable(state, *object)) {
    return {ErrorCode::kObjectNotFound, "key " + Quote(from.key) + " has no readable version"};
  }
  if (from.key == to.key) return Status::Ok();
  if (object->pending != nullptr) return Busy(from.key);
  Object* target = DropIfLost(state, state.table.Find(tenant, to.key), now);
  if (target != nullptr) {
    if (target->has_version() && no_replace) {
      return {ErrorCode::kObjectAlreadyExists, "key " + Quote(to.key) + " has a readable version"};
    }
    if (target->pending != nullptr) return Busy(to.key);
    ++state.counters.replaced_objects;
    DropVersion(state, target, now);
  }
  Move(state, object, to.key, now);
  return Status::Ok();
}

Result<RenamePrefixWalk> StartRenamePrefix(State& state, TimePoint now,
                                           const std::string& tenant_name, const std::string& from,
                                           const std::string& to) {
  RETURN_IF_ERROR(CheckTenant(tenant_name));
  if (from.empty() || to.empty()) return {ErrorCode::kInvalidParams, "a prefix is empty"};
  RenamePrefixWalk walk;
  walk.done = true;
  const Tenant* tenant = state.table.FindTenant(TenantOf(tenant_name));
  if (tenant == nullptr) return walk;
  if (from != to && (from.substr(0, to.size()) == to || to.substr(0, from.size()) == from)) {
    return {ErrorCode::kInvalidParams,
            "one of the prefixes " + Quote(from) + " and " + Quote(to) + " begins with the other"};
  }
  for (const std::string& prefix : {from, to}) {
    if (const Object* writing = FirstWithPrefix(tenant->writing, prefix))
      return Busy(writing->key());
  }
  std::vector<Object*> objects;
  for (auto it = tenant->readable.lower_bound(std::string_view(from)); it != tenant->readable.end();
       ++it) {
    if ((*it)->key().substr(0, from.size()) != from) break;
    if (IsReadable(state, **it)) objects.push_back(*it);
  }
  walk.moved = objects.size();
  if (from == to) return walk;
  const bool any_target = FirstWithPrefix(tenant->readable, to) != nullptr;
  for (const Object* object : objects) {
    const std::string target = to + std::string(object->key().substr(from.size()));
    if (target.size() > kMaxKeyBytes) {
      return {ErrorCode::kInvalidKey, "the new name " + Quote(target) + " has " +
                                          std::to_string(target.size()) + " bytes, at most " +
                                          std::to_string(kMaxKeyBytes) + " are allowed"};
    }
    const Object* there = any_target ? state.table.Find(*tenant, target) : nullptr;
    if (there != nullptr && IsReadable(state, *there)) {
      return {ErrorCode::kObjectAlreadyExists, "key " + Quote(target) + " has a readable version"};
    }
  }
  for (Object* object : objects) {
    const std::string target = to + std::string(object->key().substr(from.size()));
    if (any_target) DropIfLost(state, state.table.Find(*tenant, target), now);
    Move(state, object, target, now);
  }
  return walk;
}

}  // namespace mooncake::core

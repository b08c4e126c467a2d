// Removal, and the walks over keys.
#include <vector>

#include "master/core/checks.h"
#include "master/core/ops/ops.h"
#include "master/core/prefix_rename.h"
#include "master/core/versions.h"

namespace mooncake::core {
namespace {

// Takes the readable version's name away. A write in progress goes on, unless it was to replace just this version.
void RemoveVersion(State& state, Object* object, TimePoint now) {
  ++state.counters.removed_objects;
  if (object->pending != nullptr && object->pending->expected == object->put_id)
    object->pending->base_removed = true;
  DropVersion(state, object, now);
}

const Tenant* TenantAt(const State& state, const WalkPosition& position) {
  const TenantMap& tenants = state.table.tenants();
  if (!position.all_tenants) return state.table.FindTenant(position.tenant);
  const auto it = tenants.lower_bound(position.tenant);
  return it == tenants.end() ? nullptr : it->second.get();
}

// Up to `max_keys` readable objects from the position on, all of one tenant. Moves the position behind them.
std::vector<Object*> NextObjects(const State& state, WalkPosition& position, uint32_t max_keys) {
  std::vector<Object*> objects;
  const Tenant* tenant = TenantAt(state, position);
  if (tenant == nullptr) {
    position.done = true;
    return objects;
  }
  if (tenant->name != position.tenant) {
    position.tenant = tenant->name;
    position.started = false;
  }
  const KeyIndex& index = tenant->readable;
  auto it = position.started ? index.upper_bound(std::string_view(position.after)) : index.begin();
  for (; it != index.end() && objects.size() < max_keys; ++it) objects.push_back(*it);
  if (it != index.end()) {
    position.after = std::string(objects.back()->key());
    position.started = true;
  } else if (position.all_tenants) {
    position.tenant += '\0';  // the next name there can be
    position.started = false;
  } else {
    position.done = true;
  }
  return objects;
}

// Calls visit(object) for about `max_keys` objects; it may remove the object, and answers whether to go on.
template <typename F>
void Visit(State& state, TimePoint now, WalkPosition& position, uint32_t max_keys, F&& visit) {
  uint32_t left = max_keys == 0 ? 1 : max_keys;
  if (!FinishRenames(state, now, position.all_tenants ? nullptr : &position.tenant, left)) return;
  while (left > 0 && !position.done) {
    const std::vector<Object*> objects = NextObjects(state, position, left);
    left -= std::max<uint32_t>(static_cast<uint32_t>(objects.size()), 1);
    for (Object* object : objects) {
      if (!IsReadable(state, *object) || visit(object)) continue;
      position.done = true;
      return;
    }
  }
}

}  // namespace

Status Remove(State& state, TimePoint now, const ObjectName& name, bool force) {
  RETURN_IF_ERROR(CheckName(name));
  Object* object = Lookup(state, now, name);
  if (object == nullptr || !IsReadable(state, *object)) {
    if (object != nullptr && object->pending != nullptr) {
      return {ErrorCode::kReplicaIsNotReady,
              "key " + Quote(name.key) + " has no version yet, only a write in progress"};
    }
    return {ErrorCode::kObjectNotFound, "key " + Quote(name.key) + " has no readable version"};
  }
  if (!force && IsLeased(state, *object, now)) {
    return {ErrorCode::kObjectHasLease,
            "key " + Quote(name.key) + " is leased for another " +
                std::to_string(ToMillis(LeaseEnd(state, *object) - now)) + " ms"};
  }
  RemoveVersion(state, object, now);
  return Status::Ok();
}

void StepWalk(State& state, TimePoint now, RemoveByRegexWalk& walk, uint32_t max_keys) {
  RemoveByRegexReply& reply = walk.reply;
  Visit(state, now, walk.position, max_keys, [&](Object* object) {
    if (!Matches(walk.pattern, object->key())) return true;
    ++reply.matched;
    if (reply.sample.size() < walk.args.sample_limit) {
      reply.sample.push_back({std::string(object->key()), object->size});
    }
    if (walk.args.dry_run) return true;
    if (!walk.args.force && IsLeased(state, *object, now)) {
      ++reply.skipped;
    } else {
      RemoveVersion(state, object, now);
      ++reply.removed;
    }
    return true;
  });
}

void StepWalk(State& state, TimePoint now, RemoveAllWalk& walk, uint32_t max_keys) {
  Visit(state, now, walk.position, max_keys, [&](Object* object) {
    if (walk.force || !IsLeased(state, *object, now)) {
      RemoveVersion(state, object, now);
      ++walk.removed;
    }
    return true;
  });
}

void StepWalk(State& state, TimePoint now, ReplicaListByRegexWalk& walk, uint32_t max_keys) {
  Visit(state, now, walk.position, max_keys, [&](Object* object) {
    if (Matches(walk.pattern, object->key())) {
      walk.found.emplace_back(std::string(object->key()), LeaseAndDescribe(state, now, *object));
    }
    return walk.found.size() < walk.limit;
  });
}

}  // namespace mooncake::core

// Removal, and the walks over keys.
#include <algorithm>
#include <vector>

#include <re2/re2.h>

#include "master/core/checks.h"
#include "master/core/ops/ops.h"
#include "master/core/persist/outcomes.h"
#include "master/core/prefix_rename.h"
#include "master/core/replicas.h"
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

// How much one step may visit: keys, and their bytes together (one key at least).
struct StepLimit {
  uint32_t keys = 0;
  uint64_t bytes = UINT64_MAX;
};

// RE2 takes time in proportion to pattern times key at worst (F108); about 5 ms of it a step.
constexpr uint64_t kMatchWorkPerStep = 1'000'000;

StepLimit LimitFor(const Pattern& pattern, uint32_t max_keys) {
  const auto instructions = static_cast<uint64_t>(std::max(pattern->ProgramSize(), 1));
  return {max_keys, kMatchWorkPerStep / instructions};
}

// Readable objects from the position on, within the limit and all of one tenant. Moves the position behind them.
std::vector<Object*> NextObjects(const State& state, WalkPosition& position, StepLimit& limit) {
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
  for (; it != index.end() && limit.keys > 0; ++it) {
    const uint64_t bytes = (*it)->key().size();
    objects.push_back(*it);
    limit.bytes -= std::min(limit.bytes, bytes);
    limit.keys = limit.bytes == 0 ? 0 : limit.keys - 1;
  }
  if (objects.empty() && limit.keys > 0) --limit.keys;  // an empty tenant counts as a key
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

// Calls visit(object) for objects within the limit; it may remove the object, and answers whether to go on.
template <typename F>
void Visit(State& state, TimePoint now, WalkPosition& position, StepLimit limit, F&& visit) {
  if (limit.keys == 0) limit.keys = 1;
  const std::string* tenant = position.all_tenants ? nullptr : &position.tenant;
  if (!FinishRenames(state, now, tenant, limit.keys)) return;
  while (limit.keys > 0 && !position.done) {
    const std::vector<Object*> objects = NextObjects(state, position, limit);
    for (Object* object : objects) {
      if (!IsReadable(state, *object) || visit(object)) continue;
      position.done = true;
      return;
    }
  }
}

// The object, if its readable version may be taken away.
Result<Object*> FindRemovable(State& state, TimePoint now, const ObjectName& name, bool force) {
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
  return object;
}

}  // namespace

Status Remove(State& state, TimePoint now, const ObjectName& name, bool force) {
  ASSIGN_OR_RETURN(Object * object, FindRemovable(state, now, name, force));
  RemoveVersion(state, object, now);
  return Status::Ok();
}

Status ClearReplicas(State& state, TimePoint now, const ObjectName& name,
                     const std::string& segment) {
  if (segment.empty()) return Remove(state, now, name, /*force=*/false);
  const uint32_t slot = state.pool.FindByName(segment);
  if (slot == kNoSlot) {
    return {ErrorCode::kSegmentNotFound, "segment " + Quote(segment) + " is not mounted"};
  }
  ASSIGN_OR_RETURN(Object * object, FindRemovable(state, now, name, /*force=*/false));
  const uint32_t before = ReadableReplicas(state, *object);
  const uint32_t there = ReadableReplicasOn(state, *object, slot);
  if (there == 0) {
    return {ErrorCode::kReplicaNotFound,
            "key " + Quote(name.key) + " has no replica on segment " + Quote(segment)};
  }
  if (there == before) {
    RemoveVersion(state, object, now);
  } else {
    DropReplicasOn(state, *object, slot, now);
  }
  return Status::Ok();
}

void StepWalk(State& state, TimePoint now, RemoveByRegexWalk& walk, uint32_t max_keys) {
  RemoveByRegexReply& reply = walk.reply;
  Visit(state, now, walk.position, LimitFor(walk.pattern, max_keys), [&](Object* object) {
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
  Visit(state, now, walk.position, {.keys = max_keys}, [&](Object* object) {
    if (walk.force || !IsLeased(state, *object, now)) {
      RemoveVersion(state, object, now);
      ++walk.removed;
    }
    return true;
  });
}

void StepWalk(State& state, TimePoint now, ReplicaListByRegexWalk& walk, uint32_t max_keys) {
  Visit(state, now, walk.position, LimitFor(walk.pattern, max_keys), [&](Object* object) {
    if (Matches(walk.pattern, object->key()) && IsAttached(state, *object)) {
      walk.found.emplace_back(std::string(object->key()), LeaseAndDescribe(state, now, *object));
    }
    return walk.found.size() < walk.limit;
  });
}

SnapshotWalk StartSnapshot(const State& state) {
  SnapshotWalk walk;
  walk.from = state.journal.last();
  walk.position.all_tenants = true;
  walk.position.tenant.clear();
  for (const auto& [name, slot] : state.pool.by_name())
    walk.records.push_back(SegmentRecord{state.pool.at(slot).descriptor});
  return walk;
}

void StepWalk(State& state, TimePoint now, SnapshotWalk& walk, uint32_t max_keys) {
  Visit(state, now, walk.position, {.keys = max_keys}, [&](const Object* object) {
    walk.records.push_back(DescribeVersion(state, *object));
    return true;
  });
  walk.until = state.journal.last();
}

}  // namespace mooncake::core

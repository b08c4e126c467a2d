#include "master/core/replicas.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mooncake::core {

bool AllLive(const State& state, std::span<const ExtentRef> extents) {
  return std::all_of(extents.begin(), extents.end(),
                     [&](const ExtentRef& e) { return state.pool.live(e.slot); });
}

bool AnyLive(const State& state, std::span<const ExtentRef> extents) {
  return std::any_of(extents.begin(), extents.end(),
                     [&](const ExtentRef& e) { return state.pool.live(e.slot); });
}

bool TouchesSlot(std::span<const ExtentRef> extents, uint32_t slot) {
  return std::any_of(extents.begin(), extents.end(),
                     [&](const ExtentRef& e) { return e.slot == slot; });
}

bool AllAttached(const State& state, std::span<const ExtentRef> extents) {
  return std::all_of(extents.begin(), extents.end(), [&](const ExtentRef& e) {
    return state.pool.live(e.slot) && state.pool.at(e.slot).attached;
  });
}

bool IsReadable(const State& state, const Object& object) {
  if (!object.has_version()) return false;
  if (object.home == kNoSlot) return true;
  if (object.extra == nullptr || object.extra->extents == nullptr) {
    return state.pool.live(object.home);
  }
  return AnyReplicaLives(state, *object.extra->extents);
}

bool AnyReplicaLives(const State& state, std::span<const ExtentRef> extents) {
  bool any = false;
  ForEachReplica(extents, [&](std::span<const ExtentRef> replica) {
    any = AllLive(state, replica);
    return !any;
  });
  return any;
}

uint32_t ReadableReplicasOn(const State& state, const Object& object, uint32_t slot) {
  ExtentRef scratch;
  uint32_t count = 0;
  ForEachReplica(object.extents(scratch), [&](std::span<const ExtentRef> replica) {
    count += TouchesSlot(replica, slot) && AllLive(state, replica) ? 1 : 0;
    return true;
  });
  return count;
}

bool IsAttached(const State& state, const Object& object) {
  if (object.home == kNoSlot) return true;
  ExtentRef scratch;
  bool any = false;
  ForEachReplica(object.extents(scratch), [&](std::span<const ExtentRef> replica) {
    any = AllAttached(state, replica);
    return !any;
  });
  return any;
}

uint32_t ReadableReplicas(const State& state, const Object& object) {
  if (object.home == kNoSlot) return 1;
  ExtentRef scratch;
  uint32_t count = 0;
  ForEachReplica(object.extents(scratch), [&](std::span<const ExtentRef> replica) {
    count += AllLive(state, replica) ? 1 : 0;
    return true;
  });
  return count;
}

std::vector<ReplicaDescriptor> Describe(const State& state, std::span<const ExtentRef> extents,
                                        ReplicaStatus status) {
  std::vector<ReplicaDescriptor> replicas;
  std::vector<ReplicaDescriptor> doubtful;
  ForEachReplica(extents, [&](std::span<const ExtentRef> replica) {
    if (!AllAttached(state, replica)) return true;
    const bool last = std::any_of(replica.begin(), replica.end(), [&](const ExtentRef& e) {
      return state.pool.at(e.slot).quarantined;
    });
    ReplicaDescriptor& descriptor = (last ? doubtful : replicas).emplace_back();
    descriptor.status = status;
    descriptor.extents.reserve(replica.size());
    for (const ExtentRef& e : replica) {
      const SegmentDescriptor& segment = state.pool.at(e.slot).descriptor;
      descriptor.extents.push_back({segment.id, segment.epoch, e.offset, e.length});
    }
    return true;
  });
  std::move(doubtful.begin(), doubtful.end(), std::back_inserter(replicas));
  return replicas;
}

}  // namespace mooncake::core

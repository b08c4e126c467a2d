// Questions about the replicas of a version. Its extents stand in a list, those of one replica together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "master/core/state.h"

namespace mooncake::core {

// Calls visit(extents of one replica) for each; stops when it answers false.
template <typename F>
void ForEachReplica(std::span<const ExtentRef> extents, F&& visit) {
  for (size_t begin = 0, end = 0; begin < extents.size(); begin = end) {
    while (end < extents.size() && extents[end].replica == extents[begin].replica) ++end;
    if (!visit(extents.subspan(begin, end - begin))) return;
  }
}

// Of the extents of one replica: are their segments all there; some of them; all mounted by their nodes?
bool AllLive(const State& state, std::span<const ExtentRef> extents);
bool AnyLive(const State& state, std::span<const ExtentRef> extents);
bool AllAttached(const State& state, std::span<const ExtentRef> extents);
bool TouchesSlot(std::span<const ExtentRef> extents, uint32_t slot);

// Is there a version, and a replica of it whose segments are all alive? Empty objects always are.
bool IsReadable(const State& state, const Object& object);
// Can a replica of it be read now? Not while it was restored and its nodes have not come back.
bool IsAttached(const State& state, const Object& object);
bool AnyReplicaLives(const State& state, std::span<const ExtentRef> extents);
// Complete replicas on living segments; for an empty object, 1.
uint32_t ReadableReplicas(const State& state, const Object& object);
// Those of them with an extent in `slot`.
uint32_t ReadableReplicasOn(const State& state, const Object& object, uint32_t slot);
std::vector<ReplicaDescriptor> Describe(const State& state, std::span<const ExtentRef> extents,
                                        ReplicaStatus status);

}  // namespace mooncake::core

#include "master/core/background.h"

#include <algorithm>

#include "master/core/eviction/evictor.h"
#include "master/core/ops/ops.h"
#include "master/core/persist/outcomes.h"
#include "master/core/prefix_rename.h"
#include "master/core/versions.h"
#include "master/core/writes.h"

namespace mooncake::core {
namespace {

void ExpireDetached(State& state, TimePoint now, uint32_t& budget) {
  for (; budget > 0; --budget) {
    const auto id = state.detached.Due(now);
    if (!id.has_value()) return;
    const auto version = state.detached.Take(*id);
    state.pool.SubtractNameless(Nameless::kDetached, version->extents);
    if (version->part_of != kNoPut) ForgetRest(state, version->part_of, *id);
    ReleaseAfter(state, *version->tenant, version->extents, version->released_by);
    --version->tenant->books.nameless;
    state.table.ForgetIfUnused(version->tenant);
  }
}

void ExpireSoftPins(State& state, TimePoint now, uint32_t& budget) {
  for (; budget > 0; --budget) {
    const auto id = state.soft_pins.Due(now);
    if (!id.has_value()) return;
    Object& object = *state.soft_pins.Find(*id)->value;
    Pin(state, object, TimePoint{}, object.hard_pin, now);
  }
}

// A version renamed while leased needs its old name no longer; unless the lease was extended meanwhile.
void ExpireRenamed(State& state, TimePoint now, uint32_t& budget) {
  for (; budget > 0; --budget) {
    const auto id = state.renamed.Due(now);
    if (!id.has_value()) return;
    Object* object = state.renamed.Find(*id)->value;
    const TimePoint lease_end = LeaseEnd(state, *object);
    if (lease_end > now) {
      state.renamed.SetDeadline(*id, lease_end);
      continue;
    }
    object->renamed = false;
    state.renamed.Take(*id);
  }
}

}  // namespace

void ExpireClients(State& state, TimePoint now, uint32_t& budget) {
  while (budget > 0) {
    const auto id = state.clients.Due(now);
    if (!id.has_value()) return;
    --budget;
    ++state.counters.expired_clients;
    RemoveClient(state, *id);
  }
}

void SweepDeadSegments(State& state, TimePoint now, uint32_t& budget) {
  while (budget > 0 && !state.pool.unswept().empty()) {
    const uint32_t slot = state.pool.unswept().front();
    Segment& segment = state.pool.at(slot);
    // Handles are cheap to look at, objects are not: 16 of the ones count as one of the others.
    uint32_t looked = 0;
    while (segment.sweep_next < segment.allocator->HandleCount() && budget > 0) {
      const uint32_t handle = segment.sweep_next++;
      if (++looked % 16 == 0) --budget;
      if (!segment.allocator->IsLive(handle)) continue;
      Object* owner = state.pool.Owner(slot, handle);
      if (owner == nullptr) continue;
      if (budget > 0) --budget;
      DropDeadReplicas(state, owner, now);
    }
    segment.allocator->DropNodesBelow(segment.sweep_next);
    if (segment.sweep_next < segment.allocator->HandleCount()) return;
    state.pool.FinishSweep(slot);
  }
}

TickResult Tick(State& state, TimePoint now, uint32_t budget) {
  TickResult result;
  uint32_t left = std::max<uint32_t>(budget, 1);
  ExpireClients(state, now, left);
  UnmountLeaving(state, now, left);
  EndQuarantines(state, now, left);
  ExpireWrites(state, now, left);
  ExpireDiscarded(state, now, left);
  ExpireDetached(state, now, left);
  ExpireSoftPins(state, now, left);
  ExpireRenamed(state, now, left);
  SweepDeadSegments(state, now, left);
  if (state.reuse != nullptr) state.reuse->LearnIfDue(state.counters.objects);
  const bool renamed = FinishRenames(state, now, nullptr, left);
  const bool evict_more = left > 0 && EvictAboveWatermarks(state, now, left);
  result.more = left == 0 || evict_more || !renamed || !state.pool.unswept().empty();
  result.next = std::min({state.clients.NextDeadline(), state.leaving.NextDeadline(),
                          state.quarantined.NextDeadline(), state.writes.NextDeadline(),
                          state.discarded.NextDeadline(), state.detached.NextDeadline(),
                          state.soft_pins.NextDeadline(), state.renamed.NextDeadline()});
  return result;
}

}  // namespace mooncake::core

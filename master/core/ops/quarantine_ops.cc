// Segments with which clients have trouble: they take nothing new for a while. Only a hint decides this, so nothing
// is lost by it: what is there stays, and the last segment that takes anything goes on.
#include <algorithm>

#include "master/core/checks.h"
#include "master/core/ops/ops.h"

namespace mooncake::core {
namespace {

using Failures = std::vector<std::pair<ClientId, TimePoint>>;

// Each client counts once, for as long as its last report is in the window.
void Note(Failures& failures, const ClientId& client, TimePoint now, const CoreOptions& options) {
  std::erase_if(failures, [&](const auto& report) {
    return report.first == client || SaturatingAdd(report.second, options.failure_window) <= now;
  });
  if (failures.size() >= options.failure_threshold) failures.erase(failures.begin());
  failures.emplace_back(client, now);
}

}  // namespace

Status ReportReplicaFailure(State& state, TimePoint now, const ClientId& client,
                            std::span<const SegmentId> segments) {
  RETURN_IF_ERROR(CheckBatch("segment ids", segments.size()));
  if (state.clients.Find(client) == nullptr) {
    return {ErrorCode::kClientNotFound, "client " + client.ToString() + " has not pinged"};
  }
  const CoreOptions& options = state.options;
  if (options.failure_threshold == 0) return Status::Ok();
  for (const SegmentId& id : segments) {
    const uint32_t slot = state.pool.FindById(id);
    if (slot == kNoSlot || state.pool.at(slot).quarantined) continue;
    Segment& segment = state.pool.at(slot);
    Note(segment.failures, client, now, options);
    if (segment.failures.size() < options.failure_threshold) continue;
    if (segment.takes_new() && state.pool.allocatable().size() == 1) continue;
    segment.failures.clear();
    state.pool.SetQuarantined(slot, true);
    state.quarantined.Insert(id, SaturatingAdd(now, options.quarantine), slot);
    ++state.counters.quarantines;
  }
  return Status::Ok();
}

void ForgetFailures(State& state, uint32_t slot) {
  Segment& segment = state.pool.at(slot);
  segment.failures.clear();
  if (!segment.quarantined) return;
  state.quarantined.Take(segment.descriptor.id);
  state.pool.SetQuarantined(slot, false);
}

void EndQuarantines(State& state, TimePoint now, uint32_t& budget) {
  for (; budget > 0; --budget) {
    const auto id = state.quarantined.Due(now);
    if (!id.has_value()) return;
    ForgetFailures(state, state.quarantined.Find(*id)->value);
  }
}

}  // namespace mooncake::core

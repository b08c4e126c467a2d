// What the core knows about itself.
#include <algorithm>
#include <map>
#include <string_view>

#include "master/core/checks.h"
#include "master/core/numeric_address.h"
#include "master/core/ops/ops.h"

namespace mooncake::core {
namespace {

SegmentInfo InfoOf(const Segment& segment) {
  return {segment.descriptor, segment.status,     segment.used(), segment.allocator->LargestFree(),
          segment.replicas,   segment.quarantined};
}

}  // namespace

std::vector<SegmentInfo> GetSegments(const State& state, std::span<const SegmentId> ids) {
  std::vector<SegmentInfo> infos;
  if (ids.empty()) {
    for (const auto& [name, slot] : state.pool.by_name())
      infos.push_back(InfoOf(state.pool.at(slot)));
    return infos;
  }
  for (const SegmentId& id : ids) {
    const uint32_t slot = state.pool.FindById(id);
    if (slot != kNoSlot) infos.push_back(InfoOf(state.pool.at(slot)));
  }
  return infos;
}

std::vector<ClientInfo> GetClients(const State& state, TimePoint now) {
  std::vector<ClientInfo> infos;
  state.clients.ForEach([&](const ClientId& id, const auto& item) {
    infos.push_back({id, item.value.address, now - item.value.last_ping, item.value.segments});
  });
  std::sort(infos.begin(), infos.end(), [](const ClientInfo& a, const ClientInfo& b) {
    return a.address != b.address ? a.address < b.address : a.id < b.id;
  });
  return infos;
}

Result<std::vector<ClientAddresses>> QueryAddresses(const State& state,
                                                    std::span<const ClientId> clients) {
  RETURN_IF_ERROR(CheckBatch("client ids", clients.size()));
  std::map<ClientId, std::vector<std::string>> endpoints;
  for (const ClientId& id : clients) endpoints[id];
  for (const auto& [name, slot] : state.pool.by_name()) {
    const SegmentDescriptor& segment = state.pool.at(slot).descriptor;
    const auto it = endpoints.find(segment.owner);
    if (it != endpoints.end()) it->second.push_back(segment.endpoint);
  }
  std::vector<ClientAddresses> answer;
  for (const ClientId& id : clients) {
    const auto* client = state.clients.Find(id);
    if (client == nullptr) continue;
    std::vector<std::string>& addresses = answer.emplace_back(ClientAddresses{id, {}}).addresses;
    const auto add = [&](std::string_view text) {
      const auto address = NumericAddress(text);
      if (address && std::find(addresses.begin(), addresses.end(), *address) == addresses.end())
        addresses.push_back(*address);
    };
    // What a client tells of itself is for people: a name, an endpoint, both.
    const std::string_view told = client->value.address;
    for (size_t begin = 0; begin < told.size();) {
      const size_t end = std::min(told.find(' ', begin), told.size());
      add(told.substr(begin, end - begin));
      begin = end + 1;
    }
    for (const std::string& endpoint : endpoints[id]) add(endpoint);
  }
  return answer;
}

std::vector<std::string> SegmentNames(const State& state,
                                      std::span<const ReplicaDescriptor> replicas) {
  std::vector<std::string> names;
  for (const ReplicaDescriptor& replica : replicas) {
    for (const Extent& extent : replica.extents) {
      const uint32_t slot = state.pool.FindById(extent.segment);
      if (slot == kNoSlot) continue;
      const std::string& name = state.pool.at(slot).descriptor.name;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

Counters GetCounters(const State& state) {
  Counters counters = state.counters;
  counters.puts_in_progress = state.writes.size();
  counters.discarded_puts = state.discarded.size();
  counters.detached_versions = state.detached.size();
  counters.detached_bytes = state.pool.nameless(Nameless::kDetached);
  counters.discarded_bytes = state.pool.nameless(Nameless::kDiscarded);
  counters.soft_pinned_objects = state.soft_pins.size();
  for (const auto& [name, tenant] : state.table.tenants()) counters.groups += tenant->groups.size();
  counters.capacity = state.pool.capacity();
  counters.used = state.pool.used();
  counters.held = state.pool.held();
  counters.segments = state.pool.by_name().size();
  counters.quarantined_segments = state.quarantined.size();
  counters.dead_segments = state.pool.unswept().size();
  counters.clients = state.clients.size();
  return counters;
}

ClusterStatus GetStatus(const State& state) {
  ClusterStatus status;
  status.term = state.term;
  status.capacity = state.pool.capacity();
  status.used = state.pool.used();
  status.object_count = state.counters.objects;
  status.processing_count = state.writes.size();
  status.soft_pinned_count = state.soft_pins.size();
  status.segment_count = static_cast<uint32_t>(state.pool.by_name().size());
  status.client_count = static_cast<uint32_t>(state.clients.size());
  status.evicted_objects = state.counters.evicted_objects;
  status.evicted_bytes = state.counters.evicted_bytes;
  return status;
}

}  // namespace mooncake::core

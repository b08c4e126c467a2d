#include "client/core/replica_selector.h"

#include <algorithm>
#include <tuple>

namespace mooncake {

std::vector<size_t> OrderReplicas(std::span<const ReplicaView> replicas, uint64_t turn) {
  std::vector<size_t> order;
  for (size_t i = 0; i < replicas.size(); ++i) {
    if (replicas[i].reachable) order.push_back(i);
  }
  const size_t count = replicas.size();
  const auto rank = [&](size_t i) {
    const ReplicaView& replica = replicas[i];
    return std::tuple(replica.suspect, replica.locality, replica.load, (i + turn % count) % count);
  };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return rank(a) < rank(b); });
  return order;
}

void SuspectTable::OnFailure(const SegmentId& segment, TimePoint now) {
  if (entries_.size() >= kMaxEntries && !entries_.contains(segment)) {
    entries_.erase(
        std::min_element(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) {
          return std::tie(a.second.until, a.first) < std::tie(b.second.until, b.first);
        }));
  }
  Entry& entry = entries_[segment];
  // Several transfers that fail together are one failure.
  if (now < entry.until) return;
  entry.length = entry.length == Duration::zero() ? kFirst : std::min(entry.length * 2, kLongest);
  entry.until = now + entry.length;
}

void SuspectTable::OnSuccess(const SegmentId& segment) { entries_.erase(segment); }

TimePoint SuspectTable::SuspectUntil(const SegmentId& segment) const {
  const auto it = entries_.find(segment);
  return it == entries_.end() ? TimePoint::min() : it->second.until;
}

}  // namespace mooncake

#include "client/segment_directory.h"

#include <algorithm>

namespace mooncake {

PeerAddress AddressOf(const SegmentDescriptor& segment) {
  return {.host_id = segment.host_id,
          .protocol = segment.protocol,
          .endpoint = segment.endpoint,
          .local_socket = segment.local_socket};
}

Result<SegmentDirectory::Peers> SegmentDirectory::Resolve(std::span<const SegmentId> ids,
                                                          TimePoint deadline) {
  Peers peers;
  std::vector<SegmentId> unknown;
  {
    MutexLock lock(mutex_);
    for (const SegmentId& id : ids) {
      const auto it = known_.find(id);
      if (it != known_.end()) {
        peers.emplace(id, it->second.address);
      } else {
        unknown.push_back(id);
      }
    }
  }
  if (unknown.empty()) return peers;
  std::sort(unknown.begin(), unknown.end());
  unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
  ASSIGN_OR_RETURN(const std::vector<SegmentInfo> found, master_.GetSegments(unknown, deadline));
  MutexLock lock(mutex_);
  if (known_.size() + found.size() > kMaxEntries) known_.clear();
  for (const SegmentInfo& segment : found) {
    const PeerAddress address = AddressOf(segment.descriptor);
    known_.insert_or_assign(segment.descriptor.id,
                            Known{.address = address, .name = segment.descriptor.name});
    peers.insert_or_assign(segment.descriptor.id, address);
  }
  return peers;
}

std::vector<std::string> SegmentDirectory::NamesOf(std::span<const SegmentId> ids) const {
  std::vector<std::string> names;
  MutexLock lock(mutex_);
  for (const SegmentId& id : ids) {
    const auto it = known_.find(id);
    if (it != known_.end()) names.push_back(it->second.name);
  }
  return names;
}

}  // namespace mooncake

// Where segments are: asks the master once for each and remembers, since an incarnation never moves.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "master/api/master_api.h"
#include "transfer/base/mutex.h"
#include "transfer/base/result.h"
#include "transfer/transport/transport.h"

namespace mooncake {

// Thread-safe.
class SegmentDirectory {
 public:
  using Peers = std::unordered_map<SegmentId, PeerAddress>;
  static constexpr size_t kMaxEntries = 65536;  // then it starts afresh

  explicit SegmentDirectory(MasterApi& master) : master_(master) {}

  // Names of those of `ids` that were resolved before, for asking the master to leave them out.
  std::vector<std::string> NamesOf(std::span<const SegmentId> ids) const MC_EXCLUDES(mutex_);

  // Addresses of those of `ids` that exist; the others are left out. May call the master. kRpcFail, kRpcTimeout.
  Result<Peers> Resolve(std::span<const SegmentId> ids, TimePoint deadline) MC_EXCLUDES(mutex_);

 private:
  struct Known {
    PeerAddress address;
    std::string name;
  };

  MasterApi& master_;
  mutable Mutex mutex_;
  std::unordered_map<SegmentId, Known> known_ MC_GUARDED_BY(mutex_);
};

PeerAddress AddressOf(const SegmentDescriptor& segment);

}  // namespace mooncake

// Reads versions whose replicas are known: picks replicas, moves the bytes, proves by the seals that they belong to the wanted
// version, and goes on to the next replica when that fails. Leases are the caller's matter.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "client/core/read_plan.h"
#include "client/data_path.h"
#include "client/segment_directory.h"

namespace mooncake::internal {

struct FetchJob {
  const ReplicaList* info = nullptr;
  ByteRange range;         // within the object
  MutableByteSpan buffer;  // range.length bytes; undefined content unless the status is OK
  // Out. kTransferFail: no replica could be read. kReplicaIsGone: stale replicas only. kChecksumMismatch. kRpcTimeout.
  Status status;
};

// Thread-safe.
class ObjectFetcher {
 public:
  ObjectFetcher(SegmentDirectory& directory, DataPath& data, const Clock& clock)
      : directory_(directory), data_(data), clock_(clock) {}

  // All jobs side by side. Returns at `deadline` at the latest.
  void Fetch(std::span<FetchJob> jobs, TimePoint deadline);

  // The whole object in place, its seal checked. kNotSupported: no replica is one extent in memory of this host.
  struct InPlace {
    PeerAddress peer;
    Extent extent;
    ByteSpan bytes;
  };
  Result<InPlace> View(const ReplicaList& info, TimePoint deadline);
  // True while `view` still is where it was, with the same access epoch and seal.
  bool StillThere(const InPlace& view, PutId put_id);

 private:
  struct Attempt;  // one job on one replica

  std::vector<size_t> Order(const ReplicaList& info, const SegmentDirectory::Peers& peers);
  bool Begin(Attempt& attempt);
  Status Finish(const Attempt& attempt, std::span<const PeerSlice> slices) const;
  void RunRound(std::vector<Attempt>& attempts, const SegmentDirectory::Peers& peers,
                TimePoint deadline);

  SegmentDirectory& directory_;
  DataPath& data_;
  const Clock& clock_;
  std::atomic<uint64_t> turn_{0};  // relaxed: spreads readers over equal replicas
};

}  // namespace mooncake::internal

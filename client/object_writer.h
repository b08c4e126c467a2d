// Writes objects: reserves, fills all replicas side by side, ends; or revokes so that nothing is left, and tries once more
// elsewhere if a node was the reason. The decisions are client/core/put_session's.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/core/put_session.h"
#include "client/data_path.h"
#include "client/segment_directory.h"
#include "client/store_client.h"
#include "master/api/master_api.h"

namespace mooncake::internal {

struct PutJob {
  ObjectName name;
  std::span<const ByteSpan> parts;  // the object is their concatenation
  uint64_t size = 0;                // of all parts
  Result<PutResult> result = Status(ErrorCode::kInternal, "not started");  // out
};

// Thread-safe.
class ObjectWriter {
 public:
  // Cleaning up after a failure may take this much longer than the deadline of the call.
  static constexpr Duration kCleanUpTime = Seconds(1);
  // A node that does not answer a fence for so long holds up its caller no more: the space then stays reserved.
  static constexpr Duration kFencePatience = Seconds(5);

  ObjectWriter(MasterApi& master, SegmentDirectory& directory, DataPath& data, const Clock& clock,
               ClientId client)
      : master_(master), directory_(directory), data_(data), clock_(clock), client_(client) {}

  // Any number of jobs, in windows of bounded size; each stands for itself.
  void Put(std::span<PutJob* const> jobs, const PutOptions& options, TimePoint deadline);

 private:
  struct Write;  // a job with its session
  // What is worth another attempt, and the segments to keep away from then.
  struct Failed {
    std::vector<PutJob*> jobs;
    std::vector<SegmentId> segments;
  };

  Failed PutWindow(std::span<PutJob* const> jobs, const PutOptions& options, TimePoint deadline);
  void PutAgain(const Failed& failed, const PutOptions& options, TimePoint deadline);
  std::vector<Write> Reserve(std::span<PutJob* const> jobs, const PutOptions& options,
                             TimePoint deadline);
  void WriteAll(std::vector<Write>& writes, const PutOptions& options, TimePoint deadline);
  static std::span<const ByteSpan> PartsOf(Write& write);
  static void PlanWrite(Write& write, const SegmentDirectory::Peers& peers, bool checksum,
                        std::vector<PeerSlice>& slices);
  static void ReportWrite(Write& write, std::span<const PeerSlice> slices);
  void FenceAll(std::vector<Write>& writes, TimePoint deadline);
  void EndAll(std::vector<Write>& writes, const PutOptions& options, TimePoint deadline);
  void RevokeAll(std::vector<Write>& writes, TimePoint deadline);

  MasterApi& master_;
  SegmentDirectory& directory_;
  DataPath& data_;
  const Clock& clock_;
  const ClientId client_;
};

}  // namespace mooncake::internal

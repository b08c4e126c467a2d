// A batch of slices on one channel, in rounds: as many slices as staging and messages have room for, all posted before the first
// completion is waited for.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transfer/transport/rdma/channel.h"
#include "transfer/transport/rdma/work_plan.h"

namespace mooncake::rdma {

// Thread-compatible.
class BatchRun {
 public:
  BatchRun(Channel& channel, std::span<Slice> slices)
      : channel_(channel), queue_(channel.queue()), slices_(slices) {}

  // Settles at least one of `which`, from its front, and removes what it settled. Not OK: as Channel::Run; the channel is closed.
  Status Round(std::vector<uint32_t>& which, TimePoint deadline);

 private:
  static constexpr uint64_t kNothingPosted = UINT64_MAX;

  struct Part {
    uint32_t slice = 0;
    const SegmentKeys* keys = nullptr;
    std::vector<LocalRun> local;
    size_t first_request = 0;  // of requests_
    size_t end_request = 0;
    bool admitted = false;  // a write that the node holds for us
    bool settled = false;
  };
  struct Staged {
    MutableByteSpan buffer;
    MutableByteSpan staging;
    size_t part = 0;
  };

  Status Prepare(const std::vector<uint32_t>& which, TimePoint deadline);
  // False: no room in this round.
  Result<bool> Localise(const Slice& slice, Part& part);
  void Stage(const Slice& slice, MutableByteSpan buffer, Part& part);
  Status RegisterFor(const Slice& slice, MutableByteSpan buffer, Part& part);
  Status BeginWrites(TimePoint deadline);
  Status Move(TimePoint deadline);
  Status EndWrites(TimePoint deadline);
  void SettleReads();
  void Settle(Part& part, Status status);
  void Abandon(const Status& why);

  Channel& channel_;
  QueuePair& queue_;
  const std::span<Slice> slices_;
  // Of the round.
  std::vector<Part> parts_;
  std::vector<Staged> staged_;
  std::vector<std::unique_ptr<RegisteredMemory>> temporary_;
  std::vector<WorkRequest> requests_;
  size_t staging_used_ = 0;
  size_t writes_ = 0;
  uint64_t base_ = kNothingPosted;  // queue_.posted() before requests_
};

}  // namespace mooncake::rdma

// One batch on one stream: sends frames while replies come back, so that neither side can wait for the other for ever.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "transfer/base/clock.h"
#include "transfer/transport/tcp/batch_plan.h"
#include "transfer/transport/tcp/frame.h"
#include "transfer/transport/tcp/socket.h"
#include "transfer/transport/transport.h"

namespace mooncake::tcp {

// Thread-compatible; used once.
class BatchRun {
 public:
  struct Stream {
    int fd = -1;
    const Clock& clock;
    const std::string& peer;  // for messages
  };
  // `next_request_id` is moved on by the number of frames.
  BatchRun(const Stream& stream, std::span<Slice> slices, std::vector<PlannedFrame> frames,
           uint64_t& next_request_id);

  // OK: every slice of the plan is settled and the stream can be used again. Otherwise the stream is of no more
  // use, and those slices that are not settled() have no status. kTransferFail, kRpcTimeout.
  Status Run(TimePoint deadline);
  bool settled(uint32_t slice) const { return parts_left_[slice] == 0; }

 private:
  void Stage();
  Status SendStep(bool& progress);
  Status ReceiveStep(bool& progress);
  void ExpectHead();
  Status Advance(size_t received);
  Status OnHead();
  void OnFrameDone();
  void Refuse(const PlannedFrame& frame, size_t entry, ErrorCode code);
  bool sending() const {
    return !out_.empty() || (staged_ < frames_.size() && staged_ - finished_ < kWindow);
  }

  static constexpr size_t kWindow = 16;  // frames sent and not answered

  const Stream stream_;
  const std::span<Slice> slices_;
  const std::vector<PlannedFrame> frames_;
  const uint64_t first_id_;
  std::vector<uint32_t> parts_left_;  // by slice: chunks without an answer
  size_t staged_ = 0;                 // frames given to out_
  size_t finished_ = 0;               // frames answered
  IoVector out_;
  std::vector<std::byte> out_head_;
  IoVector in_;
  std::vector<std::byte> in_head_;
  size_t head_left_ = 0;     // bytes of in_head_ that have not come yet
  bool in_body_ = false;     // in_head_ was understood
  bool optimistic_ = false;  // in_ has the body behind the head already
};

}  // namespace mooncake::tcp

#include "transfer/transport/rdma/rdma_connection.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mooncake::rdma {

ClientState::ClientState(std::unique_ptr<DeviceSet> opened,
                         const RdmaTransportOptions& with_options, const Clock& clock)
    : options(with_options),
      devices(std::move(opened)),
      memory(*devices, options.chunk_bytes),
      context{.devices = *devices,
              .memory = memory,
              .counters = counters,
              .clock = clock,
              .queue_pair = {.send_depth = options.send_depth,
                             .signal_every = options.signal_every,
                             .staging_bytes = options.staging_bytes},
              .max_request_bytes = options.max_request_bytes,
              .max_staged_bytes = options.max_staged_bytes,
              .max_temporary_regions = 64} {}

Status RdmaConnection::Open(TimePoint deadline) {
  ASSIGN_OR_RETURN(std::unique_ptr<Channel> channel, Take(Use::kBulk, deadline));
  Return(std::move(channel));
  return Status::Ok();
}

Result<std::unique_ptr<Channel>> RdmaConnection::Dial(TimePoint deadline) {
  const TimePoint limit =
      std::min(deadline, state_->context.clock.Now() + state_->options.connect_timeout);
  Result<std::unique_ptr<Channel>> channel = Channel::Dial(peer_, state_->context, limit);
  if (channel.ok()) return channel;
  if (limit == deadline && channel.code() == ErrorCode::kRpcTimeout) return channel;
  // The peer did not answer within what is enough for one that lives.
  MutexLock lock(mutex_);
  healthy_ = false;
  return Status(ErrorCode::kTransferFail, channel.message());
}

Result<std::unique_ptr<Channel>> RdmaConnection::Take(Use use, TimePoint deadline) {
  for (;;) {
    std::unique_ptr<Channel> channel;
    {
      MutexLock lock(mutex_);
      while (use == Use::kBulk && idle_.empty() &&
             in_use_ >= state_->options.max_channels_per_peer) {
        const Duration left = deadline - state_->context.clock.Now();
        if (left <= Duration::zero()) {
          return Status(ErrorCode::kRpcTimeout,
                        "rdma://" + peer_.endpoint + ": all its queue pairs are in use");
        }
        freed_.WaitFor(mutex_, left);
      }
      if (idle_.empty()) {
        ++in_use_;
        break;
      }
      channel = std::move(idle_.back());
      idle_.pop_back();
      ++in_use_;
    }
    if (!channel->LooksDead()) return channel;
    Return(nullptr);
  }
  Result<std::unique_ptr<Channel>> dialled = Dial(deadline);
  if (!dialled.ok()) Return(nullptr);
  return dialled;
}

void RdmaConnection::Return(std::unique_ptr<Channel> channel) {
  {
    MutexLock lock(mutex_);
    --in_use_;
    // What control requests took beyond the bound is not kept.
    if (channel != nullptr && idle_.size() + in_use_ < state_->options.max_channels_per_peer) {
      idle_.push_back(std::move(channel));
    }
  }
  freed_.NotifyOne();
}

Status RdmaConnection::WithChannel(Use use, TimePoint deadline, const Attempt& attempt) {
  ASSIGN_OR_RETURN(std::unique_ptr<Channel> channel, Take(use, deadline));
  Status status = attempt(*channel);
  if (status.code() == ErrorCode::kTransferFail) {
    channel.reset();
    Result<std::unique_ptr<Channel>> again = Dial(deadline);
    if (again.ok()) {
      channel = std::move(again).value();
      status = attempt(*channel);
    } else {
      status = again.status();
    }
  }
  if (!status.ok()) channel.reset();
  Return(std::move(channel));
  return status;
}

void RdmaConnection::Execute(std::span<Slice> slices, TimePoint deadline) {
  std::vector<uint32_t> pending(slices.size());
  std::iota(pending.begin(), pending.end(), 0u);
  if (pending.empty()) return;
  Status status;
  if (state_->context.clock.Now() >= deadline) {  // before a good channel is given up for it
    status = Status(ErrorCode::kRpcTimeout, "the deadline had passed before the start");
  } else {
    status = WithChannel(Use::kBulk, deadline,
                         [&](Channel& channel) { return channel.Run(slices, pending, deadline); });
  }
  if (pending.empty()) return;
  status = Annotate(status, "rdma://" + peer_.endpoint);
  for (const uint32_t index : pending) slices[index].status = status;
}

Result<ByteSpan> RdmaConnection::View(const SegmentId&, AccessEpoch, uint64_t, uint64_t) {
  return Status(ErrorCode::kNotSupported, "rdma://" + peer_.endpoint + ": no views over RDMA");
}

Status RdmaConnection::Control(Op op, const Entry& entry, TimePoint deadline) {
  ErrorCode code = ErrorCode::kOk;
  const Status status = WithChannel(Use::kControl, deadline, [&](Channel& channel) {
    return channel.Call(op, entry, deadline, code);
  });
  if (!status.ok()) return Annotate(status, "rdma://" + peer_.endpoint);
  if (code == ErrorCode::kOk) return Status::Ok();
  return Status(code, "rdma://" + peer_.endpoint + " refused " +
                          (op == Op::kFence ? "to fence" : "to supersede") + " put " +
                          std::to_string(entry.grant.put_id.value) + " in segment " +
                          entry.segment.ToString());
}

Status RdmaConnection::Fence(const SegmentId& segment, PutId put_id, TimePoint deadline) {
  Entry entry;
  entry.segment = segment;
  entry.grant.put_id = put_id;
  const int64_t left_ms = ToMillis(deadline - state_->context.clock.Now());
  entry.length = static_cast<uint64_t>(std::max<int64_t>(left_ms, 0));
  return Control(Op::kFence, entry, deadline);
}

Status RdmaConnection::Supersede(const SegmentId& segment, AccessEpoch epoch, uint64_t seal_offset,
                                 PutId put_id, TimePoint deadline) {
  Entry entry;
  entry.segment = segment;
  entry.epoch = epoch;
  entry.offset = seal_offset;
  entry.grant.put_id = put_id;
  return Control(Op::kSupersede, entry, deadline);
}

bool RdmaConnection::healthy() const {
  MutexLock lock(mutex_);
  return healthy_;
}

}  // namespace mooncake::rdma

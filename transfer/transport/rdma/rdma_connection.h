// A node as a Connection: batches and control requests over pooled channels.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transfer/base/mutex.h"
#include "transfer/transport/rdma/channel.h"
#include "transfer/transport/rdma/rdma_transport.h"
#include "transfer/transport/transport.h"

namespace mooncake::rdma {

// What a transport and its connections share.
struct ClientState {
  ClientState(std::unique_ptr<DeviceSet> opened, const RdmaTransportOptions& options,
              const Clock& clock);

  const RdmaTransportOptions options;
  const std::unique_ptr<DeviceSet> devices;
  LocalMemory memory;
  ClientCounters counters;
  const ChannelContext context;
};

// Thread-safe.
class RdmaConnection final : public Connection {
 public:
  RdmaConnection(const PeerAddress& peer, std::shared_ptr<ClientState> state)
      : peer_(peer), state_(std::move(state)) {}

  // Makes the first channel, so that a peer that is not there is found out now.
  Status Open(TimePoint deadline);

  void Execute(std::span<Slice> slices, TimePoint deadline) override;
  Result<ByteSpan> View(const SegmentId& segment, AccessEpoch epoch, uint64_t offset,
                        uint64_t length) override;
  Status Fence(const SegmentId& segment, PutId put_id, TimePoint deadline) override;
  Status Supersede(const SegmentId& segment, AccessEpoch epoch, uint64_t seal_offset, PutId put_id,
                   TimePoint deadline) override;
  bool healthy() const override;

 private:
  enum class Use : uint8_t {
    kBulk,     // bounded by max_channels_per_peer
    kControl,  // may go beyond it: a fence must not wait for the writes it is to end
  };
  using Attempt = std::function<Status(Channel&)>;
  // Runs `attempt` on a pooled channel and, if that breaks, once more on a new one.
  Status WithChannel(Use use, TimePoint deadline, const Attempt& attempt);
  Result<std::unique_ptr<Channel>> Take(Use use, TimePoint deadline);
  Result<std::unique_ptr<Channel>> Dial(TimePoint deadline);
  // Of a channel that Take() gave: back to the pool, or (null) only its slot.
  void Return(std::unique_ptr<Channel> channel);
  Status Control(Op op, const Entry& entry, TimePoint deadline);

  const PeerAddress peer_;
  const std::shared_ptr<ClientState> state_;
  mutable Mutex mutex_;
  CondVar freed_;
  std::vector<std::unique_ptr<Channel>> idle_ MC_GUARDED_BY(mutex_);
  size_t in_use_ MC_GUARDED_BY(mutex_) = 0;
  bool healthy_ MC_GUARDED_BY(mutex_) = true;
};

}  // namespace mooncake::rdma

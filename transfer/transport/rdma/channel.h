// One queue pair to a node, from the client's side: dialling, requests with replies, batches. Used by one caller at a time; a channel
// that failed once is of no more use, and has been closed when the call returned.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "transfer/base/clock.h"
#include "transfer/transport/rdma/local_memory.h"
#include "transfer/transport/rdma/message.h"
#include "transfer/transport/rdma/queue_pair.h"
#include "transfer/transport/transport.h"

namespace mooncake::rdma {

// Monotonic; they order nothing.
struct ClientCounters {
  std::atomic<uint64_t> work_requests{0};  // one-sided
  std::atomic<uint64_t> messages{0};       // requests that a node's processor had to answer
  std::atomic<uint64_t> bytes_copied{0};   // through staging, of buffers that were not registered
  std::atomic<uint64_t> registrations{0};  // made during a transfer, for the same reason
  std::atomic<uint64_t> dials{0};
};

// What the channels of a transport share; outlives them.
struct ChannelContext {
  const DeviceSet& devices;
  const LocalMemory& memory;
  ClientCounters& counters;
  const Clock& clock;
  QueuePairOptions queue_pair;
  uint64_t max_request_bytes = 0;    // of a work request; 0: what the device takes
  uint64_t max_staged_bytes = 0;     // of a buffer; longer ones are registered for their transfer
  size_t max_temporary_regions = 0;  // of a round of a batch
};

// Thread-compatible.
class Channel {
 public:
  // Connects, and checks who answers. kTransferFail: no way, or somebody else is there. kRpcTimeout.
  static Result<std::unique_ptr<Channel>> Dial(const PeerAddress& peer,
                                               const ChannelContext& context, TimePoint deadline);

  // Settles the slices `which` and removes from it those that are settled. Not OK: those left may be tried on another
  // channel; writes of which a byte may have landed are settled with the failure. kTransferFail, kRpcTimeout.
  Status Run(std::span<Slice> slices, std::vector<uint32_t>& which, TimePoint deadline);

  // A request with one code, which goes to `code`. The status is that of the channel.
  Status Call(Op op, const Entry& entry, TimePoint deadline, ErrorCode& code);

  bool LooksDead() { return queue_->LooksDead(); }

  // For the run of a batch.
  Status Exchange(Request request, TimePoint deadline, Reply& reply);
  // Keys of the segment in the epoch, asked for once. `code`: why there are none; null then.
  Status KeysFor(const SegmentId& segment, AccessEpoch epoch, TimePoint deadline, ErrorCode& code,
                 const SegmentKeys*& keys);
  QueuePair& queue() { return *queue_; }
  const ChannelContext& context() const { return context_; }

 private:
  struct EventChannelDeleter {
    void operator()(rdma_event_channel* channel) const { ::rdma_destroy_event_channel(channel); }
  };
  using EventChannel = std::unique_ptr<rdma_event_channel, EventChannelDeleter>;

  Channel(const PeerAddress& peer, const ChannelContext& context)
      : peer_(peer), context_(context) {}
  Status Connect(TimePoint deadline);
  Status Resolve(rdma_cm_id* id, TimePoint deadline);
  Status AwaitEvent(rdma_cm_event_type wanted, TimePoint deadline);
  Status Hello(TimePoint deadline);

  static constexpr size_t kMaxKnownSegments = 256;  // then they are asked for again
  struct Known {
    AccessEpoch epoch;
    SegmentKeys keys;
  };

  const PeerAddress peer_;
  const ChannelContext& context_;
  EventChannel events_;  // outlives queue_
  std::unique_ptr<QueuePair> queue_;
  uint64_t next_id_ = 1;
  std::unordered_map<SegmentId, Known> known_;
};

}  // namespace mooncake::rdma

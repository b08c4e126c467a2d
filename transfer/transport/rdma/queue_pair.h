// A reliable queue pair with its completion queue and message buffers, as client and node both use it. Adds to verbs: waiting with a
// deadline, an order of completions, and an end after which the device touches none of our memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "transfer/base/byte_span.h"
#include "transfer/base/clock.h"
#include "transfer/base/result.h"
#include "transfer/transport/rdma/device.h"
#include "transfer/transport/rdma/work_plan.h"

namespace mooncake::rdma {

struct QueuePairOptions {
  uint32_t send_depth = 128;       // work requests posted and not known to be done
  uint32_t signal_every = 16;      // requests between two completions; less than half of send_depth
  size_t staging_bytes = 0;        // registered room for bytes of buffers that are not
  Duration spin = Millis(1) / 50;  // at most so long before a wait sleeps
};

// Thread-compatible.
class QueuePair {
 public:
  // On `id`, whose device must be known and which becomes ours. kTransferFail.
  static Result<std::unique_ptr<QueuePair>> Create(rdma_cm_id* id, const Device& device,
                                                   const QueuePairOptions& options,
                                                   const Clock& clock);
  ~QueuePair();  // as Close()
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  rdma_cm_id* id() const { return id_; }
  const Device& device() const { return device_; }
  // For rdma_connect and rdma_accept.
  rdma_conn_param Parameters() const;

  // After it the device neither reads nor writes local memory for this queue pair, and what the peer still sends lands
  // nowhere. Idempotent.
  void Close();
  bool closed() const { return id_->qp == nullptr; }

  // A descriptor that is readable once all waiting is in vain: waits end with kTransferFail then.
  void WatchFd(int fd) { watched_ = fd; }

  // Posts `request`, waiting for room. kTransferFail, kRpcTimeout: close it.
  enum class Follows : uint8_t { kMore, kNothing };
  Status Post(const WorkRequest& request, Follows follows, TimePoint deadline);
  // Waits until all that was posted is done; nothing follows the last of it.
  Status Drain(TimePoint deadline);
  // Work requests ever posted, and how many of them, in their order, are known to have succeeded.
  uint64_t posted() const { return posted_; }
  uint64_t done() const { return done_; }
  // The peer's device refused a request: the key is not, or no longer, good.
  bool access_refused() const { return access_refused_; }

  // Copies `message` and posts it, behind what was posted before. At most kMaxMessageBytes.
  Status SendMessage(ByteSpan message, TimePoint deadline);
  // The peer's next message, good until the next call.
  Result<ByteSpan> ReceiveMessage(TimePoint deadline);

  // True when an idle queue pair was found to be broken. Does not block.
  bool LooksDead();

  MutableByteSpan staging() const;
  uint32_t staging_key() const;

 private:
  QueuePair(rdma_cm_id* id, const Device& device, const QueuePairOptions& options,
            const Clock& clock)
      : id_(id), device_(device), options_(options), clock_(clock) {}
  Status Open();
  Status PostReceive(uint32_t slot);
  // Takes what has completed. kTransferFail: one of them failed.
  Status Reap(bool& any);
  Status OnCompletion(const ibv_wc& completion);
  // Returns when something has completed, or with kTransferFail or kRpcTimeout.
  Status AwaitCompletion(TimePoint deadline);
  Status Sleep(TimePoint deadline, bool& any);
  Status AwaitDone(uint64_t count, TimePoint deadline);
  Status PostSend(ibv_send_wr& request, bool signal, TimePoint deadline);
  Status Failed(const char* what, int error) const;
  std::byte* slot(uint32_t number) { return buffer_.data() + number * kMaxMessageBytes; }

  // Two to receive into: one is posted while the other is looked at. Then one to send from, then staging.
  static constexpr uint32_t kReceiveSlots = 2;
  static constexpr uint32_t kSendSlot = kReceiveSlots;
  static constexpr size_t kStagingStart = (kReceiveSlots + 1) * kMaxMessageBytes;
  struct Received {
    uint32_t slot = 0;
    uint32_t bytes = 0;
  };

  rdma_cm_id* const id_;
  const Device& device_;
  const QueuePairOptions options_;
  const Clock& clock_;
  ibv_comp_channel* channel_ = nullptr;
  ibv_cq* queue_ = nullptr;
  std::vector<std::byte> buffer_;  // to receive into, to send from, staging
  std::unique_ptr<RegisteredMemory> registered_;
  uint64_t posted_ = 0;
  uint64_t done_ = 0;
  uint64_t signalled_ = 0;  // as posted_, of the last request that will complete
  bool access_refused_ = false;
  uint64_t message_sent_ = 0;       // as posted_, of the last message: its slot is free once done
  std::vector<Received> received_;  // messages not asked for yet
  int handed_out_ = -1;             // slot of the message the caller looks at
  int watched_ = -1;
  Duration spin_ = Duration::zero();  // adapts: short after waits that had to sleep
};

}  // namespace mooncake::rdma

// One accepted queue pair of an RDMA server: answers requests and holds the ranges that its client is writing. What a client writes
// goes past this processor; what it may write, and until when, is decided here.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transfer/base/clock.h"
#include "transfer/base/unique_fd.h"
#include "transfer/transport/rdma/exported_segments.h"
#include "transfer/transport/rdma/message.h"
#include "transfer/transport/rdma/queue_pair.h"
#include "transfer/transport/served_segments.h"

namespace mooncake::rdma {

// Monotonic; they order nothing.
struct ServerCounters {
  std::atomic<uint64_t> accepted{0};
  std::atomic<uint64_t> refused{0};  // no slot, or no queue pair to be had
  std::atomic<uint64_t> requests{0};
  std::atomic<uint64_t> bad_messages{0};
  std::atomic<uint64_t> writes_cut{0};  // queue pairs ended in the middle of a write
};

// What all channels of a server share; outlives them.
struct ServerContext {
  ServedSegments& segments;
  const Clock& clock;
  ExportedSegments& exports;
  std::string host_id;
  std::string endpoint;
  ServerCounters& counters;
  Duration send_timeout = Seconds(10);
};

// Run() belongs to one thread; Cut() and idle_since() to any.
class ServerChannel final : public CutTarget, public std::enable_shared_from_this<ServerChannel> {
 public:
  // `wake` is an eventfd. `ground`: what the queue pair stands on; the gate may hold us a little longer than the server lives.
  ServerChannel(std::shared_ptr<void> ground, std::unique_ptr<QueuePair> queue, UniqueFd wake,
                ServerContext& context);

  // Serves until the queue pair ends. No access is held afterwards, and the device is done with the queue pair.
  void Run();
  void Cut() override;

  const rdma_cm_id* id() const { return queue_->id(); }
  // kNever while a request is served or a write is under way.
  TimePoint idle_since() const {
    return TimePoint(Duration(idle_since_.load(std::memory_order_relaxed)));
  }

 private:
  // Each returns false when the channel has to end.
  bool ServeOne();
  bool Answer(const Request& request, Reply& reply);
  bool BeginWrite(const Request& request, Reply& reply);
  bool EndWrite(Reply& reply);
  ErrorCode Fence(const Entry& entry);

  const std::shared_ptr<void> ground_;  // outlives queue_
  const std::unique_ptr<QueuePair> queue_;
  const UniqueFd wake_;
  ServerContext& context_;
  std::atomic<bool> cut_{false};        // asked between requests; orders nothing
  std::atomic<int64_t> idle_since_;     // for the choice of a channel to drop; orders nothing
  std::vector<ServedAccess> accesses_;  // of the write under way
  TimePoint write_deadline_ = kNever;   // of accesses_
};

}  // namespace mooncake::rdma

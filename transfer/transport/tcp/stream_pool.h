// The streams to one peer: bounded, reused, checked before they are used again.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "transfer/base/mutex.h"
#include "transfer/transport/tcp/client_stream.h"

namespace mooncake::tcp {

struct StreamPoolOptions {
  size_t max_streams = 16;                // who finds them all in use waits
  Duration connect_timeout = Seconds(3);  // of one dial, HELLO included
  Duration probe_after = Seconds(10);  // a stream idle for longer is asked whether it still lives
  Duration probe_timeout = Seconds(1);
  SocketOptions socket;
};

// Thread-safe.
class StreamPool {
 public:
  StreamPool(DialTarget target, const StreamPoolOptions& options, const Clock& clock);

  enum class Use : uint8_t {
    kBulk,     // bounded by max_streams
    kControl,  // may go beyond it: a fence must not wait for the writes it is to end
  };
  // A stream that worked a moment ago. kTransferFail, kRpcTimeout.
  Result<std::unique_ptr<ClientStream>> Take(Use use, TimePoint deadline);
  // Gives a good stream back.
  void Return(std::unique_ptr<ClientStream> stream);
  // `broken` is closed. The new stream displaces it at the node, so that nothing sent on it can land any more.
  Result<std::unique_ptr<ClientStream>> Replace(std::unique_ptr<ClientStream> broken,
                                                TimePoint deadline);
  // `broken` is closed and its slot is free.
  void Drop(std::unique_ptr<ClientStream> broken);

  // False once a dial has failed.
  bool healthy() const;
  uint64_t dials() const;  // so far

 private:
  Result<std::unique_ptr<ClientStream>> Dial(const SessionId& session, TimePoint deadline);
  bool StillGood(ClientStream& stream, TimePoint deadline) const;
  void FreeSlot();

  const DialTarget target_;
  const StreamPoolOptions options_;
  const Clock& clock_;
  mutable Mutex mutex_;
  CondVar freed_;
  std::vector<std::unique_ptr<ClientStream>> idle_ MC_GUARDED_BY(mutex_);
  size_t in_use_ MC_GUARDED_BY(mutex_) = 0;
  uint64_t dials_ MC_GUARDED_BY(mutex_) = 0;
  bool healthy_ MC_GUARDED_BY(mutex_) = true;
};

}  // namespace mooncake::tcp

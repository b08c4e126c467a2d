// Request and reply over a pool of connections to one address: the part of the remote master that knows nothing of Thrift.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "master/api/wire_socket.h"
#include "transfer/base/clock.h"
#include "transfer/base/guarded.h"
#include "transfer/base/result.h"
#include "transfer/base/units.h"

namespace mooncake {

// Thread-safe. Opens as many connections as there are calls at one time, keeps at most `max_idle` of them.
class RemoteChannel {
 public:
  // A peer that answered once and now takes no connections, or takes one and goes away without a word, is taken to be starting again:
  // for `patience`, no longer than the deadline, it is tried again.
  RemoteChannel(HostPort address, size_t max_idle, Duration patience, const Clock& clock);

  // Sends `frame` (four bytes of room in front) and gives the reply's bytes to `decode`, whose status is returned. When a connection
  // turns out to be dead before any byte of the reply came, the frame is sent once more on a new one: at once if it was
  // of the pool, else within the patience. master/api/README.md, "Redial", says why that is safe for every call.
  // kRpcTimeout: deadline; the outcome is unknown. kRpcFail: no connection, a broken one, or a reply too long.
  Status Exchange(MutableByteSpan frame, TimePoint deadline,
                  const std::function<Status(ByteSpan)>& decode);

  const HostPort& address() const { return address_; }
  size_t idle_connections() const;

 private:
  using Idle = std::vector<std::unique_ptr<wire::FrameSocket>>;

  std::unique_ptr<wire::FrameSocket> TakeIdle();
  Result<std::unique_ptr<wire::FrameSocket>> Dial(TimePoint deadline, Duration& pause,
                                                  TimePoint enough);
  // Waits before another try, longer each time. False: no other try.
  bool Pause(Duration& pause, TimePoint enough) const;
  void Keep(std::unique_ptr<wire::FrameSocket> connection);

  const HostPort address_;
  const size_t max_idle_;
  const Duration patience_;
  const Clock& clock_;
  std::atomic<bool> answered_{false};  // once
  Guarded<Idle> idle_;
};

}  // namespace mooncake

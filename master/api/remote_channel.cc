#include "master/api/remote_channel.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "master/api/wire_limits.h"

namespace mooncake {

using wire::FrameSocket;

namespace {
constexpr Duration kFirstPause = Millis(20);
constexpr Duration kLongestPause = Millis(200);
}  // namespace

RemoteChannel::RemoteChannel(HostPort address, size_t max_idle, Duration patience,
                             const Clock& clock)
    : address_(std::move(address)), max_idle_(max_idle), patience_(patience), clock_(clock) {}

std::unique_ptr<FrameSocket> RemoteChannel::TakeIdle() {
  for (;;) {
    auto connection = idle_.With([](Idle& idle) -> std::unique_ptr<FrameSocket> {
      if (idle.empty()) return nullptr;
      auto last = std::move(idle.back());
      idle.pop_back();
      return last;
    });
    // Most connections that a master closed since (it restarted) are found here, before anything is sent.
    if (connection == nullptr || connection->LooksIdle()) return connection;
  }
}

void RemoteChannel::Keep(std::unique_ptr<FrameSocket> connection) {
  // What does not fit is closed by the destructor, outside the lock.
  idle_.With([&](Idle& idle) {
    if (idle.size() < max_idle_) idle.push_back(std::move(connection));
  });
}

size_t RemoteChannel::idle_connections() const {
  return idle_.With([](const Idle& idle) { return idle.size(); });
}

bool RemoteChannel::Pause(Duration& pause, TimePoint enough) const {
  if (!answered_.load(std::memory_order_relaxed) || SaturatingAdd(clock_.Now(), pause) >= enough)
    return false;
  std::this_thread::sleep_for(pause);
  pause = std::min(2 * pause, kLongestPause);
  return true;
}

Result<std::unique_ptr<FrameSocket>> RemoteChannel::Dial(TimePoint deadline, Duration& pause,
                                                         TimePoint enough) {
  for (;;) {
    auto fresh = FrameSocket::Connect(address_, clock_, deadline);
    if (fresh.ok()) return std::make_unique<FrameSocket>(std::move(fresh).value());
    if (fresh.code() != ErrorCode::kRpcFail || !Pause(pause, enough)) return fresh.status();
  }
}

Status RemoteChannel::Exchange(MutableByteSpan frame, TimePoint deadline,
                               const std::function<Status(ByteSpan)>& decode) {
  const TimePoint enough = std::min(deadline, SaturatingAdd(clock_.Now(), patience_));
  Duration pause = kFirstPause;
  auto connection = TakeIdle();
  for (bool pooled = connection != nullptr;; pooled = false) {
    if (connection == nullptr) {
      ASSIGN_OR_RETURN(connection, Dial(deadline, pause, enough));
    }
    Status status = connection->Send(frame, clock_, deadline);
    if (status.ok()) {
      // All of the reply has to be there by the deadline.
      const Duration left = deadline == kNever ? Seconds(3600) : deadline - clock_.Now();
      auto reply = connection->Receive(wire::kMaxFrameBytes, clock_, deadline, left);
      if (reply.ok()) {
        answered_.store(true, std::memory_order_relaxed);
        status = decode(*reply);
        Keep(std::move(connection));
        return status;
      }
      status = reply.code() == ErrorCode::kInvalidParams
                   ? Status(ErrorCode::kRpcFail, reply.message())
                   : reply.status();
    }
    if (status.code() != ErrorCode::kRpcFail || connection->partly_received()) return status;
    // A master that is being killed still takes connections for a moment.
    if (!pooled && !Pause(pause, enough)) return status;
    connection.reset();
  }
}

}  // namespace mooncake

#include "master/api/remote_channel.h"

#include <utility>

#include "master/api/wire_limits.h"

namespace mooncake {

using wire::FrameSocket;

RemoteChannel::RemoteChannel(HostPort address, size_t max_idle, const Clock& clock)
    : address_(std::move(address)), max_idle_(max_idle), clock_(clock) {}

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

Status RemoteChannel::Exchange(MutableByteSpan frame, TimePoint deadline,
                               const std::function<Status(ByteSpan)>& decode) {
  auto connection = TakeIdle();
  bool pooled = connection != nullptr;
  for (;;) {
    if (connection == nullptr) {
      auto fresh = FrameSocket::Connect(address_, clock_, deadline);
      if (!fresh.ok()) return fresh.status();
      connection = std::make_unique<FrameSocket>(std::move(fresh).value());
    }
    Status status = connection->Send(frame, clock_, deadline);
    if (status.ok()) {
      // All of the reply has to be there by the deadline.
      const Duration left = deadline == kNever ? Seconds(3600) : deadline - clock_.Now();
      auto reply = connection->Receive(wire::kMaxFrameBytes, clock_, deadline, left);
      if (reply.ok()) {
        status = decode(*reply);
        Keep(std::move(connection));
        return status;
      }
      status = reply.code() == ErrorCode::kInvalidParams
                   ? Status(ErrorCode::kRpcFail, reply.message())
                   : reply.status();
    }
    if (!pooled || status.code() != ErrorCode::kRpcFail || connection->partly_received())
      return status;
    pooled = false;
    connection.reset();
  }
}

}  // namespace mooncake

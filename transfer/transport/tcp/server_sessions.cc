#include "transfer/transport/tcp/server_sessions.h"

#include <algorithm>

namespace mooncake::tcp {

Status ServerSessions::Enter(const SessionId& session, const std::shared_ptr<CutTarget>& self,
                             TimePoint deadline) {
  if (session.IsNil()) return Status::Ok();
  while (true) {
    std::shared_ptr<CutTarget> old;
    {
      MutexLock lock(mutex_);
      const auto [place, entered] = streams_.emplace(session, self);
      if (entered || place->second == self) return Status::Ok();
      old = place->second;
    }
    old->Cut();
    MutexLock lock(mutex_);
    while (true) {
      const auto place = streams_.find(session);
      if (place == streams_.end() || place->second != old) break;
      const Duration left = deadline - clock_.Now();
      if (left <= Duration::zero()) {
        return Status(ErrorCode::kObjectReplicaBusy,
                      "session " + session.ToString() + ": its old stream has not ended");
      }
      left_.WaitFor(mutex_, std::min<Duration>(left, Millis(50)));
    }
  }
}

void ServerSessions::Leave(const SessionId& session, const CutTarget* self) {
  {
    MutexLock lock(mutex_);
    const auto place = streams_.find(session);
    if (place == streams_.end() || place->second.get() != self) return;
    streams_.erase(place);
  }
  left_.NotifyAll();
}

}  // namespace mooncake::tcp

// Which stream of a server belongs to which session of a client, so that a new stream can displace the old one.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "transfer/base/clock.h"
#include "transfer/base/ids.h"
#include "transfer/base/mutex.h"
#include "transfer/base/status.h"
#include "transfer/transport/served_segments.h"

namespace mooncake::tcp {

using SessionId = SegmentId;  // travels in the segment field of a HELLO

// Thread-safe.
class ServerSessions {
 public:
  explicit ServerSessions(const Clock& clock) : clock_(clock) {}

  // Makes `self` the stream of `session`; another one is cut, and has left when this returns OK. A nil session
  // belongs to nobody. kObjectReplicaBusy: it did not leave before the deadline.
  Status Enter(const SessionId& session, const std::shared_ptr<CutTarget>& self,
               TimePoint deadline);
  // When no access of `self` is left.
  void Leave(const SessionId& session, const CutTarget* self);

 private:
  const Clock& clock_;
  Mutex mutex_;
  CondVar left_;
  std::unordered_map<SessionId, std::shared_ptr<CutTarget>> streams_ MC_GUARDED_BY(mutex_);
};

}  // namespace mooncake::tcp

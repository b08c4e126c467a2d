#include "transfer/transport/tcp/stream_pool.h"

#include <algorithm>
#include <string>
#include <utility>

namespace mooncake::tcp {
namespace {

// A stream used this recently is not looked at first; if it broke since, the redial mends that too.
constexpr Duration kFresh = Millis(100);

}  // namespace

StreamPool::StreamPool(DialTarget target, const StreamPoolOptions& options, const Clock& clock)
    : target_(std::move(target)), options_(options), clock_(clock) {}

Result<std::unique_ptr<ClientStream>> StreamPool::Dial(const SessionId& session,
                                                       TimePoint deadline) {
  const TimePoint limit = std::min(deadline, SaturatingAdd(clock_.Now(), options_.connect_timeout));
  auto stream = ClientStream::Dial(target_, session, options_.socket, clock_, limit);
  const bool late = stream.code() == ErrorCode::kRpcTimeout;
  const bool own_limit = limit < deadline;
  MutexLock lock(mutex_);
  ++dials_;
  // The caller's deadline says nothing about the peer; ours does.
  if (!stream.ok() && (!late || own_limit)) healthy_ = false;
  if (late && own_limit) return Status(ErrorCode::kTransferFail, stream.message());
  return stream;
}

bool StreamPool::StillGood(ClientStream& stream, TimePoint deadline) const {
  const TimePoint now = clock_.Now();
  if (now - stream.last_used() < std::min(kFresh, options_.probe_after)) return true;
  if (stream.looks_dead()) return false;
  if (now - stream.last_used() < options_.probe_after) return true;
  return stream.Probe(std::min(deadline, SaturatingAdd(now, options_.probe_timeout)));
}

Result<std::unique_ptr<ClientStream>> StreamPool::Take(Use use, TimePoint deadline) {
  while (true) {
    std::unique_ptr<ClientStream> stream;
    {
      MutexLock lock(mutex_);
      while (idle_.empty() && use == Use::kBulk && in_use_ >= options_.max_streams) {
        const Duration left = deadline - clock_.Now();
        if (left <= Duration::zero()) {
          return Status(ErrorCode::kRpcTimeout, target_.address + ": all " +
                                                    std::to_string(options_.max_streams) +
                                                    " streams are in use");
        }
        freed_.WaitFor(mutex_, std::min<Duration>(left, Millis(100)));
      }
      ++in_use_;
      if (!idle_.empty()) {
        stream = std::move(idle_.back());
        idle_.pop_back();
      }
    }
    if (stream != nullptr) {
      if (StillGood(*stream, deadline)) return stream;
      stream.reset();
      FreeSlot();
      continue;
    }
    auto fresh = Dial(NewSession(), deadline);
    if (!fresh.ok()) FreeSlot();
    return fresh;
  }
}

void StreamPool::Return(std::unique_ptr<ClientStream> stream) {
  {
    MutexLock lock(mutex_);
    --in_use_;
    if (idle_.size() < options_.max_streams) idle_.push_back(std::move(stream));
  }
  freed_.NotifyOne();
}

Result<std::unique_ptr<ClientStream>> StreamPool::Replace(std::unique_ptr<ClientStream> broken,
                                                          TimePoint deadline) {
  const SessionId session = broken->session();
  broken.reset();
  auto fresh = Dial(session, deadline);
  if (!fresh.ok()) FreeSlot();
  return fresh;
}

void StreamPool::Drop(std::unique_ptr<ClientStream> broken) {
  broken.reset();
  FreeSlot();
}

void StreamPool::FreeSlot() {
  {
    MutexLock lock(mutex_);
    --in_use_;
  }
  freed_.NotifyOne();
}

bool StreamPool::healthy() const {
  MutexLock lock(mutex_);
  return healthy_;
}

uint64_t StreamPool::dials() const {
  MutexLock lock(mutex_);
  return dials_;
}

}  // namespace mooncake::tcp

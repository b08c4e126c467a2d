#include "storenode/node/heartbeat_loop.h"

#include <pthread.h>

#include <algorithm>

#include <glog/logging.h>

#include "transfer/base/check.h"

namespace mooncake {
namespace {

// Accesses of an older epoch are cut, so they end at once; a node that is starved of processor time needs longer.
constexpr Duration kCutTimeout = Seconds(10);

// Trying again does not help against these.
bool IsFinal(ErrorCode code) {
  return code == ErrorCode::kInvalidParams || code == ErrorCode::kSegmentAlreadyExists ||
         code == ErrorCode::kNotSupported || code == ErrorCode::kIllegalClient;
}

}  // namespace

HeartbeatLoop::HeartbeatLoop(const HeartbeatParts& parts, const HeartbeatOptions& options,
                             std::vector<SegmentDescriptor> segments)
    : parts_(parts),
      options_(options),
      core_(options.core, Rng(options.seed)),
      segments_(std::move(segments)) {}

HeartbeatLoop::~HeartbeatLoop() { Stop(); }

void HeartbeatLoop::Start() {
  MC_CHECK(!thread_.joinable());
  thread_ = std::thread([this] {
    (void)pthread_setname_np(pthread_self(), "mc-heartbeat");
    Loop();
  });
}

void HeartbeatLoop::Stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

Status HeartbeatLoop::WaitMounted(TimePoint deadline) {
  MutexLock lock(mutex_);
  for (;;) {
    if (mounted_) return Status::Ok();
    if (stopping_) return Status(ErrorCode::kUnavailableInCurrentStatus, "stopped");
    if (IsFinal(last_failure_.code())) return last_failure_;
    const Duration left = deadline - parts_.clock.Now();
    if (left <= Duration::zero()) {
      return last_failure_.ok() ? Status(ErrorCode::kRpcTimeout, "no answer") : last_failure_;
    }
    (void)changed_.WaitFor(mutex_, left);
  }
}

bool HeartbeatLoop::mounted() const {
  MutexLock lock(mutex_);
  return mounted_;
}

std::vector<SegmentDescriptor> HeartbeatLoop::segments() const {
  MutexLock lock(mutex_);
  return segments_;
}

void HeartbeatLoop::Loop() {
  for (;;) {
    const NodeStep step = core_.Next(parts_.clock.Now());
    switch (step.action) {
      case NodeAction::kWait:
        break;
      case NodeAction::kPing:
        Ping(step.timeout);
        break;
      case NodeAction::kMount:
        Mount(step.advance_epoch);
        break;
      case NodeAction::kVerify:
        Verify(step.timeout);
        break;
    }
    if (!Rest(step.action == NodeAction::kWait ? step.until : TimePoint{})) return;
  }
}

// False when the loop has to end.
bool HeartbeatLoop::Rest(TimePoint until) {
  MutexLock lock(mutex_);
  while (!stopping_) {
    const Duration left = until - parts_.clock.Now();
    if (left <= Duration::zero()) break;
    (void)changed_.WaitFor(mutex_, left);
  }
  return !stopping_;
}

void HeartbeatLoop::Ping(Duration timeout) {
  const TimePoint sent = parts_.clock.Now();
  const Result<PingReply> reply =
      parts_.master.Ping(options_.node, options_.address, sent + timeout);
  const NodePhase before = core_.phase();
  core_.OnPing(sent, parts_.clock.Now(), reply);
  if (core_.term() == clock_term_) {
    UpdateClock();
  } else if (clock_term_ != Term{}) {
    // Another master, another clock: no write is admitted before the epochs have advanced.
    LOG(INFO) << "new master term=" << core_.term().value << " before=" << clock_term_.value;
    parts_.master_clock.Reset();
    clock_term_ = Term{};
  }
  if (before == NodePhase::kMounted && core_.phase() == NodePhase::kUnsure) {
    LOG(WARNING) << "master silent, trying again: " << reply.status();
  }
  if (before == NodePhase::kMounted && core_.phase() == NodePhase::kDetached) {
    LOG(WARNING) << "the master does not know this node's segments any more, mounting again term="
                 << core_.term().value;
  }
  Publish(reply.status());
}

void HeartbeatLoop::UpdateClock() {
  const std::optional<MasterClockSample> sample = core_.master_clock();
  if (sample) parts_.master_clock.Update(sample->master_ms, sample->at);
}

void HeartbeatLoop::Verify(Duration timeout) {
  const std::vector<SegmentDescriptor> own = segments();
  std::vector<SegmentId> ids;
  for (const SegmentDescriptor& segment : own) ids.push_back(segment.id);
  const Result<std::vector<SegmentInfo>> known =
      parts_.master.GetSegments(ids, parts_.clock.Now() + timeout);
  Result<bool> all = known.ok() ? Result<bool>(true) : Result<bool>(known.status());
  for (const SegmentDescriptor& segment : own) {
    if (!known.ok()) break;
    const bool found = std::ranges::any_of(*known, [&](const SegmentInfo& info) {
      return info.descriptor.id == segment.id && info.descriptor.epoch == segment.epoch;
    });
    if (!found) all = false;
  }
  const NodePhase before = core_.phase();
  core_.OnVerify(parts_.clock.Now(), all);
  if (before == NodePhase::kUnsure && core_.phase() == NodePhase::kMounted) {
    LOG(INFO) << "master reached again, segments intact term=" << core_.term().value;
  }
  Publish(all.status());
}

void HeartbeatLoop::Mount(bool advance_epoch) {
  const Status status = TryMount(advance_epoch);
  core_.OnMount(parts_.clock.Now(), status);
  if (status.ok()) {
    for (const SegmentDescriptor& segment : segments()) {
      LOG(INFO) << "mounted segment=" << segment.id.ToString() << " name=" << segment.name
                << " epoch=" << segment.epoch.value << " term=" << core_.term().value;
    }
  } else if (status.code() != mount_failure_told_) {
    // Once for each kind: the loop goes on trying, and a line for each attempt would hide the others.
    LOG(ERROR) << "cannot mount at the master, trying on: " << status;
  }
  mount_failure_told_ = status.code();
  Publish(status);
}

Status HeartbeatLoop::TryMount(bool advance_epoch) {
  const TimePoint deadline = parts_.clock.Now() + 2 * kCallTimeout;
  RETURN_IF_ERROR(CheckNames(deadline));
  if (advance_epoch) RETURN_IF_ERROR(AdvanceEpochs());
  // From here on every grant of this term belongs to the new epochs.
  clock_term_ = core_.term();
  UpdateClock();
  // Never MountSegment, not even at first: a ping has registered this node, and the master waits to be told of all its segments.
  return parts_.master.ReMountSegments(options_.node, segments(), core_.seen_log_position(),
                                       parts_.clock.Now() + kCallTimeout);
}

Status HeartbeatLoop::AdvanceEpochs() {
  for (SegmentDescriptor& segment : segments()) {
    segment.epoch.value += 1;
    RETURN_IF_ERROR(
        parts_.served.SetEpoch(segment.id, segment.epoch, parts_.clock.Now() + kCutTimeout));
    MutexLock lock(mutex_);
    for (SegmentDescriptor& own : segments_) {
      if (own.id == segment.id) own.epoch = segment.epoch;
    }
  }
  return Status::Ok();
}

// Mounting takes a name over from its earlier life (F057). Not from one that lives: two nodes with one name would throw each
// other out for ever.
Status HeartbeatLoop::CheckNames(TimePoint deadline) {
  if (!parts_.probe) return Status::Ok();
  ASSIGN_OR_RETURN(const std::vector<SegmentInfo> all, parts_.master.GetSegments({}, deadline));
  for (const SegmentDescriptor& own : segments()) {
    for (const SegmentInfo& other : all) {
      const SegmentDescriptor& theirs = other.descriptor;
      if (theirs.name != own.name || theirs.id == own.id || theirs.owner == own.owner) continue;
      if (!parts_.probe(theirs, deadline)) continue;
      return Status(ErrorCode::kSegmentAlreadyExists,
                    "the name '" + own.name + "' is in use by a live node at " + theirs.endpoint +
                        "; choose another name or stop that node");
    }
  }
  return Status::Ok();
}

void HeartbeatLoop::Publish(const Status& failure) {
  MutexLock lock(mutex_);
  mounted_ = core_.phase() == NodePhase::kMounted;
  if (!failure.ok()) last_failure_ = failure;
  if (mounted_) last_failure_ = Status::Ok();
  changed_.NotifyAll();
}

}  // namespace mooncake

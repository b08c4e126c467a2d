// What the master does so that a restart costs nothing: README.md, "Durability".
#include <algorithm>
#include <utility>

#include <glog/logging.h>

#include "master/server/master_service.h"

namespace mooncake {
namespace {

// How long those who wait for the log go on waiting when the master stops.
constexpr Duration kStopPatience = Seconds(2);

// Others may take what became free, so once more is not always enough; but nobody waits for ever.
constexpr int kRoomRounds = 3;

// Calls that begin something which the log has to know. A write that was begun may be ended, or nobody could.
bool Begins(MasterCall call) {
  switch (call) {
    case MasterCall::kPutStart:
    case MasterCall::kRemove:
    case MasterCall::kReplicaClear:
    case MasterCall::kRemoveByRegex:
    case MasterCall::kRemoveAll:
    case MasterCall::kRename:
    case MasterCall::kRenamePrefix:
    case MasterCall::kSetAttributes:
      return true;
    default:
      return false;
  }
}

}  // namespace

void MasterService::Restore(const Recovered& recovered, TimePoint begun) {
  RestoreSummary summary;
  summary.snapshot = recovered.snapshot;
  summary.snapshot_begun_ms = recovered.snapshot_begun_ms;
  summary.snapshot_records = recovered.snapshot_records;
  summary.log_records = recovered.log_records;
  summary.unusable_snapshots = recovered.unusable_snapshots;
  summary.holes = recovered.holes;
  core::RestoreArgs args;
  args.sequence = recovered.last_sequence;
  args.lease = options_.core.lease_ttl;
  // Whoever opened the state store has locked it: a predecessor that could still answer would have it.
  args.quiet = Duration::zero();
  FairLock lock(mutex_);
  summary.state = core_.Restore(clock_.Now(), recovered.restorer, args);
  summary.took = clock_.Now() - begun;
  restored_ = std::move(summary);
}

void MasterService::StartDurability(uint64_t sequence) {
  log_ = std::make_unique<LogWriter>(*store_, clock_, options_.log, sequence, [this](uint64_t up) {
    FairLock lock(mutex_);
    core_.LogDurable(up);
  });
  SnapshotSource source;
  source.term = term_;
  source.start = [this] {
    SliceLock lock(mutex_);
    return core_.StartSnapshot();
  };
  source.step = [this](core::SnapshotWalk& walk) {
    SliceLock lock(mutex_);
    return core_.Step(clock_.Now(), walk, options_.keys_per_step);
  };
  snapshotter_ =
      std::make_unique<Snapshotter>(*store_, *log_, clock_, options_.snapshots, std::move(source));
  // Put ids of this term must never be given out again. Without it the clock still tells terms apart.
  if (const Status saved = store_->SaveTerm(term_); !saved.ok())
    LOG(ERROR) << "the term cannot be kept, a clock that is set back could repeat it: "
               << saved.message();
  log_->Start();
  if (options_.background) snapshotter_->Start();
}

void MasterService::Publish() {
  if (log_ != nullptr) log_->Submit(core_.TakeLog());
}

Status MasterService::CheckLog(MasterCall call) const {
  if (log_ == nullptr || !Begins(call) || !log_->full()) return Status::Ok();
  const std::string trouble = log_->numbers().trouble;
  return {ErrorCode::kPersistentFail,
          "the master's log is not written fast enough, nothing is begun until it is" +
              (trouble.empty() ? "" : ": " + trouble)};
}

Status MasterService::AwaitLog(uint64_t sequence, TimePoint deadline) {
  return sequence == 0 ? Status::Ok() : log_->Await(sequence, deadline);
}

// What eviction gave up for a put is free once the log is durable: whoever found no room tries again then.
std::vector<Result<PutStartReply>> MasterService::BatchPutStart(std::span<const PutStartArgs> args,
                                                                TimePoint deadline) {
  auto replies = StartPuts(args, deadline);
  for (int round = 0; log_ != nullptr && round < kRoomRounds; ++round) {
    std::vector<size_t> without_room;
    std::vector<PutStartArgs> again;
    for (size_t i = 0; i < replies.size(); ++i) {
      if (replies[i].code() != ErrorCode::kNoAvailableHandle) continue;
      without_room.push_back(i);
      again.push_back(args[i]);
    }
    if (again.empty()) break;
    // The log may have been faster than we were.
    const uint64_t sequence = SpaceFreeAfter();
    if ((sequence == 0 && round > 0) || !AwaitLog(sequence, deadline).ok()) break;
    auto second = StartPuts(again, deadline);
    for (size_t i = 0; i < second.size(); ++i) replies[without_room[i]] = std::move(second[i]);
  }
  return replies;
}

uint64_t MasterService::SpaceFreeAfter() const {
  FairLock lock(mutex_);
  return core_.SpaceFreeAfter();
}

void MasterService::BeginShutdown() {
  if (log_ != nullptr) log_->BeginStop(kStopPatience);
  // Somebody may wait for the one that is being taken.
  if (snapshotter_ != nullptr) snapshotter_->Stop(Duration::zero());
  MutexLock lock(wake_mutex_);
  stopping_.store(true);
  wake_.NotifyAll();
}

std::optional<DurabilityNumbers> MasterService::durability() const {
  if (log_ == nullptr) return std::nullopt;
  DurabilityNumbers numbers;
  numbers.log = log_->numbers();
  numbers.snapshots = snapshotter_->numbers();
  numbers.held_bytes = core_counters().held;
  return numbers;
}

}  // namespace mooncake

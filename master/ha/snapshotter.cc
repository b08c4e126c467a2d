#include "master/ha/snapshotter.h"

#include <algorithm>
#include <utility>

#include <glog/logging.h>

namespace mooncake {
namespace {

// Between two looks at how the log has grown.
constexpr Duration kLook = Seconds(1);

void CountDuration(SnapshotNumbers& numbers) {
  const int64_t ms = ToMillis(numbers.last_duration);
  size_t bucket = 0;
  while (bucket < kSnapshotMsBounds.size() && ms > kSnapshotMsBounds[bucket]) ++bucket;
  ++numbers.durations[bucket];
  numbers.total_ms += static_cast<uint64_t>(ms);
}

Status Stopped() { return {ErrorCode::kUnavailableInCurrentStatus, "the master is stopping"}; }

}  // namespace

Snapshotter::Snapshotter(StateStore& store, LogWriter& log, const Clock& clock,
                         const SnapshotterOptions& options, SnapshotSource source)
    : store_(store),
      log_(log),
      clock_(clock),
      options_(options),
      source_(std::move(source)),
      last_time_(clock.Now()),
      last_sequence_(log.numbers().durable) {}

Snapshotter::~Snapshotter() {
  Stop(Duration::zero());
  if (thread_.joinable()) thread_.join();
}

void Snapshotter::Start() {
  thread_ = std::thread([this] { Loop(); });
}

bool Snapshotter::Stop(Duration grace) {
  MutexLock lock(mutex_);
  stopping_ = true;
  wake_.NotifyAll();
  const TimePoint deadline = SaturatingAdd(clock_.Now(), grace);
  const auto busy = [this]()
                        MC_REQUIRES(mutex_) { return taking_ || (thread_.joinable() && !ended_); };
  while (busy() && clock_.Now() < deadline) ended_changed_.WaitFor(mutex_, deadline - clock_.Now());
  return !busy();
}

Status Snapshotter::CheckTime(TimePoint deadline) const {
  MutexLock lock(mutex_);
  if (stopping_) return Stopped();
  if (clock_.Now() < deadline) return Status::Ok();
  return {ErrorCode::kRpcTimeout, "the deadline has passed before the snapshot was complete"};
}

SnapshotNumbers Snapshotter::numbers() const {
  MutexLock lock(mutex_);
  return numbers_;
}

bool Snapshotter::Due() {
  if (clock_.Now() - last_time_ >= options_.interval) return true;
  const uint64_t grown = log_.numbers().durable - last_sequence_;
  return grown >= std::max(options_.log_records, 4 * numbers_.last.footer.records);
}

void Snapshotter::Loop() {
  for (;;) {
    {
      MutexLock lock(mutex_);
      while (!stopping_ && !Due()) wake_.WaitFor(mutex_, kLook);
      if (stopping_) {
        ended_ = true;
        ended_changed_.NotifyAll();
        return;
      }
    }
    TakeNow().Ignore("it is logged and counted; the next one comes");
  }
}

Result<SnapshotInfo> Snapshotter::TakeNow(TimePoint deadline) {
  {
    MutexLock lock(mutex_);
    if (stopping_) return Stopped();
    if (taking_)
      return {ErrorCode::kUnavailableInCurrentStatus, "a snapshot is being taken already"};
    taking_ = true;
  }
  const TimePoint begun = clock_.Now();
  Result<SnapshotInfo> taken = Take(deadline);
  const Status tidied = taken.ok() ? Tidy() : Status::Ok();
  MutexLock lock(mutex_);
  taking_ = false;
  ended_changed_.NotifyAll();
  // Whoever has no time is no sign of trouble, and no reason to leave out the one that is due.
  if (taken.code() == ErrorCode::kRpcTimeout) return taken;
  last_time_ = clock_.Now();
  numbers_.last_duration = last_time_ - begun;
  numbers_.trouble = taken.ok() ? "" : taken.message();
  if (taken.ok()) {
    ++numbers_.taken;
    CountDuration(numbers_);
    numbers_.last = *taken;
    last_sequence_ = taken->footer.from;
    LOG(INFO) << "snapshot id=" << taken->id << " records=" << taken->footer.records
              << " bytes=" << taken->bytes << " ms=" << ToMillis(numbers_.last_duration);
    if (!tidied.ok()) LOG(WARNING) << "old snapshots and log records stay: " << tidied.message();
  } else if (!stopping_) {
    ++numbers_.failed;
    LOG(ERROR) << "no snapshot could be taken; the last one stays: " << taken.message();
  }
  return taken;
}

Result<SnapshotInfo> Snapshotter::Take(TimePoint deadline) {
  SnapshotFooter footer;
  footer.term = source_.term;
  footer.wall_ms = clock_.WallNow().ns / 1'000'000;
  ASSIGN_OR_RETURN(const auto writer, store_.BeginSnapshot(footer.wall_ms));
  RETURN_IF_ERROR(Write(*writer, footer, deadline));
  // Records of versions that the log does not know yet must not outlive those that say what happened to them.
  RETURN_IF_ERROR(AwaitLog(footer.until, deadline));
  return writer->Finish(footer);
}

Status Snapshotter::Write(SnapshotWriter& writer, SnapshotFooter& footer, TimePoint deadline) {
  core::SnapshotWalk walk = source_.start();
  footer.from = walk.from;
  for (bool done = false; !done;) {
    RETURN_IF_ERROR(CheckTime(deadline));
    done = source_.step(walk);
    for (const core::Record& record : walk.records) RETURN_IF_ERROR(writer.Add(record));
    walk.records.clear();
  }
  footer.until = walk.until;
  return Status::Ok();
}

Status Snapshotter::AwaitLog(uint64_t sequence, TimePoint deadline) {
  for (;;) {
    const Status status =
        log_.Await(sequence, std::min(deadline, SaturatingAdd(clock_.Now(), kLook)));
    if (status.ok()) return status;
    RETURN_IF_ERROR(CheckTime(deadline));
  }
}

// Keeps the newest healthy snapshots and nothing else, and of the log what the oldest of them needs.
Status Snapshotter::Tidy() {
  ASSIGN_OR_RETURN(const std::vector<SnapshotInfo> snapshots, store_.ListSnapshots());
  const auto healthy = std::count_if(snapshots.begin(), snapshots.end(),
                                     [](const SnapshotInfo& s) { return s.health.ok(); });
  if (healthy < static_cast<std::ptrdiff_t>(options_.retention)) return Status::Ok();
  uint32_t kept = 0;
  uint64_t needed_after = 0;
  for (const SnapshotInfo& snapshot : snapshots) {
    if (snapshot.health.ok() && kept < options_.retention) {
      ++kept;
      needed_after = snapshot.footer.from;
      continue;
    }
    RETURN_IF_ERROR(store_.DeleteSnapshot(snapshot.id));
  }
  return store_.TrimLog(needed_after);
}

}  // namespace mooncake

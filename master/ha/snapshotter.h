// Takes snapshots: one when asked, or one each interval in a thread of its own. Keeps as many as it was told to, and trims the log.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "master/core/walks.h"
#include "master/ha/log_writer.h"
#include "master/ha/state_store.h"
#include "transfer/base/clock.h"
#include "transfer/base/mutex.h"

namespace mooncake {

struct SnapshotterOptions {
  Duration interval = Seconds(600);
  uint32_t retention = 2;  // healthy ones that are kept; at least 1
  // One is taken before its time when the log has grown by so much, or by four times the records of the last one if that is more:
  // reading the log at a start should not take much longer than reading the snapshot.
  uint64_t log_records = 1 << 22;
};

// How the state is walked: under whatever lock guards it, one step at a time.
struct SnapshotSource {
  Term term;
  std::function<core::SnapshotWalk()> start;
  std::function<bool(core::SnapshotWalk&)> step;  // true: done
};

// How long the ones that worked took: how many at most each bound.
inline constexpr std::array<int64_t, 7> kSnapshotMsBounds = {10,     100,     1'000,  10'000,
                                                             60'000, 300'000, 900'000};

struct SnapshotNumbers {
  uint64_t taken = 0;
  uint64_t failed = 0;
  std::array<uint64_t, kSnapshotMsBounds.size() + 1> durations{};  // last: longer than all bounds
  uint64_t total_ms = 0;
  Duration last_duration{};
  SnapshotInfo last;
  std::string trouble;  // of the last attempt; "" when it worked
};

// Thread-safe.
class Snapshotter {
 public:
  // All must outlive it. `last` is the log's position up to which a snapshot is not needed: that of the restored one.
  Snapshotter(StateStore& store, LogWriter& log, const Clock& clock,
              const SnapshotterOptions& options, SnapshotSource source);
  ~Snapshotter();

  void Start();
  // False when the thread is in the storage for longer than `grace`: then the object cannot be destroyed before that answers.
  bool Stop(Duration grace);

  // Fails when one is being taken, when the storage fails, at a stop, or (kRpcTimeout) at the deadline; what was there before
  // stays as it was.
  Result<SnapshotInfo> TakeNow(TimePoint deadline = kNever);
  SnapshotNumbers numbers() const;

 private:
  void Loop();
  bool Due() MC_REQUIRES(mutex_);
  Status CheckTime(TimePoint deadline) const;
  Result<SnapshotInfo> Take(TimePoint deadline);
  Status Write(SnapshotWriter& writer, SnapshotFooter& footer, TimePoint deadline);
  Status AwaitLog(uint64_t sequence, TimePoint deadline);
  Status Tidy();

  StateStore& store_;
  LogWriter& log_;
  const Clock& clock_;
  const SnapshotterOptions options_;
  const SnapshotSource source_;

  mutable Mutex mutex_;
  CondVar wake_;
  CondVar ended_changed_;
  bool taking_ MC_GUARDED_BY(mutex_) = false;
  bool stopping_ MC_GUARDED_BY(mutex_) = false;
  bool ended_ MC_GUARDED_BY(mutex_) = false;
  TimePoint last_time_ MC_GUARDED_BY(mutex_){};
  uint64_t last_sequence_ MC_GUARDED_BY(mutex_) = 0;
  SnapshotNumbers numbers_ MC_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace mooncake

// Writes records to the log in a thread of its own, as many as are waiting with one synchronisation (group commit), and lets others
// wait until theirs are durable.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "master/ha/state_store.h"
#include "transfer/base/clock.h"
#include "transfer/base/mutex.h"

namespace mooncake {

struct LogWriterOptions {
  size_t records_per_commit = 4096;
  uint64_t max_waiting = 1 << 20;     // records; see full()
  Duration retry_every = Seconds(1);  // after a failure
};

struct LogNumbers {
  uint64_t durable = 0;  // sequence
  uint64_t waiting = 0;  // records
  uint64_t commits = 0;
  uint64_t failures = 0;
  std::string trouble;  // of the last attempt; "" when it worked
};

// Thread-safe. When the storage fails, the same records are tried again until it works: nothing that was done is undone.
class LogWriter {
 public:
  // `store` and `clock` must outlive it. Everything up to `durable` is in the store already. `on_durable` is called by the
  // writing thread with no lock held, before those who wait are let go.
  LogWriter(StateStore& store, const Clock& clock, const LogWriterOptions& options,
            uint64_t durable, std::function<void(uint64_t)> on_durable);
  ~LogWriter();

  void Start();
  // Writes what is waiting and ends. False when that takes longer than `grace`: the storage does not answer, and the object cannot
  // be destroyed before it does.
  bool Stop(Duration grace);
  // Those who wait, wait no longer than `grace` from now on, and what is waiting is still written. For a quick exit.
  void BeginStop(Duration grace);

  // Consecutive sequences. Takes no longer than a push.
  void Submit(std::vector<core::LogRecord> records);
  // OK when the log is durable up to there; kRpcTimeout, with the storage's trouble, when it is not by `deadline`.
  Status Await(uint64_t sequence, TimePoint deadline);
  // So much waits that no more should be begun: the storage is too slow, or has failed for long.
  bool full() const;
  LogNumbers numbers() const;

 private:
  void Loop();
  std::vector<core::LogRecord> NextBatch();
  bool Write(const std::vector<core::LogRecord>& batch);
  void Settle(const std::vector<core::LogRecord>& batch, const Status& status);

  StateStore& store_;
  const Clock& clock_;
  const LogWriterOptions options_;
  const std::function<void(uint64_t)> on_durable_;

  mutable Mutex mutex_;
  CondVar submitted_;  // or stopping
  CondVar settled_;    // durable_ moved, or the thread ended
  std::deque<core::LogRecord> waiting_ MC_GUARDED_BY(mutex_);
  LogNumbers numbers_ MC_GUARDED_BY(mutex_);
  bool stopping_ MC_GUARDED_BY(mutex_) = false;
  TimePoint waits_end_ MC_GUARDED_BY(mutex_) = kNever;
  bool ended_ MC_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace mooncake

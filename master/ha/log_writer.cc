#include "master/ha/log_writer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <glog/logging.h>

namespace mooncake {

LogWriter::LogWriter(StateStore& store, const Clock& clock, const LogWriterOptions& options,
                     uint64_t durable, std::function<void(uint64_t)> on_durable)
    : store_(store), clock_(clock), options_(options), on_durable_(std::move(on_durable)) {
  numbers_.durable = durable;
}

LogWriter::~LogWriter() {
  Stop(Duration::zero());
  if (thread_.joinable()) thread_.join();
}

void LogWriter::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void LogWriter::BeginStop(Duration grace) {
  MutexLock lock(mutex_);
  stopping_ = true;
  waits_end_ = std::min(waits_end_, SaturatingAdd(clock_.Now(), grace));
  submitted_.NotifyAll();
}

bool LogWriter::Stop(Duration grace) {
  BeginStop(grace);
  MutexLock lock(mutex_);
  if (!thread_.joinable()) return true;
  const TimePoint deadline = SaturatingAdd(clock_.Now(), grace);
  while (!ended_ && clock_.Now() < deadline) settled_.WaitFor(mutex_, deadline - clock_.Now());
  return ended_;
}

void LogWriter::Submit(std::vector<core::LogRecord> records) {
  if (records.empty()) return;
  MutexLock lock(mutex_);
  waiting_.insert(waiting_.end(), std::make_move_iterator(records.begin()),
                  std::make_move_iterator(records.end()));
  numbers_.waiting = waiting_.size();
  submitted_.NotifyOne();
}

Status LogWriter::Await(uint64_t sequence, TimePoint deadline) {
  MutexLock lock(mutex_);
  while (numbers_.durable < sequence && !ended_) {
    const TimePoint now = clock_.Now();
    if (now >= std::min(deadline, waits_end_)) break;
    settled_.WaitFor(mutex_, std::min<Duration>(deadline - now, Millis(100)));
  }
  if (numbers_.durable >= sequence) return Status::Ok();
  return {ErrorCode::kRpcTimeout,
          "done, but not yet written to the log: " +
              (numbers_.trouble.empty() ? std::string("the storage is slow") : numbers_.trouble)};
}

bool LogWriter::full() const {
  MutexLock lock(mutex_);
  return waiting_.size() >= options_.max_waiting;
}

LogNumbers LogWriter::numbers() const {
  MutexLock lock(mutex_);
  return numbers_;
}

// What is to be written next; empty when the thread should end.
std::vector<core::LogRecord> LogWriter::NextBatch() {
  MutexLock lock(mutex_);
  while (waiting_.empty() && !stopping_) submitted_.Wait(mutex_);
  const size_t count = std::min(waiting_.size(), options_.records_per_commit);
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<core::LogRecord> batch(std::make_move_iterator(waiting_.begin()),
                                     std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  return batch;
}

void LogWriter::Settle(const std::vector<core::LogRecord>& batch, const Status& status) {
  MutexLock lock(mutex_);
  if (status.ok()) {
    numbers_.durable = batch.back().sequence;
    numbers_.waiting = waiting_.size();
    ++numbers_.commits;
    if (!numbers_.trouble.empty()) LOG(INFO) << "the log is written again";
    numbers_.trouble.clear();
  } else {
    ++numbers_.failures;
    if (numbers_.trouble.empty()) {
      LOG(ERROR) << "the log cannot be written, tried again every "
                 << ToMillis(options_.retry_every) << " ms: " << status.message();
    }
    numbers_.trouble = status.message();
    settled_.NotifyAll();
    const TimePoint again = SaturatingAdd(clock_.Now(), options_.retry_every);
    while (!stopping_ && clock_.Now() < again) submitted_.WaitFor(mutex_, again - clock_.Now());
  }
  settled_.NotifyAll();
}

// False: given up, since the storage fails and the writer is to stop.
bool LogWriter::Write(const std::vector<core::LogRecord>& batch) {
  for (;;) {
    const Status status = store_.Append(batch);
    if (status.ok()) on_durable_(batch.back().sequence);
    Settle(batch, status);
    if (status.ok()) return true;
    MutexLock lock(mutex_);
    if (stopping_) return false;
  }
}

void LogWriter::Loop() {
  for (;;) {
    const std::vector<core::LogRecord> batch = NextBatch();
    if (batch.empty() || !Write(batch)) break;
  }
  MutexLock lock(mutex_);
  ended_ = true;
  settled_.NotifyAll();
}

}  // namespace mooncake

// A state store in memory, with faults: what a disk would keep after a crash is what was given to it with success.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "master/ha/state_store.h"
#include "transfer/base/mutex.h"

namespace mooncake::testing {

// The disk: outlives the stores that are opened on it. Thread-safe.
struct MemoryDisk {
  Mutex mutex;
  Term term MC_GUARDED_BY(mutex);
  std::map<uint64_t, core::Record> log MC_GUARDED_BY(mutex);
  std::map<std::string, std::pair<SnapshotFooter, std::vector<core::Record>>> snapshots
      MC_GUARDED_BY(mutex);
  uint64_t next_id MC_GUARDED_BY(mutex) = 1;
  bool full MC_GUARDED_BY(mutex) = false;  // everything that writes fails

  void SetFull(bool value) {
    MutexLock lock(mutex);
    full = value;
  }
};

class MemoryStateStore final : public StateStore {
 public:
  explicit MemoryStateStore(std::shared_ptr<MemoryDisk> disk) : disk_(std::move(disk)) {}

  Result<Term> LoadTerm() override {
    MutexLock lock(disk_->mutex);
    return disk_->term;
  }
  Status SaveTerm(Term term) override {
    MutexLock lock(disk_->mutex);
    RETURN_IF_ERROR(Room());
    disk_->term = term;
    return Status::Ok();
  }
  Status Append(std::span<const core::LogRecord> records) override {
    MutexLock lock(disk_->mutex);
    RETURN_IF_ERROR(Room());
    for (const core::LogRecord& record : records) disk_->log[record.sequence] = record.record;
    return Status::Ok();
  }
  Status ReadLog(uint64_t after, const LogSink& sink) override {
    MutexLock lock(disk_->mutex);
    for (auto it = disk_->log.upper_bound(after); it != disk_->log.end(); ++it) {
      if (!sink(it->first, it->second)) break;
    }
    return Status::Ok();
  }
  Status TrimLog(uint64_t upto) override {
    MutexLock lock(disk_->mutex);
    disk_->log.erase(disk_->log.begin(), disk_->log.upper_bound(upto));
    return Status::Ok();
  }
  Result<std::unique_ptr<SnapshotWriter>> BeginSnapshot(int64_t) override {
    return std::unique_ptr<SnapshotWriter>(std::make_unique<Writer>(*this));
  }
  Result<std::vector<SnapshotInfo>> ListSnapshots() override {
    MutexLock lock(disk_->mutex);
    std::vector<SnapshotInfo> infos;
    for (const auto& [id, snapshot] : disk_->snapshots)
      infos.push_back({id, snapshot.first, 0, Status::Ok()});
    std::reverse(infos.begin(), infos.end());
    return infos;
  }
  Result<SnapshotFooter> ReadSnapshot(const std::string& id, const RecordSink& sink) override {
    MutexLock lock(disk_->mutex);
    const auto found = disk_->snapshots.find(id);
    if (found == disk_->snapshots.end()) return {ErrorCode::kPersistentFail, "no snapshot " + id};
    for (const core::Record& record : found->second.second) {
      if (!sink(record)) break;
    }
    return found->second.first;
  }
  Status DeleteSnapshot(const std::string& id) override {
    MutexLock lock(disk_->mutex);
    if (disk_->snapshots.erase(id) == 0) return {ErrorCode::kPersistentFail, "no snapshot " + id};
    return Status::Ok();
  }

 private:
  class Writer final : public SnapshotWriter {
   public:
    explicit Writer(MemoryStateStore& store) : store_(store) {}
    Status Add(const core::Record& record) override {
      records_.push_back(record);
      return Status::Ok();
    }
    Result<SnapshotInfo> Finish(SnapshotFooter footer) override {
      MemoryDisk& disk = *store_.disk_;
      MutexLock lock(disk.mutex);
      RETURN_IF_ERROR(store_.Room());
      footer.records = records_.size();
      std::string id = std::to_string(1'000'000 + disk.next_id++);
      disk.snapshots[id] = {footer, std::move(records_)};
      return SnapshotInfo{std::move(id), footer, 0, Status::Ok()};
    }

   private:
    MemoryStateStore& store_;
    std::vector<core::Record> records_;
  };

  Status Room() const MC_REQUIRES(disk_->mutex) {
    if (!disk_->full) return Status::Ok();
    return {ErrorCode::kPersistentFail, "no space left on device"};
  }

  const std::shared_ptr<MemoryDisk> disk_;
};

}  // namespace mooncake::testing

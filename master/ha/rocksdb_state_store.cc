#include "master/ha/rocksdb_state_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "master/ha/rocksdb_log.h"
#include "master/ha/sst_snapshots.h"
#include "master/ha/storage_error.h"
#include "transfer/base/unique_fd.h"

namespace mooncake {
namespace {

class RocksDbStateStore final : public StateStore {
 public:
  RocksDbStateStore(const std::string& folder, UniqueFd lock)
      : lock_(std::move(lock)), log_(folder + "/log"), snapshots_(folder + "/snapshots") {}

  Status Open() {
    RETURN_IF_ERROR(snapshots_.Open());
    return log_.Open();
  }

  Result<Term> LoadTerm() override { return log_.LoadTerm(); }
  Status SaveTerm(Term term) override { return log_.SaveTerm(term); }
  Status Append(std::span<const core::LogRecord> records) override { return log_.Append(records); }
  Status ReadLog(uint64_t after, const LogSink& sink) override { return log_.Read(after, sink); }
  Status TrimLog(uint64_t upto) override { return log_.Trim(upto); }
  Result<std::unique_ptr<SnapshotWriter>> BeginSnapshot(int64_t wall_ms) override {
    return snapshots_.Begin(wall_ms);
  }
  Result<std::vector<SnapshotInfo>> ListSnapshots() override { return snapshots_.List(); }
  Result<SnapshotFooter> ReadSnapshot(const std::string& id, const RecordSink& sink) override {
    return snapshots_.Read(id, sink);
  }
  Status DeleteSnapshot(const std::string& id) override { return snapshots_.Delete(id); }

 private:
  const UniqueFd lock_;  // goes last
  RocksDbLog log_;
  SstSnapshots snapshots_;
};

}  // namespace

Result<std::unique_ptr<StateStore>> OpenRocksDbStateStore(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return StorageError(folder);
  const std::string path = folder + "/lock";
  UniqueFd lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock.get() < 0) return StorageError(path);
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return StorageError(path);
    return {ErrorCode::kUnavailableInCurrentStatus,
            folder + " is in use by another master; stop it, or choose another folder"};
  }
  auto store = std::make_unique<RocksDbStateStore>(folder, std::move(lock));
  RETURN_IF_ERROR(store->Open());
  return std::unique_ptr<StateStore>(std::move(store));
}

}  // namespace mooncake

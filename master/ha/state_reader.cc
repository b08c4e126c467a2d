#include "master/ha/state_reader.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "master/api/durability_types.h"
#include "master/ha/rocksdb_log.h"
#include "master/ha/sst_snapshots.h"
#include "master/ha/storage_error.h"
#include "transfer/base/unique_fd.h"

namespace mooncake {
namespace {

namespace fs = std::filesystem;

class RocksDbStateReader final : public StateReader {
 public:
  explicit RocksDbStateReader(const std::string& folder)
      : folder_(folder), log_(folder + "/log"), snapshots_(folder + "/snapshots") {}

  Result<std::vector<SnapshotInfo>> ListSnapshots() override { return snapshots_.List(); }
  Result<SnapshotFooter> ReadSnapshot(const std::string& id, const RecordSink& sink) override {
    if (!IsSnapshotId(id))
      return {ErrorCode::kInvalidParams, "'" + id + "' is no id of a snapshot"};
    return snapshots_.Read(id, sink);
  }
  Status OpenLog() override {
    RETURN_IF_ERROR(CheckUnused());
    return log_.OpenToRead();
  }
  Result<Term> LoadTerm() override { return log_.LoadTerm(); }
  Status ReadLog(uint64_t after, const LogSink& sink) override { return log_.Read(after, sink); }

 private:
  // The lock is shared, and let go of at once: a master that starts at this very moment might be refused, no other.
  Status CheckUnused() const {
    const std::string path = folder_ + "/lock";
    const UniqueFd lock(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    // A copy of the folder may lack it.
    if (lock.get() < 0 && errno == ENOENT) return Status::Ok();
    if (lock.get() >= 0 && flock(lock.get(), LOCK_SH | LOCK_NB) == 0) return Status::Ok();
    if (errno == EWOULDBLOCK)
      return {ErrorCode::kUnavailableInCurrentStatus, "a running master uses " + folder_};
    return StorageError(path);
  }

  const std::string folder_;
  RocksDbLog log_;
  SstSnapshots snapshots_;
};

}  // namespace

Result<std::unique_ptr<StateReader>> OpenStateReader(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    return {ErrorCode::kPersistentFail,
            folder + ": " + (error ? error.message() : std::string("it is no folder"))};
  }
  if (!fs::is_directory(folder + "/log", error) &&
      !fs::is_directory(folder + "/snapshots", error)) {
    return {ErrorCode::kPersistentFail,
            folder + ": it has neither log/ nor snapshots/, so it is no master's --state_dir"};
  }
  return std::unique_ptr<StateReader>(std::make_unique<RocksDbStateReader>(folder));
}

}  // namespace mooncake

// The log and the term in a RocksDB; for rocksdb_state_store.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "master/ha/state_store.h"
#include "transfer/base/mutex.h"

namespace rocksdb {
class DB;
}

namespace mooncake {

// Thread-safe. A database that failed to write is opened anew by the next write, since RocksDB stays read-only after an error.
class RocksDbLog {
 public:
  explicit RocksDbLog(std::string folder) : folder_(std::move(folder)) {}

  // The first call. Repairs, sets aside, or opens without writing: see OpenRocksDbStateStore.
  Status Open();
  // Instead of Open, for who only looks: nothing is written, and a log that can be read in part is.
  Status OpenToRead();
  Result<Term> LoadTerm();
  Status SaveTerm(Term term);
  Status Append(std::span<const core::LogRecord> records);
  Status Read(uint64_t after, const LogSink& sink);
  Status Trim(uint64_t upto);

 private:
  using Database = std::shared_ptr<rocksdb::DB>;

  bool OpenDamaged() MC_REQUIRES(mutex_);
  Result<Database> ForReading();
  Result<Database> ForWriting();
  void Drop(const Database& failed);

  const std::string folder_;
  Mutex mutex_;
  Database database_ MC_GUARDED_BY(mutex_);
  bool read_only_ MC_GUARDED_BY(mutex_) = false;
  // What was found damaged may have had records that nothing tells of any more. Kept in the database until something is appended:
  // after that the sequences show the hole.
  bool damaged_ MC_GUARDED_BY(mutex_) = false;
};

}  // namespace mooncake

#include "master/ha/rocksdb_log.h"

#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <utility>

#include <glog/logging.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include "master/core/codec/record_codec.h"
#include "master/ha/rocksdb_keys.h"

namespace mooncake {
namespace {

namespace fs = std::filesystem;

constexpr char kTermKey[] = "T";
constexpr char kDamagedKey[] = "D";
constexpr char kLogPrefix = 'L';

std::string LogKey(uint64_t sequence) { return kLogPrefix + BigEndian(sequence); }

// RocksDB's own log file would be on the same disk, and Debian's build ends the process when it cannot be written.
class ToOurLog final : public rocksdb::Logger {
 public:
  ToOurLog() : Logger(rocksdb::WARN_LEVEL) {}
  using Logger::Logv;
  __attribute__((format(printf, 2, 0))) void Logv(const char* format, va_list arguments) override {
    char line[1024];
    std::vsnprintf(line, sizeof line, format, arguments);
    VLOG(1) << "RocksDB: " << line;  // what matters comes as a status, and is told once
  }
};

rocksdb::Options LogOptions() {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kLZ4Compression;
  options.info_log = std::make_shared<ToOurLog>();
  options.max_total_wal_size = uint64_t{256} << 20;
  // The torn end that a crash leaves is left out; damage is an error here.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  return options;
}

// Whatever can still be read.
rocksdb::Options SalvageOptions() {
  rocksdb::Options options = LogOptions();
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
  return options;
}

enum class Access { kRead, kWrite };

rocksdb::Status OpenWith(const rocksdb::Options& options, const std::string& folder, Access access,
                         std::shared_ptr<rocksdb::DB>& out) {
  rocksdb::DB* raw = nullptr;
  const rocksdb::Status status = access == Access::kRead
                                     ? rocksdb::DB::OpenForReadOnly(options, folder, &raw)
                                     : rocksdb::DB::Open(options, folder, &raw);
  if (status.ok()) out.reset(raw);
  return status;
}

void SetAside(const std::string& folder) {
  std::error_code error;
  for (int i = 1; i < 1000; ++i) {
    const std::string name = folder + ".bad-" + std::to_string(i);
    if (fs::exists(name, error)) continue;
    fs::rename(folder, name, error);
    LOG(ERROR) << "the log " << folder << " cannot be opened and was set aside as " << name
               << "; versions that only it knows are lost";
    return;
  }
}

}  // namespace

Status RocksDbLog::Open() {
  MutexLock lock(mutex_);
  const rocksdb::Status status = OpenWith(LogOptions(), folder_, Access::kWrite, database_);
  if (status.ok()) {
    std::string value;
    damaged_ = database_->Get(rocksdb::ReadOptions(), kDamagedKey, &value).ok();
    return Status::Ok();
  }
  LOG(WARNING) << "the log " << folder_ << " cannot be opened for writing: " << status.ToString();
  if (OpenWith(LogOptions(), folder_, Access::kRead, database_).ok()) {
    read_only_ = true;
    return Status::Ok();
  }
  // Without space there is nothing to repair.
  if (status.IsNoSpace()) return FromRocksDb(status, "opening " + folder_);
  if (!OpenDamaged()) {
    SetAside(folder_);
    RETURN_IF_ERROR(FromRocksDb(OpenWith(LogOptions(), folder_, Access::kWrite, database_),
                                "creating " + folder_));
  }
  damaged_ = true;
  rocksdb::WriteOptions options;
  options.sync = true;
  return FromRocksDb(database_->Put(options, kDamagedKey, ""), "noting the damage in " + folder_);
}

Status RocksDbLog::OpenToRead() {
  MutexLock lock(mutex_);
  const rocksdb::Status status = OpenWith(LogOptions(), folder_, Access::kRead, database_);
  if (!status.ok()) {
    if (!OpenWith(SalvageOptions(), folder_, Access::kRead, database_).ok())
      return FromRocksDb(status, "opening " + folder_);
    damaged_ = true;
  }
  read_only_ = true;
  std::string value;
  if (database_->Get(rocksdb::ReadOptions(), kDamagedKey, &value).ok()) damaged_ = true;
  return Status::Ok();
}

bool RocksDbLog::OpenDamaged() {
  if (OpenWith(SalvageOptions(), folder_, Access::kWrite, database_).ok()) return true;
  return rocksdb::RepairDB(folder_, SalvageOptions()).ok() &&
         OpenWith(SalvageOptions(), folder_, Access::kWrite, database_).ok();
}

Result<RocksDbLog::Database> RocksDbLog::ForReading() {
  MutexLock lock(mutex_);
  if (database_ != nullptr) return database_;
  const rocksdb::Status status = OpenWith(LogOptions(), folder_, Access::kRead, database_);
  if (!status.ok()) return FromRocksDb(status, "opening " + folder_);
  read_only_ = true;
  return database_;
}

Result<RocksDbLog::Database> RocksDbLog::ForWriting() {
  MutexLock lock(mutex_);
  if (database_ != nullptr && !read_only_) return database_;
  database_.reset();
  const rocksdb::Status status = OpenWith(LogOptions(), folder_, Access::kWrite, database_);
  if (!status.ok()) return FromRocksDb(status, "opening " + folder_);
  read_only_ = false;
  return database_;
}

void RocksDbLog::Drop(const Database& failed) {
  MutexLock lock(mutex_);
  if (database_ == failed) database_.reset();
}

Result<Term> RocksDbLog::LoadTerm() {
  ASSIGN_OR_RETURN(const Database database, ForReading());
  std::string value;
  const rocksdb::Status status = database->Get(rocksdb::ReadOptions(), kTermKey, &value);
  if (status.IsNotFound()) return Term{0};
  RETURN_IF_ERROR(FromRocksDb(status, "reading the term"));
  if (value.size() != 8) return Status(ErrorCode::kPersistentFail, "the term is damaged");
  return Term{FromBigEndian(value)};
}

Status RocksDbLog::SaveTerm(Term term) {
  ASSIGN_OR_RETURN(const Database database, ForWriting());
  rocksdb::WriteOptions options;
  options.sync = true;
  const rocksdb::Status status = database->Put(options, kTermKey, BigEndian(term.value));
  if (!status.ok()) Drop(database);
  return FromRocksDb(status, "writing the term");
}

Status RocksDbLog::Append(std::span<const core::LogRecord> records) {
  ASSIGN_OR_RETURN(const Database database, ForWriting());
  rocksdb::WriteBatch batch;
  for (const core::LogRecord& record : records)
    batch.Put(LogKey(record.sequence), core::EncodeRecord(record.record));
  batch.Delete(kDamagedKey);
  rocksdb::WriteOptions options;
  options.sync = true;
  const rocksdb::Status status = database->Write(options, &batch);
  if (!status.ok()) {
    Drop(database);
  } else {
    MutexLock lock(mutex_);
    damaged_ = false;
  }
  return FromRocksDb(status, "writing the log");
}

Status RocksDbLog::Read(uint64_t after, const LogSink& sink) {
  ASSIGN_OR_RETURN(const Database database, ForReading());
  const std::unique_ptr<rocksdb::Iterator> it(database->NewIterator(rocksdb::ReadOptions()));
  SkippingWalk walk(*it, [](uint64_t sequence) { return LogKey(sequence); });
  uint64_t last = after;
  for (walk.Seek(after + 1); walk.Valid(); walk.Next()) {
    const rocksdb::Slice key = it->key();
    if (key.size() != 9 || key[0] != kLogPrefix) break;
    last = FromBigEndian(std::string_view(key.data() + 1, 8));
    if (!sink(last, core::DecodeRecord(std::string_view(it->value().data(), it->value().size()))))
      return Status::Ok();
  }
  MutexLock lock(mutex_);
  if (damaged_) sink(last + 1, Status(ErrorCode::kPersistentFail, "the log was damaged"));
  return Status::Ok();
}

Status RocksDbLog::Trim(uint64_t upto) {
  ASSIGN_OR_RETURN(const Database database, ForWriting());
  const std::string begin = LogKey(0);
  const std::string end = LogKey(upto + 1);
  // Whole files at once; the rest is marked, and goes with the next compaction.
  const rocksdb::Slice from(begin);
  const rocksdb::Slice to(end);
  rocksdb::ColumnFamilyHandle* family = database->DefaultColumnFamily();
  rocksdb::Status status =
      rocksdb::DeleteFilesInRange(database.get(), family, &from, &to, /*include_end=*/false);
  if (status.ok()) status = database->DeleteRange(rocksdb::WriteOptions(), family, from, to);
  if (!status.ok()) Drop(database);
  return FromRocksDb(status, "trimming the log");
}

}  // namespace mooncake

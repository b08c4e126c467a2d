#include "master/ha/sst_snapshots.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <utility>

#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>

#include "master/core/codec/record_codec.h"
#include "master/ha/rocksdb_keys.h"
#include "master/ha/snapshot_footer.h"
#include "master/ha/storage_error.h"
#include "transfer/base/crc32c.h"
#include "transfer/base/unique_fd.h"

namespace mooncake {
namespace {

namespace fs = std::filesystem;

constexpr char kSuffix[] = ".sst";
constexpr char kUnfinished[] = ".tmp";
// Comes after each record's number.
const std::string kFooterKey(8, '\xff');

rocksdb::Options SstOptions() {
  rocksdb::Options options;
  options.compression = rocksdb::kLZ4Compression;
  return options;
}

// UTC, to the millisecond.
std::string IdAt(int64_t wall_ms) {
  const std::time_t seconds = wall_ms / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  const size_t size = std::strftime(text, sizeof text, "%Y%m%d_%H%M%S_", &parts);
  std::snprintf(text + size, sizeof text - size, "%03d", static_cast<int>(wall_ms % 1000));
  return text;
}

Status SyncFolder(const std::string& folder) {
  const UniqueFd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0 || fsync(fd.get()) != 0) return StorageError("synchronising " + folder);
  return Status::Ok();
}

// A checksum of records in order, to compare what was written with what is read.
struct Digest {
  uint64_t records = 0;
  uint32_t crc = 0;
  void Add(std::string_view bytes) {
    ++records;
    crc = Crc32c(AsBytes(bytes), crc);
  }
  friend bool operator==(const Digest&, const Digest&) = default;
};

Result<SnapshotFooter> ReadFooter(rocksdb::SstFileReader& reader) {
  const std::unique_ptr<rocksdb::Iterator> it(reader.NewIterator(rocksdb::ReadOptions()));
  it->Seek(kFooterKey);
  RETURN_IF_ERROR(FromRocksDb(it->status(), "reading the footer"));
  if (!it->Valid()) return {ErrorCode::kPersistentFail, "the footer is missing"};
  return DecodeFooter(std::string_view(it->value().data(), it->value().size()));
}

// Every record's bytes, with the damaged blocks passed over, until `visit` answers false.
template <typename F>
void ForEachRecord(rocksdb::SstFileReader& reader, F&& visit) {
  const std::unique_ptr<rocksdb::Iterator> it(reader.NewIterator(rocksdb::ReadOptions()));
  SkippingWalk walk(*it, BigEndian);
  for (walk.Seek(0); walk.Valid() && it->key().compare(kFooterKey) != 0; walk.Next()) {
    if (!visit(std::string_view(it->value().data(), it->value().size()))) return;
  }
}

class SstSnapshotWriter final : public SnapshotWriter {
 public:
  SstSnapshotWriter(std::string folder, std::string id)
      : folder_(std::move(folder)),
        id_(std::move(id)),
        unfinished_(folder_ + "/" + id_ + kUnfinished),
        writer_(rocksdb::EnvOptions(), SstOptions()) {}
  ~SstSnapshotWriter() override {
    std::error_code ignored;
    if (!finished_) fs::remove(unfinished_, ignored);
  }

  Status Open() { return FromRocksDb(writer_.Open(unfinished_), "creating " + unfinished_); }

  Status Add(const core::Record& record) override {
    const std::string bytes = core::EncodeRecord(record);
    const std::string key = BigEndian(written_.records);
    written_.Add(bytes);
    return FromRocksDb(writer_.Put(key, bytes), "writing " + unfinished_);
  }

  Result<SnapshotInfo> Finish(SnapshotFooter footer) override {
    footer.records = written_.records;
    RETURN_IF_ERROR(
        FromRocksDb(writer_.Put(kFooterKey, EncodeFooter(footer)), "writing " + unfinished_));
    RETURN_IF_ERROR(FromRocksDb(writer_.Finish(), "writing " + unfinished_));
    RETURN_IF_ERROR(ReadBack(footer));
    const std::string path = folder_ + "/" + id_ + kSuffix;
    std::error_code error;
    const uint64_t bytes = fs::file_size(unfinished_, error);
    if (std::rename(unfinished_.c_str(), path.c_str()) != 0)
      return StorageError("renaming to " + path);
    finished_ = true;
    RETURN_IF_ERROR(SyncFolder(folder_));
    return SnapshotInfo{id_, footer, bytes, Status::Ok()};
  }

 private:
  Status ReadBack(const SnapshotFooter& footer) {
    rocksdb::SstFileReader reader(SstOptions());
    RETURN_IF_ERROR(FromRocksDb(reader.Open(unfinished_), "reading back " + unfinished_));
    RETURN_IF_ERROR(FromRocksDb(reader.VerifyChecksum(), "reading back " + unfinished_));
    ASSIGN_OR_RETURN(const SnapshotFooter read, ReadFooter(reader));
    Digest digest;
    ForEachRecord(reader, [&](std::string_view bytes) {
      digest.Add(bytes);
      return true;
    });
    if (read == footer && digest == written_) return Status::Ok();
    return {ErrorCode::kPersistentFail,
            "reading back " + unfinished_ + ": it is not what was written"};
  }

  const std::string folder_;
  const std::string id_;
  const std::string unfinished_;
  rocksdb::SstFileWriter writer_;
  Digest written_;
  bool finished_ = false;
};

}  // namespace

Status SstSnapshots::Open() {
  std::error_code error;
  fs::create_directories(folder_, error);
  fs::directory_iterator entries(folder_, error);
  if (error) return {ErrorCode::kPersistentFail, folder_ + ": " + error.message()};
  for (const fs::directory_entry& entry : entries) {
    if (entry.path().extension() == kUnfinished) fs::remove(entry.path(), error);
  }
  return Status::Ok();
}

Result<std::unique_ptr<SnapshotWriter>> SstSnapshots::Begin(int64_t wall_ms) {
  std::string id = IdAt(wall_ms);
  std::error_code error;
  while (fs::exists(PathOf(id), error)) id = IdAt(++wall_ms);
  auto writer = std::make_unique<SstSnapshotWriter>(folder_, id);
  RETURN_IF_ERROR(writer->Open());
  return std::unique_ptr<SnapshotWriter>(std::move(writer));
}

Result<std::vector<SnapshotInfo>> SstSnapshots::List() {
  std::error_code error;
  fs::directory_iterator entries(folder_, error);
  if (error) return {ErrorCode::kPersistentFail, folder_ + ": " + error.message()};
  std::vector<SnapshotInfo> snapshots;
  for (const fs::directory_entry& entry : entries) {
    if (entry.path().extension() != kSuffix) continue;
    SnapshotInfo info;
    info.id = entry.path().stem();
    info.bytes = fs::file_size(entry.path(), error);
    rocksdb::SstFileReader reader(SstOptions());
    info.health = FromRocksDb(reader.Open(entry.path()), "opening it");
    if (info.health.ok()) {
      const auto footer = ReadFooter(reader);
      info.health = footer.status();
      if (footer.ok()) info.footer = *footer;
    }
    snapshots.push_back(std::move(info));
  }
  // By what they know, not by the clock. Those that say nothing come where their names put them among equals: last.
  std::sort(snapshots.begin(), snapshots.end(), [](const SnapshotInfo& a, const SnapshotInfo& b) {
    return std::pair(a.footer.until, a.id) > std::pair(b.footer.until, b.id);
  });
  return snapshots;
}

Result<SnapshotFooter> SstSnapshots::Read(const std::string& id, const RecordSink& sink) {
  rocksdb::SstFileReader reader(SstOptions());
  RETURN_IF_ERROR(FromRocksDb(reader.Open(PathOf(id)), "opening it"));
  ASSIGN_OR_RETURN(const SnapshotFooter footer, ReadFooter(reader));
  uint64_t read = 0;
  bool more = true;
  ForEachRecord(reader, [&](std::string_view bytes) {
    ++read;
    return more = sink(core::DecodeRecord(bytes));
  });
  for (; more && read < footer.records; ++read)
    more = sink(Status(ErrorCode::kPersistentFail, "a record lies in a damaged block"));
  return footer;
}

Status SstSnapshots::Delete(const std::string& id) {
  if (id.find('/') != std::string::npos || unlink(PathOf(id).c_str()) != 0)
    return StorageError("deleting snapshot " + id);
  return Status::Ok();
}

}  // namespace mooncake

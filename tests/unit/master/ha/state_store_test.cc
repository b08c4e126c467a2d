// What every state store does, and what the one on a disk does when the disk is damaged.
#include "master/ha/state_store.h"

#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "master/ha/recovery.h"
#include "master/ha/rocksdb_state_store.h"
#include "tests/support/process.h"
#include "tests/support/seeds.h"
#include "tests/unit/master/ha/ha_fixture.h"
#include "transfer/base/rng.h"

namespace mooncake {
namespace {

namespace fs = std::filesystem;
using testing::ASegment;
using testing::AVersion;
using testing::Gone;
using testing::Numbered;
using testing::TempFolder;

std::unique_ptr<StateStore> Open(const fs::path& folder) {
  auto store = OpenRocksDbStateStore(folder);
  EXPECT_TRUE(store.ok()) << store.message();
  return store.ok() ? std::move(store).value() : nullptr;
}

enum class Kind { kMemory, kRocksDb };

class StateStoreSuite : public ::testing::TestWithParam<Kind> {
 protected:
  StateStoreSuite() { Reopen(); }
  void Reopen() {
    store_.reset();
    if (GetParam() == Kind::kMemory) {
      store_ = std::make_unique<testing::MemoryStateStore>(disk_);
    } else {
      store_ = Open(folder_.path());
    }
  }
  std::vector<core::LogRecord> Log(uint64_t after) {
    std::vector<core::LogRecord> records;
    const Status read = store_->ReadLog(after, [&](uint64_t sequence, Result<core::Record> record) {
      EXPECT_TRUE(record.ok()) << record.message();
      if (record.ok()) records.push_back({sequence, *record});
      return true;
    });
    EXPECT_EQ(read, Status::Ok());
    return records;
  }
  SnapshotInfo Snapshot(const std::vector<core::Record>& records, uint64_t until) {
    auto writer = store_->BeginSnapshot(1234);
    EXPECT_TRUE(writer.ok()) << writer.message();
    for (const core::Record& record : records) EXPECT_EQ((*writer)->Add(record), Status::Ok());
    auto info = (*writer)->Finish({0, until, until, Term{2}, 7});
    EXPECT_TRUE(info.ok()) << info.message();
    return *info;
  }

  TempFolder folder_;
  std::shared_ptr<testing::MemoryDisk> disk_ = std::make_shared<testing::MemoryDisk>();
  std::unique_ptr<StateStore> store_;
};

TEST_P(StateStoreSuite, TheTermIsKept) {
  EXPECT_EQ(store_->LoadTerm().value(), Term{0});
  ASSERT_EQ(store_->SaveTerm(Term{77}), Status::Ok());
  Reopen();
  EXPECT_EQ(store_->LoadTerm().value(), Term{77});
}

TEST_P(StateStoreSuite, TheLogComesBackInOrderAndFromWhereItIsWanted) {
  const auto records = Numbered(1, {core::SegmentRecord{ASegment(1)}, AVersion(1), Gone(1)});
  ASSERT_EQ(store_->Append(records), Status::Ok());
  ASSERT_EQ(store_->Append(Numbered(4, {AVersion(2)})), Status::Ok());
  Reopen();
  EXPECT_EQ(Log(0).size(), 4u);
  EXPECT_EQ(Log(0)[1], records[1]);
  ASSERT_EQ(Log(3).size(), 1u);
  EXPECT_EQ(Log(3)[0].sequence, 4u);
}

TEST_P(StateStoreSuite, SayingARecordTwiceChangesNothing) {
  for (int i = 0; i < 2; ++i) ASSERT_EQ(store_->Append(Numbered(1, {AVersion(1)})), Status::Ok());
  EXPECT_EQ(Log(0).size(), 1u);
}

TEST_P(StateStoreSuite, ATrimmedLogBeginsLater) {
  ASSERT_EQ(store_->Append(Numbered(1, {Gone(1), Gone(2), Gone(3)})), Status::Ok());
  ASSERT_EQ(store_->TrimLog(2), Status::Ok());
  Reopen();
  ASSERT_EQ(Log(0).size(), 1u);
  EXPECT_EQ(Log(0)[0].sequence, 3u);
}

TEST_P(StateStoreSuite, ASnapshotComesBackWhole) {
  const std::vector<core::Record> records = {core::SegmentRecord{ASegment(1)}, AVersion(1)};
  const SnapshotInfo info = Snapshot(records, 5);
  Reopen();
  std::vector<core::Record> read;
  const auto footer = store_->ReadSnapshot(info.id, [&](Result<core::Record> record) {
    EXPECT_TRUE(record.ok()) << record.message();
    if (record.ok()) read.push_back(*record);
    return true;
  });
  ASSERT_TRUE(footer.ok()) << footer.message();
  EXPECT_EQ(*footer, info.footer);
  EXPECT_EQ(read, records);
}

TEST_P(StateStoreSuite, WhoHasReadEnoughIsTroubledNoMore) {
  const SnapshotInfo info = Snapshot({AVersion(1), AVersion(2)}, 5);
  ASSERT_EQ(store_->Append(Numbered(1, {Gone(1), Gone(2)})), Status::Ok());
  int records = 0;
  EXPECT_TRUE(store_->ReadSnapshot(info.id, [&](const auto&) { return ++records < 1; }).ok());
  EXPECT_TRUE(store_->ReadLog(0, [&](uint64_t, const auto&) { return ++records < 2; }).ok());
  EXPECT_EQ(records, 2);
}

TEST_P(StateStoreSuite, SnapshotsAreListedNewestFirstAndCanBeDeleted) {
  const SnapshotInfo old = Snapshot({AVersion(1)}, 1);
  const SnapshotInfo young = Snapshot({}, 2);
  auto list = store_->ListSnapshots().value();
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].id, young.id);
  ASSERT_EQ(store_->DeleteSnapshot(young.id), Status::Ok());
  EXPECT_EQ(store_->DeleteSnapshot(young.id).code(), ErrorCode::kPersistentFail);
  list = store_->ListSnapshots().value();
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].id, old.id);
}

TEST_P(StateStoreSuite, AnUnfinishedSnapshotDoesNotExist) {
  {
    auto writer = store_->BeginSnapshot(1234);
    ASSERT_TRUE(writer.ok());
    ASSERT_EQ((*writer)->Add(AVersion(1)), Status::Ok());
  }
  Reopen();
  EXPECT_TRUE(store_->ListSnapshots().value().empty());
}

INSTANTIATE_TEST_SUITE_P(Stores, StateStoreSuite, ::testing::Values(Kind::kMemory, Kind::kRocksDb),
                         [](const auto& kind) {
                           return kind.param == Kind::kMemory ? "memory" : "rocksdb";
                         });

// Many blocks of records, a snapshot and a log: of its two halves one is in tables, as after a start, and the other is not yet.
class DamagedDisk : public ::testing::Test {
 protected:
  static constexpr uint64_t kVersions = 3000;
  static constexpr uint64_t kInLog = 500;

  DamagedDisk() {
    auto store = Open(original_.path());
    std::vector<core::Record> records = {core::SegmentRecord{ASegment(1)}};
    for (uint64_t i = 1; i <= kVersions; ++i) records.push_back(AVersion(i));
    auto writer = store->BeginSnapshot(1234);
    for (const core::Record& record : records) (*writer)->Add(record).Ignore("seen by the count");
    EXPECT_TRUE((*writer)->Finish({0, 1, 1, Term{2}, 7}).ok());
    for (uint64_t first = 1; first <= kInLog; first += kInLog / 2) {
      store.reset();
      store = Open(original_.path());
      records.clear();
      for (uint64_t i = first; i < first + kInLog / 2; ++i) records.push_back(Gone(i));
      EXPECT_EQ(store->Append(Numbered(first + 1, records)), Status::Ok());
    }
  }
  // A copy of the folder with the byte changed. The original is closed by now.
  static void Flip(const fs::path& file, uint64_t offset) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(offset));
    const char byte = static_cast<char>(stream.get() ^ 0x5a);
    stream.seekp(static_cast<std::streamoff>(offset));
    stream.put(byte);
  }
  std::vector<fs::path> Files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(original_.path())) {
      if (entry.is_regular_file() && entry.file_size() > 0)
        files.push_back(fs::relative(entry.path(), original_.path()));
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  TempFolder original_;
};

// Never a crash, never a key that was removed; and where a snapshot's block is hit, all but its records.
TEST_F(DamagedDisk, WhateverByteIsChangedTheStartIsCleanAndNothingRemovedComesBack) {
  std::set<std::string> kinds;
  for (const fs::path& file : Files()) {
    const std::string name = file.filename();
    kinds.insert(
        file.parent_path().string() + "/" +
        (file.has_extension() ? "*" + file.extension().string() : name.substr(0, name.find('-'))));
    const uint64_t size = fs::file_size(fs::path(original_.path()) / file);
    for (const uint64_t seed : testing::Seeds(6)) {
      const uint64_t offset = Rng(seed).Below(size);
      TempFolder copy;
      fs::copy(original_.path(), copy.path(), fs::copy_options::recursive);
      Flip(fs::path(copy.path()) / file, offset);
      SCOPED_TRACE(file.string() + " byte " + std::to_string(offset));
      const auto store = Open(copy.path());
      ASSERT_NE(store, nullptr);
      const auto recovered = Recover(*store);
      ASSERT_TRUE(recovered.ok()) << recovered.message();
      const auto& versions = recovered->restorer.versions();
      for (const auto& [id, version] : versions)
        ASSERT_GT(id.value, kInLog) << "removed before the damage";
      // Behind the blocks of records an SST file has what is needed to find them.
      if (file.parent_path() == "snapshots" && offset < size * 3 / 4) {
        ASSERT_GT(versions.size(), (kVersions - kInLog) * 9 / 10);
      }
      if (name.starts_with("OPTIONS") || name == "IDENTITY") {
        ASSERT_EQ(versions.size(), kVersions - kInLog) << "nothing is lost with it";
      }
      ASSERT_EQ(store->Append(Numbered(recovered->last_sequence + 1, {Gone(1)})), Status::Ok());
    }
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"log/*.log", "log/*.sst", "log/CURRENT", "log/IDENTITY",
                                          "log/MANIFEST", "log/OPTIONS", "snapshots/*.sst"}));
}

TEST_F(DamagedDisk, ANewestSnapshotThatCannotBeReadIsPassedOverForTheOneBefore) {
  fs::path newest;
  {
    const auto store = Open(original_.path());
    auto writer = store->BeginSnapshot(9999);
    const auto taken = (*writer)->Finish({0, kInLog + 1, kInLog + 1, Term{2}, 9999});
    ASSERT_TRUE(taken.ok()) << taken.message();
    newest = fs::path(original_.path()) / "snapshots" / (taken->id + ".sst");
  }
  fs::resize_file(newest, fs::file_size(newest) - 1);
  const auto store = Open(original_.path());
  const auto recovered = Recover(*store);
  ASSERT_TRUE(recovered.ok()) << recovered.message();
  EXPECT_EQ(recovered->unusable_snapshots, 1u);
  EXPECT_EQ(recovered->restorer.versions().size(), kVersions - kInLog);
  EXPECT_EQ(recovered->holes, 0u);
}

TEST_F(DamagedDisk, AFolderInUseIsRefusedWithTheReason) {
  const auto first = Open(original_.path());
  const auto second = OpenRocksDbStateStore(original_.path());
  EXPECT_EQ(second.code(), ErrorCode::kUnavailableInCurrentStatus);
  EXPECT_NE(second.message().find("in use by another master"), std::string::npos);
}

}  // namespace
}  // namespace mooncake

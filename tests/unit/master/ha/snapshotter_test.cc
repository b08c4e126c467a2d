#include "master/ha/snapshotter.h"

#include <gtest/gtest.h>

#include "tests/unit/master/ha/ha_fixture.h"

namespace mooncake {
namespace {

using testing::AVersion;
using testing::Gone;
using testing::Numbered;

class SnapshotterTest : public ::testing::Test {
 protected:
  SnapshotterTest() {
    options_.interval = Seconds(3600);
    log_.Start();
  }
  // A state of two versions that is walked one at a time, and whose log has grown to `grown_` by the end.
  std::unique_ptr<Snapshotter> Make() {
    SnapshotSource source;
    source.term = Term{4};
    source.start = [this] {
      core::SnapshotWalk walk;
      walk.from = from_;
      return walk;
    };
    source.step = [this](core::SnapshotWalk& walk) {
      walk.records.push_back(AVersion(++visited_));
      walk.until = grown_;
      return visited_ % 2 == 0;
    };
    return std::make_unique<Snapshotter>(store_, log_, SystemClock(), options_, std::move(source));
  }
  void Grow(uint64_t upto) {
    log_.Submit(Numbered(grown_ + 1, std::vector<core::Record>(upto - grown_, Gone(9))));
    grown_ = upto;
    ASSERT_EQ(log_.Await(upto, SystemClock().Now() + Seconds(30)), Status::Ok());
  }
  std::vector<SnapshotInfo> List() { return store_.ListSnapshots().value(); }
  uint64_t FirstOfLog() {
    MutexLock lock(disk_->mutex);
    return disk_->log.empty() ? 0 : disk_->log.begin()->first;
  }

  SnapshotterOptions options_;
  uint64_t from_ = 0;
  uint64_t grown_ = 0;
  uint64_t visited_ = 0;
  std::shared_ptr<testing::MemoryDisk> disk_ = std::make_shared<testing::MemoryDisk>();
  testing::MemoryStateStore store_{disk_};
  LogWriter log_{store_, SystemClock(), {}, 0, [](uint64_t) {}};
};

TEST_F(SnapshotterTest, WritesEveryRecordAndWhatTheLogWas) {
  Grow(5);
  from_ = 3;
  const auto snapshotter = Make();
  const auto taken = snapshotter->TakeNow();
  ASSERT_TRUE(taken.ok()) << taken.message();
  EXPECT_EQ(taken->footer.records, 2u);
  EXPECT_EQ(taken->footer.from, 3u);
  EXPECT_EQ(taken->footer.until, 5u);
  EXPECT_EQ(taken->footer.term, Term{4});
  EXPECT_EQ(snapshotter->numbers().taken, 1u);
}

TEST_F(SnapshotterTest, KeepsAsManyAsItWasToldAndTheLogThatTheOldestNeeds) {
  const auto snapshotter = Make();
  for (uint64_t round = 1; round <= 4; ++round) {
    Grow(10 * round);
    from_ = 10 * round;
    ASSERT_TRUE(snapshotter->TakeNow().ok());
  }
  ASSERT_EQ(List().size(), 2u);
  EXPECT_EQ(List()[1].footer.from, 30u);
  EXPECT_EQ(FirstOfLog(), 31u);
}

TEST_F(SnapshotterTest, AFullDiskLeavesTheOldOnesAndTheNextWorks) {
  const auto snapshotter = Make();
  ASSERT_TRUE(snapshotter->TakeNow().ok());
  disk_->SetFull(true);
  EXPECT_EQ(snapshotter->TakeNow().code(), ErrorCode::kPersistentFail);
  EXPECT_EQ(List().size(), 1u);
  EXPECT_EQ(snapshotter->numbers().failed, 1u);
  EXPECT_NE(snapshotter->numbers().trouble, "");
  disk_->SetFull(false);
  EXPECT_TRUE(snapshotter->TakeNow().ok());
  EXPECT_EQ(snapshotter->numbers().trouble, "");
  EXPECT_EQ(List().size(), 2u);
}

TEST_F(SnapshotterTest, StopEndsOneThatWaitsForALogWhichCannotBeWritten) {
  const auto snapshotter = Make();
  disk_->SetFull(true);
  log_.Submit(Numbered(1, {Gone(1)}));
  grown_ = 1;
  Result<SnapshotInfo> taken = Status(ErrorCode::kInternal, "not run");
  std::thread other([&] { taken = snapshotter->TakeNow(); });
  EXPECT_TRUE(snapshotter->Stop(Seconds(30)));
  other.join();
  EXPECT_EQ(taken.code(), ErrorCode::kUnavailableInCurrentStatus);
  EXPECT_TRUE(List().empty());
}

}  // namespace
}  // namespace mooncake

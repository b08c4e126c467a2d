// What a restart makes of the newest snapshot, older ones, the log, and holes in it.
#include "master/ha/recovery.h"

#include <gtest/gtest.h>

#include "tests/unit/master/ha/ha_fixture.h"

namespace mooncake {
namespace {

using testing::ASegment;
using testing::AVersion;
using testing::Gone;
using testing::Numbered;

class RecoveryTest : public ::testing::Test {
 protected:
  void Log(uint64_t first, std::vector<core::Record> records) {
    ASSERT_EQ(store_.Append(Numbered(first, std::move(records))), Status::Ok());
  }
  void Snapshot(uint64_t from, uint64_t until, const std::vector<core::Record>& records) {
    auto writer = store_.BeginSnapshot(1234);
    ASSERT_TRUE(writer.ok());
    for (const core::Record& record : records) ASSERT_EQ((*writer)->Add(record), Status::Ok());
    ASSERT_TRUE((*writer)->Finish({0, from, until, Term{3}, 0}).ok());
  }
  Recovered Read() {
    auto recovered = Recover(store_);
    EXPECT_TRUE(recovered.ok()) << recovered.message();
    return std::move(recovered).value();
  }
  static bool Has(const Recovered& recovered, uint64_t number) {
    return recovered.restorer.versions().contains(PutId{number});
  }
  core::Record Segment() { return core::SegmentRecord{ASegment(1)}; }

  std::shared_ptr<testing::MemoryDisk> disk_ = std::make_shared<testing::MemoryDisk>();
  testing::MemoryStateStore store_{disk_};
};

TEST_F(RecoveryTest, AnEmptyStoreIsAnEmptyState) {
  const Recovered recovered = Read();
  EXPECT_EQ(recovered.last_sequence, 0u);
  EXPECT_EQ(recovered.last_term, Term{0});
  EXPECT_EQ(recovered.holes, 0u);
}

TEST_F(RecoveryTest, TheLogAloneIsEnough) {
  Log(1, {Segment(), AVersion(1), AVersion(2), Gone(1)});
  const Recovered recovered = Read();
  EXPECT_FALSE(Has(recovered, 1));
  EXPECT_TRUE(Has(recovered, 2));
  EXPECT_EQ(recovered.last_sequence, 4u);
  EXPECT_EQ(recovered.log_records, 4u);
}

TEST_F(RecoveryTest, ASnapshotAndTheLogAfterIt) {
  Snapshot(3, 3, {Segment(), AVersion(1), AVersion(2)});
  Log(4, {Gone(1), AVersion(3)});
  const Recovered recovered = Read();
  EXPECT_FALSE(Has(recovered, 1));
  EXPECT_TRUE(Has(recovered, 2));
  EXPECT_TRUE(Has(recovered, 3));
  EXPECT_EQ(recovered.holes, 0u);
  EXPECT_EQ(recovered.last_term, Term{3});
}

TEST_F(RecoveryTest, AHoleInTheLogCostsEverythingBeforeItSinceItMayHideARemoval) {
  Log(1, {Segment(), AVersion(1)});
  Log(4, {AVersion(3)});
  const Recovered recovered = Read();
  EXPECT_FALSE(Has(recovered, 1));
  EXPECT_TRUE(Has(recovered, 3));
  EXPECT_EQ(recovered.holes, 1u);
  EXPECT_EQ(recovered.last_sequence, 4u);
}

TEST_F(RecoveryTest, AnEndOfTheLogThatASnapshotHadSeenIsAHoleToo) {
  Log(1, {Segment(), AVersion(1), AVersion(2)});
  Snapshot(1, 5, {Segment(), AVersion(1), AVersion(2)});
  const Recovered recovered = Read();
  EXPECT_TRUE(recovered.restorer.versions().empty());
  EXPECT_EQ(recovered.last_sequence, 5u) << "no sequence is used twice";
}

TEST_F(RecoveryTest, ALogThatBeginsAfterTheSnapshotEndedIsAHole) {
  Snapshot(3, 3, {Segment(), AVersion(1)});
  Log(6, {AVersion(5)});
  const Recovered recovered = Read();
  EXPECT_FALSE(Has(recovered, 1));
  EXPECT_TRUE(Has(recovered, 5));
}

TEST_F(RecoveryTest, TheNewerOfTwoSnapshotsIsUsed) {
  Snapshot(0, 0, {});
  Snapshot(2, 2, {Segment(), AVersion(1)});
  const Recovered recovered = Read();
  EXPECT_TRUE(Has(recovered, 1));
  EXPECT_EQ(recovered.last_sequence, 2u);
}

}  // namespace
}  // namespace mooncake

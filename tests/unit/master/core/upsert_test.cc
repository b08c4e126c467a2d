#include "tests/unit/master/core/core_fixture.h"
#include "transfer/base/seal.h"

namespace mooncake::core {
namespace {

using UpsertOp = CoreTest;

TEST_F(UpsertOp, OfANewKeyIsAPut) {
  Mount("a", kMiB);
  Upsert("k", 10);
  EXPECT_TRUE(Exists("k"));
}

TEST_F(UpsertOp, TheOldValueIsReadableUntilEnd) {
  Mount("a", kMiB);
  const PutId old_id = Put("k", 10);
  const auto start = Start("k", 20, {}, WriteMode::kReplace);
  EXPECT_EQ(Get("k").value_or({}).put_id, old_id);
  EXPECT_EQ(End("k", start.value_or({}).put_id), Status::Ok());
  EXPECT_EQ(Get("k").value_or({}).size, 20u);
}

TEST_F(UpsertOp, RevokeLeavesTheOldValue) {
  Mount("a", kMiB);
  const PutId old_id = Put("k", 10);
  const auto start = Start("k", 20, {}, WriteMode::kReplace);
  EXPECT_EQ(Revoke("k", start.value_or({}).put_id, true), Status::Ok());
  EXPECT_EQ(Get("k").value_or({}).put_id, old_id);
  EXPECT_EQ(Used(), ExtentFootprint(10));
}

TEST_F(UpsertOp, AWriterThatVanishesLeavesTheOldValue) {
  Mount("a", kMiB);
  const PutId old_id = Put("k", 10);
  Start("k", 20, {}, WriteMode::kReplace).Ignore("the writer dies");
  Advance(Seconds(600));
  TickAll();
  EXPECT_EQ(Get("k").value_or({}).put_id, old_id);
  EXPECT_EQ(Used(), ExtentFootprint(10));
}

TEST_F(UpsertOp, PreemptsAWriteInProgressAtOnce) {
  Mount("a", kMiB);
  const auto put = Start("k", 10);
  const auto upsert = Start("k", 20, {}, WriteMode::kReplace, kOther);
  ASSERT_TRUE(upsert.ok());
  EXPECT_EQ(End("k", put.value_or({}).put_id).code(), ErrorCode::kInvalidWrite);
  EXPECT_EQ(Revoke("k", put.value_or({}).put_id, false).code(), ErrorCode::kInvalidWrite);
  const auto again = Start("k", 30, {}, WriteMode::kReplace);
  EXPECT_EQ(End("k", upsert.value().put_id, kOther).code(), ErrorCode::kInvalidWrite);
  EXPECT_EQ(End("k", again.value_or({}).put_id), Status::Ok());
  EXPECT_EQ(core().GetCounters().puts_preempted, 2u);
}

TEST_F(UpsertOp, ALeasedOldValueKeepsItsBytesUntilTheLeaseEnds) {
  Mount("a", kMiB);
  const PutId old_id = Put("k", 1000);
  ASSERT_TRUE(Get("k").ok());
  Upsert("k", 10);
  EXPECT_EQ(Used(), ExtentFootprint(1000) + ExtentFootprint(10));
  Advance(Seconds(5));
  EXPECT_EQ(core().RenewLease(now_, {Name("k"), old_id}).value_or({}), Seconds(10));
  Advance(Seconds(9));
  TickAll();
  EXPECT_EQ(core().GetCounters().detached_versions, 1u);
  Advance(Seconds(1));
  TickAll();
  EXPECT_EQ(Used(), ExtentFootprint(10));
  EXPECT_EQ(core().RenewLease(now_, {Name("k"), old_id}).code(), ErrorCode::kObjectNotFound);
}

TEST_F(UpsertOp, ExpectedNamesTheVersionThatMayBeReplaced) {
  Mount("a", kMiB);
  const PutId id = Put("k", 1);
  EXPECT_EQ(Start("k", 1, {}, WriteMode::kReplace, kWriter, PutId{id.value + 1}).code(),
            ErrorCode::kInvalidVersion);
  EXPECT_EQ(Start("none", 1, {}, WriteMode::kReplace, kWriter, id).code(),
            ErrorCode::kInvalidVersion);
  EXPECT_EQ(Start("k", 1, {}, WriteMode::kCreate, kWriter, id).code(), ErrorCode::kInvalidParams);
  const auto start = Start("k", 1, {}, WriteMode::kReplace, kWriter, id);
  EXPECT_EQ(End("k", start.value_or({}).put_id), Status::Ok());
}

TEST_F(UpsertOp, TheExpectedVersionRemovedMeanwhileIsAConflict) {
  Mount("a", kMiB);
  const PutId id = Put("k", 1);
  const auto start = Start("k", 1, {}, WriteMode::kReplace, kWriter, id);
  EXPECT_EQ(Remove("k"), Status::Ok());
  EXPECT_EQ(End("k", start.value_or({}).put_id).code(), ErrorCode::kInvalidVersion);
  EXPECT_FALSE(Exists("k"));
  EXPECT_EQ(Used(), 0u);
}

TEST_F(UpsertOp, WithoutExpectedARemovalMeanwhileDoesNotMatter) {
  Mount("a", kMiB);
  Put("k", 1);
  const auto start = Start("k", 2, {}, WriteMode::kReplace);
  EXPECT_EQ(Remove("k"), Status::Ok());
  EXPECT_EQ(End("k", start.value_or({}).put_id), Status::Ok());
  EXPECT_TRUE(Exists("k"));
}

TEST_F(UpsertOp, PrefersTheSegmentOfTheOldValue) {
  for (int i = 0; i < 8; ++i) Mount("s" + std::to_string(i), kMiB);
  Put("k", 10);
  const SegmentId home = Get("k").value_or({}).replicas.at(0).extents.at(0).segment;
  for (int i = 0; i < 20; ++i) {
    Upsert("k", 10);
    EXPECT_EQ(Get("k").value_or({}).replicas.at(0).extents.at(0).segment, home);
  }
}

TEST_F(UpsertOp, FailureForWantOfRoomLeavesTheOldValue) {
  Mount("a", kMiB);
  const PutId id = Put("k", 600 * 1024);
  EXPECT_EQ(Start("k", 600 * 1024, {}, WriteMode::kReplace).code(), ErrorCode::kNoAvailableHandle);
  EXPECT_EQ(Get("k").value_or({}).put_id, id);
}

TEST_F(UpsertOp, TheOldValueIsNotEvictedWhileItsSuccessorIsWritten) {
  Mount("a", kMiB);
  Put("k", 300 * 1024);
  const auto start = Start("k", 300 * 1024, {}, WriteMode::kReplace);
  EXPECT_EQ(Start("other", 600 * 1024).code(), ErrorCode::kNoAvailableHandle);
  EXPECT_TRUE(Exists("k"));
  EXPECT_EQ(Revoke("k", start.value_or({}).put_id, true), Status::Ok());
  EXPECT_TRUE(Start("other", 900 * 1024).ok());  // now it may go
}

TEST_F(UpsertOp, HardPinsAddUp) {
  Mount("a", kMiB);
  Put("k", 1, {.hard_pin = true});
  Upsert("k", 1);
  EXPECT_TRUE(core().Stat(now_, Name("k")).value_or({}).hard_pin);
}

TEST_F(UpsertOp, SoftPinsAreKeptMovedOrEnded) {
  Mount("a", kMiB);
  Put("k", 1, {.soft_pin = SoftPinAction::kEnable, .soft_pin_ttl = Seconds(100)});
  Advance(Seconds(10));
  Upsert("k", 1);
  EXPECT_EQ(core().Stat(now_, Name("k")).value_or({}).soft_pin_left, Seconds(90));
  Upsert("k", 1, {.soft_pin = SoftPinAction::kEnable, .soft_pin_ttl = Seconds(5)});
  EXPECT_EQ(core().Stat(now_, Name("k")).value_or({}).soft_pin_left, Seconds(5));
  Upsert("k", 1, {.soft_pin = SoftPinAction::kDisable});
  EXPECT_EQ(core().Stat(now_, Name("k")).value_or({}).soft_pin_left, Duration::zero());
}

TEST_F(UpsertOp, TheGroupOfAReadableObjectDoesNotChange) {
  Mount("a", kMiB);
  Put("grouped", 1, {.group = "g"});
  Put("alone", 1);
  EXPECT_EQ(Start("grouped", 1, {.group = "h"}, WriteMode::kReplace).code(),
            ErrorCode::kInvalidParams);
  EXPECT_EQ(Start("alone", 1, {.group = "g"}, WriteMode::kReplace).code(),
            ErrorCode::kInvalidParams);
  Upsert("grouped", 1);
  EXPECT_EQ(core().Stat(now_, Name("grouped")).value_or({}).group, "g");
  Start("new", 1, {.group = "g"}).Ignore("replaced at once");
  Upsert("new", 1, {.group = "h"});
  EXPECT_EQ(core().Stat(now_, Name("new")).value_or({}).group, "h");
}

}  // namespace
}  // namespace mooncake::core

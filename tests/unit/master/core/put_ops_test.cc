#include "tests/unit/master/core/core_fixture.h"
#include "transfer/base/seal.h"

namespace mooncake::core {
namespace {

using PutStart = CoreTest;
using PutEnd = CoreTest;
using PutRevoke = CoreTest;

TEST_F(PutStart, AnswersProcessingReplicasAndTheKeyIsNotReadyUntilEnd) {
  Mount("a", 4 * kMiB);
  const auto start = Start("k", 1000);
  ASSERT_TRUE(start.ok());
  ASSERT_EQ(start.value().replicas.size(), 1u);
  EXPECT_EQ(start.value().replicas[0].status, ReplicaStatus::kProcessing);
  EXPECT_EQ(Get("k").code(), ErrorCode::kReplicaIsNotReady);
  EXPECT_FALSE(Exists("k"));
  EXPECT_EQ(Remove("k").code(), ErrorCode::kReplicaIsNotReady);
  EXPECT_EQ(End("k", start.value().put_id), Status::Ok());
  const auto list = Get("k");
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list.value().put_id, start.value().put_id);
  EXPECT_EQ(list.value().size, 1000u);
  EXPECT_EQ(list.value().created_ms, 1234);
  ASSERT_EQ(list.value().replicas.size(), 1u);
  EXPECT_EQ(list.value().replicas[0].status, ReplicaStatus::kComplete);
  EXPECT_EQ(list.value().replicas[0].extents, start.value().replicas[0].extents);
}

TEST_F(PutStart, PutIdsCarryTheTermAndNeverRepeat) {
  Mount("a", 4 * kMiB);
  const PutId first = Put("k", 1);
  const PutId second = Upsert("k", 1);
  EXPECT_EQ(first.value >> 34, 5u);
  EXPECT_LT(first, second);
}

TEST_F(PutStart, TheWriteDeadlineLeavesAMarginBeforeTheRelease) {
  options_.put_start_release_timeout = Seconds(600);
  Mount("a", 4 * kMiB);
  const auto start = Start("k", 1);
  EXPECT_EQ(start.value_or({}).grant, Seconds(570));
  EXPECT_EQ(start.value_or({}).write_deadline_ms,
            ToMillis((now_ + Seconds(570)).time_since_epoch()));
}

TEST_F(PutStart, AShortReleaseTimeoutIsHalvedForTheWriteDeadline) {
  options_.put_start_discard_timeout = Seconds(3);
  options_.put_start_release_timeout = Seconds(5);
  Mount("a", 4 * kMiB);
  EXPECT_EQ(Start("k", 1).value_or({}).grant, Millis(2500));
}

TEST_F(PutStart, EveryReplicaCountGetsItsOwnSegments) {
  for (int i = 0; i < 5; ++i) Mount("s" + std::to_string(i), kMiB);
  for (uint32_t n = 1; n <= 5; ++n) {
    const auto start = Start("k" + std::to_string(n), 1000, {.replica_num = n});
    ASSERT_TRUE(start.ok());
    std::set<SegmentId> segments;
    for (const ReplicaDescriptor& r : start.value().replicas)
      segments.insert(r.extents.at(0).segment);
    EXPECT_EQ(segments.size(), n);
  }
}

TEST_F(PutStart, AReadableKeyCannotBeCreated) {
  Mount("a", kMiB);
  Put("k", 1);
  EXPECT_EQ(Start("k", 1).code(), ErrorCode::kObjectAlreadyExists);
}

TEST_F(PutStart, OfCreatesUnderDifferentGroupsTheFirstWins) {
  Mount("a", kMiB);
  const auto first = Start("k", 1, {.group = "g"});
  EXPECT_EQ(Start("k", 1, {.group = "h"}, WriteMode::kCreate, kOther).code(),
            ErrorCode::kObjectAlreadyExists);
  EXPECT_EQ(Start("k", 1, {}, WriteMode::kCreate, kOther).code(), ErrorCode::kObjectAlreadyExists);
  EXPECT_EQ(End("k", first.value_or({}).put_id), Status::Ok());
  EXPECT_EQ(core().Stat(now_, Name("k")).value_or({}).group, "g");
  EXPECT_EQ(core().GetCounters().groups, 1u);
}

TEST_F(PutStart, AYoungWriteHoldsTheKeyAndAnOldOneIsPreempted) {
  options_.put_start_discard_timeout = Seconds(3);
  options_.put_start_release_timeout = Seconds(5);
  Mount("a", 16 * kMiB);
  const auto first = Start("k", 6 * kMiB);
  Advance(Seconds(3));
  EXPECT_EQ(Start("k", 6 * kMiB).code(), ErrorCode::kObjectAlreadyExists);
  Advance(Millis(1));
  const auto second = Start("k", 6 * kMiB, {}, WriteMode::kCreate, kOther);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(End("k", first.value_or({}).put_id).code(), ErrorCode::kInvalidWrite);
  // The space of the first is held until its writer cannot write any more.
  EXPECT_EQ(Start("other", 6 * kMiB).code(), ErrorCode::kNoAvailableHandle);
  Advance(Millis(1999));
  TickAll();
  EXPECT_TRUE(Start("other", 6 * kMiB).ok());
  EXPECT_EQ(End("k", second.value().put_id, kOther), Status::Ok());
}

TEST_F(PutStart, APreemptedWriterThatIsSettledGivesItsSpaceBackEarly) {
  options_.put_start_discard_timeout = Seconds(3);
  Mount("a", kMiB);
  const auto first = Start("k", 600 * 1024);
  Advance(Seconds(4));
  ASSERT_TRUE(Start("k", 1, {}, WriteMode::kCreate, kOther).ok());
  const uint64_t before = Used();
  EXPECT_EQ(Revoke("k", first.value_or({}).put_id, true).code(), ErrorCode::kInvalidWrite);
  EXPECT_EQ(before - Used(), ExtentFootprint(600 * 1024));
}

TEST_F(PutStart, FailureLeavesTheOlderWriteAlone) {
  options_.put_start_discard_timeout = Seconds(3);
  Mount("a", kMiB);
  const auto first = Start("k", 600 * 1024);
  Advance(Seconds(4));
  EXPECT_EQ(Start("k", 600 * 1024).code(), ErrorCode::kNoAvailableHandle);
  EXPECT_EQ(End("k", first.value_or({}).put_id), Status::Ok());
}

TEST_F(PutStart, FewerReplicasAreBetterThanNone) {
  Mount("a", kMiB);
  const auto start = Start("k", 1000, {.replica_num = 2});
  ASSERT_TRUE(start.ok());
  EXPECT_EQ(start.value().replicas.size(), 1u);
  EXPECT_EQ(core().GetCounters().partial_placements, 1u);
  EXPECT_EQ(End("k", start.value().put_id), Status::Ok());
  EXPECT_EQ(core().GetCounters().under_replicated_objects, 1u);
}

TEST_F(PutStart, WithoutRoomTheMessageNamesWantedFreeAndLargestHole) {
  Mount("a", kMiB);
  const auto start = Start("k", 2 * kMiB);
  EXPECT_EQ(start.code(), ErrorCode::kNoAvailableHandle);
  EXPECT_EQ(
      start.message(),
      "2097152 bytes wanted, 1048576 of 1048576 free in 1 segments, the largest hole has 1048576");
}

TEST_F(PutStart, WithoutSegmentsThereIsNoRoom) {
  EXPECT_EQ(Start("k", 1).code(), ErrorCode::kNoAvailableHandle);
}

TEST_F(PutStart, WhatNoSegmentCanHoldEvictsNothingLater) {
  EXPECT_EQ(Start("early", 1).code(), ErrorCode::kNoAvailableHandle);
  Mount("a", kMiB);
  Put("k", 1000);
  TickAll();
  EXPECT_TRUE(Exists("k"));
}

TEST_F(PutStart, AnEmptyObjectNeedsNoSegment) {
  Put("k", 0);
  const auto list = Get("k");
  ASSERT_TRUE(list.ok());
  EXPECT_TRUE(list.value().replicas.empty());
  EXPECT_EQ(core().Stat(now_, Name("k")).value_or({}).size, 0u);
}

TEST_F(PutStart, TenCyclesLeaveNothingBehind) {
  Mount("a", kMiB);
  for (int i = 0; i < 10; ++i) {
    Put("x", 100000);
    Put("y", 200000);
    EXPECT_EQ(Remove("x"), Status::Ok());
    EXPECT_EQ(Remove("y"), Status::Ok());
  }
  EXPECT_EQ(Used(), 0u);
  EXPECT_EQ(core().GetStatus().object_count, 0u);
}

TEST_F(PutEnd, OnlyTheWriterMayEndOrRevoke) {
  Mount("a", kMiB);
  const auto start = Start("k", 1);
  EXPECT_EQ(End("k", start.value_or({}).put_id, kOther).code(), ErrorCode::kIllegalClient);
  EXPECT_EQ(Revoke("k", start.value_or({}).put_id, true, kOther).code(), ErrorCode::kIllegalClient);
  EXPECT_EQ(End("k", start.value_or({}).put_id), Status::Ok());
}

TEST_F(PutEnd, RepeatingItIsOkWhileThatVersionIsReadable) {
  Mount("a", kMiB);
  const PutId id = Put("k", 1);
  EXPECT_EQ(End("k", id), Status::Ok());
  Upsert("k", 2);
  EXPECT_EQ(End("k", id).code(), ErrorCode::kInvalidWrite);
  EXPECT_EQ(Remove("k"), Status::Ok());
  EXPECT_EQ(End("k", id).code(), ErrorCode::kObjectNotFound);
}

TEST_F(PutEnd, GrantsNoLease) {
  Mount("a", kMiB);
  Put("k", 1);
  EXPECT_EQ(core().Stat(now_, Name("k")).value_or({}).lease_left, Duration::zero());
  EXPECT_EQ(Remove("k"), Status::Ok());
}

TEST_F(PutEnd, AfterTheReleaseTimeoutThereIsNothingToEnd) {
  options_.put_start_release_timeout = Seconds(60);
  Mount("a", kMiB);
  const auto start = Start("k", 1000);
  Advance(Seconds(60));
  TickAll();
  EXPECT_EQ(Used(), 0u);
  EXPECT_EQ(End("k", start.value_or({}).put_id).code(), ErrorCode::kObjectNotFound);
}

TEST_F(PutEnd, FailsWhenEverySegmentOfTheWriteIsGone) {
  const auto a = Mount("a", kMiB);
  const auto start = Start("k", 1000);
  Unmount(a);
  EXPECT_EQ(End("k", start.value_or({}).put_id).code(), ErrorCode::kInvalidWrite);
  EXPECT_FALSE(Exists("k"));
}

TEST_F(PutEnd, KeepsTheReplicasThatAreLeft) {
  const auto a = Mount("a", kMiB);
  Mount("b", kMiB);
  const auto start = Start("k", 1000, {.replica_num = 2});
  Unmount(a);
  EXPECT_EQ(End("k", start.value_or({}).put_id), Status::Ok());
  EXPECT_EQ(Get("k").value_or({}).replicas.size(), 1u);
}

TEST_F(PutEnd, StoresTheAttributes) {
  Mount("a", kMiB);
  const auto start = Start("k", 1000);
  const ObjectAttributes attributes{
      .kind = ObjectKind::kSymlink, .mode = 0644, .uid = 1, .gid = 2, .mtime_ns = 3};
  EXPECT_EQ(core().PutEnd(now_, 9, {kWriter, Name("k"), start.value_or({}).put_id, attributes}),
            Status::Ok());
  EXPECT_EQ(core().Stat(now_, Name("k")).value_or({}).attributes, attributes);
}

TEST_F(PutRevoke, SettledGivesTheSpaceBackAtOnce) {
  Mount("a", kMiB);
  const auto start = Start("k", 1000);
  EXPECT_EQ(Revoke("k", start.value_or({}).put_id, true), Status::Ok());
  EXPECT_EQ(Used(), 0u);
  EXPECT_EQ(Get("k").code(), ErrorCode::kObjectNotFound);
}

TEST_F(PutRevoke, UnsettledHoldsTheSpaceUntilNobodyCanWrite) {
  options_.put_start_release_timeout = Seconds(600);
  Mount("a", kMiB);
  const auto start = Start("k", 1000);
  Advance(Seconds(100));
  EXPECT_EQ(Revoke("k", start.value_or({}).put_id, false), Status::Ok());
  EXPECT_EQ(Used(), ExtentFootprint(1000));
  EXPECT_EQ(core().GetCounters().discarded_bytes, 1000u);
  Put("k", 5);  // the name is free at once
  Advance(Seconds(499));
  TickAll();
  EXPECT_EQ(Used(), ExtentFootprint(1000) + ExtentFootprint(5));
  Advance(Seconds(1));
  TickAll();
  EXPECT_EQ(Used(), ExtentFootprint(5));
}

TEST_F(PutRevoke, OfACompleteVersionIsRefused) {
  Mount("a", kMiB);
  const PutId id = Put("k", 1);
  EXPECT_EQ(Revoke("k", id, true).code(), ErrorCode::kObjectAlreadyExists);
  EXPECT_TRUE(Exists("k"));
  Upsert("k", 2);
  EXPECT_EQ(Revoke("k", id, true).code(), ErrorCode::kInvalidWrite);
}

}  // namespace
}  // namespace mooncake::core

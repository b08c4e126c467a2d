#include "tests/unit/master/core/core_fixture.h"

namespace mooncake::core {
namespace {

using Background = CoreTest;

TEST_F(Background, SaysWhenItWantsToBeCalled) {
  options_.client_ttl = Seconds(1000);
  EXPECT_EQ(core().Tick(now_, 10).next, kNever);
  Mount("a", kMiB);
  EXPECT_EQ(core().Tick(now_, 10).next, now_ + Seconds(1000));
  Start("k", 1).Ignore("never ended");
  EXPECT_EQ(core().Tick(now_, 10).next, now_ + Seconds(600));
}

TEST_F(Background, SweepsADeadSegmentInSlices) {
  const auto a = Mount("a", 4 * kMiB);
  for (int i = 0; i < 1000; ++i) Put("k" + std::to_string(i), 100);
  Unmount(a);
  EXPECT_EQ(core().GetStatus().object_count, 1000u);
  EXPECT_TRUE(core().Tick(now_, 100).more);
  EXPECT_GE(core().GetStatus().object_count, 900u);
  EXPECT_EQ(core().CheckInvariants(now_).value_or(""), "");
  TickAll();
  EXPECT_EQ(core().GetStatus().object_count, 0u);
  EXPECT_EQ(core().GetCounters().lost_objects, 1000u);
  EXPECT_EQ(core().GetCounters().dead_segments, 0u);
}

TEST_F(Background, ASlotIsUsedAgainOnlyWhenNothingRefersToIt) {
  const auto a = Mount("a", kMiB);
  Put("k", 1000);
  ASSERT_TRUE(Get("k").ok());
  EXPECT_EQ(Remove("k", true), Status::Ok());  // detached: refers to a
  Unmount(a);
  TickAll();
  Mount("b", kMiB);
  Put("x", 1000);
  Advance(Seconds(10));
  TickAll();  // the detached version ends, and must not touch b
  EXPECT_TRUE(Exists("x"));
  EXPECT_EQ(core().CheckInvariants(now_).value_or(""), "");
}

TEST_F(Background, ExpiresOldWritesWithinItsBudget) {
  Mount("a", kMiB);
  for (int i = 0; i < 50; ++i) Start("k" + std::to_string(i), 1).Ignore("never ended");
  Advance(Seconds(600));
  EXPECT_TRUE(core().Tick(now_, 20).more);
  EXPECT_EQ(core().GetStatus().processing_count, 30u);
  TickAll();
  EXPECT_EQ(core().GetStatus().processing_count, 0u);
  EXPECT_EQ(core().GetCounters().puts_expired, 50u);
  EXPECT_EQ(Used(), 0u);
}

TEST_F(Background, ManyLivesOfANodeLeaveNothingBehind) {
  for (uint64_t life = 1; life <= 50; ++life) {
    Mount("a", kMiB, "", life);
    Put("k", 1000);
    Put("x" + std::to_string(life), 1000);
    if (life % 7 == 0) TickAll();
  }
  TickAll();
  EXPECT_EQ(core().GetStatus().object_count, 2u);
  EXPECT_EQ(core().GetCounters().dead_segments, 0u);
}

// Its readers may have another piece of the object from the segment that is dead only for the master.
TEST_F(Background, TheLivingPartOfASplitReplicaIsKeptForWhoeverHoldsALease) {
  const auto a = Mount("a", 2 * kMiB);
  Mount("b", 2 * kMiB);
  Put("split", 3 * kMiB);
  ASSERT_TRUE(Get("split").ok());
  Unmount(a);
  TickAll();
  EXPECT_EQ(Get("split").code(), ErrorCode::kObjectNotFound);
  EXPECT_EQ(Start("new", kMiB + kMiB / 2).code(), ErrorCode::kNoAvailableHandle);
  Advance(Seconds(11));
  TickAll();
  EXPECT_EQ(Used(), 0u);
}

TEST_F(Background, ThePartIsKeptWhileTheVersionOfItsOtherReplicaIsLeased) {
  const auto a = Mount("a", 2 * kMiB);
  Mount("b", 2 * kMiB);
  Mount("c", 8 * kMiB);
  // A replica of its own in c, and one that is split over a and b.
  const PutId id = Put("k", 3 * kMiB, {.replica_num = 2});
  ASSERT_EQ(Get("k")->replicas.size(), 2u);
  const uint64_t all = Used();
  Unmount(a);
  TickAll();
  const uint64_t rest = Used();
  ASSERT_LT(rest, all);
  for (int i = 0; i < 3; ++i) {
    Advance(Seconds(6));
    ASSERT_TRUE(core().RenewLease(now_, {Name("k"), id}).ok());
    TickAll();
    EXPECT_EQ(Used(), rest) << "a reader goes on";
  }
  ASSERT_EQ(Remove("k", true), Status::Ok());
  ASSERT_TRUE(core().RenewLease(now_, {Name("k"), id}).ok());
  Advance(Seconds(9));
  TickAll();
  EXPECT_EQ(Used(), rest);
  Advance(Seconds(2));
  TickAll();
  EXPECT_EQ(Used(), 0u);
}

}  // namespace
}  // namespace mooncake::core

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

}  // namespace
}  // namespace mooncake::core

#include "transfer/transport/master_clock.h"

#include <limits>

#include <gtest/gtest.h>

namespace mooncake {
namespace {

const TimePoint kStart{Seconds(100)};

TEST(MasterClockEstimate, RefusesUntilItHasHeardFromTheMaster) {
  MasterClockEstimate clock;
  EXPECT_EQ(clock.GrantEnd(std::numeric_limits<int64_t>::max(), kStart).code(),
            ErrorCode::kInvalidVersion);
  clock.Update(5000, kStart);
  EXPECT_TRUE(clock.GrantEnd(5002, kStart).ok());
  clock.Reset();
  EXPECT_EQ(clock.GrantEnd(1'000'000, kStart).code(), ErrorCode::kInvalidVersion);
}

TEST(MasterClockEstimate, IsNeverBehindTheMaster) {
  MasterClockEstimate clock;
  clock.Update(5000, kStart);  // the master's clock showed 5000 at some time after kStart
  // One millisecond is the rounding: the estimate is 6001 at kStart + 1 s.
  const TimePoint now = kStart + Seconds(1);
  EXPECT_EQ(clock.GrantEnd(6001, now).code(), ErrorCode::kInvalidVersion);
  ASSERT_TRUE(clock.GrantEnd(6002, now).ok());
  EXPECT_EQ(*clock.GrantEnd(6002, now), now + Millis(1));
  EXPECT_EQ(*clock.GrantEnd(66001, now), now + Seconds(60));
}

TEST(MasterClockEstimate, TakesAbsurdDeadlinesWithoutOverflow) {
  MasterClockEstimate clock;
  clock.Update(-5000, kStart);
  EXPECT_TRUE(clock.GrantEnd(std::numeric_limits<int64_t>::max(), kStart).ok());
  EXPECT_EQ(clock.GrantEnd(std::numeric_limits<int64_t>::min(), kStart).code(),
            ErrorCode::kInvalidVersion);
}

TEST(MasterClockEstimate, AllowsAlwaysWhenTold) {
  MasterClockEstimate clock;
  clock.AllowAlways();
  clock.Reset();
  EXPECT_EQ(*clock.GrantEnd(0, kStart), kNever);
}

}  // namespace
}  // namespace mooncake

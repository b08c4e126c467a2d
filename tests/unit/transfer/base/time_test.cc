#include "transfer/base/time.h"

#include <gtest/gtest.h>

#include "transfer/base/clock.h"
#include "transfer/base/manual_clock.h"
#include "transfer/base/strong_id.h"

namespace mooncake {
namespace {

TEST(Time, SaturatingAddStopsAtNever) {
  const TimePoint start{Seconds(5)};
  EXPECT_EQ(SaturatingAdd(start, Seconds(2)), TimePoint{Seconds(7)});
  EXPECT_EQ(SaturatingAdd(start, Duration::max()), kNever);
  EXPECT_EQ(SaturatingAdd(kNever, Seconds(1)), kNever);
  EXPECT_EQ(SaturatingAdd(start, Seconds(-2)), TimePoint{Seconds(3)});
}

TEST(ManualClock, MovesOnlyWhenTold) {
  ManualClock clock;
  const TimePoint before = clock.Now();
  EXPECT_EQ(clock.Now(), before);
  clock.Advance(Millis(5));
  EXPECT_EQ(clock.Now() - before, Millis(5));
}

TEST(SystemClock, NeverGoesBack) {
  const TimePoint before = SystemClock().Now();
  EXPECT_GE(SystemClock().Now(), before);
  EXPECT_GT(SystemClock().WallNow().ns, int64_t{1577836800} * 1000000000);  // after 2020
}

TEST(Uuid, PrintsInTheUsualForm) {
  struct Tag {};
  const Uuid<Tag> id{0x0123456789abcdef, 0xfedcba9876543210};
  EXPECT_EQ(id.ToString(), "01234567-89ab-cdef-fedc-ba9876543210");
  EXPECT_FALSE(id.IsNil());
  EXPECT_TRUE(Uuid<Tag>{}.IsNil());
}

}  // namespace
}  // namespace mooncake

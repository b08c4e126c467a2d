#include "master/core/eviction/use_clock.h"

#include <gtest/gtest.h>

namespace mooncake::core {
namespace {

TimePoint At(int64_t ms) { return TimePoint(Millis(ms)); }

TEST(UseClock, CountsTheUsesSinceATime) {
  UseClock clock;
  EXPECT_EQ(clock.Since(At(5)), 0u);
  for (int64_t i = 1; i <= 100; ++i) clock.CountUse(At(i));
  EXPECT_EQ(clock.Since(At(100)), 0u);
  EXPECT_EQ(clock.Since(At(200)), 0u);
  EXPECT_EQ(clock.Since(At(90)), 10u);
  EXPECT_EQ(clock.Since(At(1)), 99u);
}

TEST(UseClock, TimeWithoutUsesMakesNothingOlder) {
  UseClock clock;
  clock.CountUse(At(1));
  clock.CountUse(At(1'000'000));
  EXPECT_EQ(clock.Since(At(1)), 1u);
  EXPECT_EQ(clock.Since(At(500'000)), 1u);
}

TEST(UseClock, UsesAtOneTimeAreOneStep) {
  UseClock clock;
  for (int i = 0; i < 50; ++i) clock.CountUse(At(7));
  for (int i = 0; i < 50; ++i) clock.CountUse(At(8));
  EXPECT_EQ(clock.Since(At(7)), 50u);
}

TEST(UseClock, IsWithinAThousandthOverMillionsOfUses) {
  UseClock clock;
  constexpr int64_t kUses = 3'000'000;
  for (int64_t i = 1; i <= kUses; ++i) clock.CountUse(At(i));
  for (const int64_t age : {1000, 50'000, 2'000'000}) {
    EXPECT_NEAR(static_cast<double>(clock.Since(At(kUses - age))), static_cast<double>(age),
                kUses / 1000.0)
        << age;
  }
}

TEST(UseClock, BeyondTheHorizonEverythingIsEquallyOld) {
  UseClock clock;
  clock.SetHorizon(1000);
  for (int64_t i = 1; i <= 100'000; ++i) clock.CountUse(At(i));
  EXPECT_EQ(clock.Since(At(99'000)), 1000u);  // exact, as the marks stay close
  EXPECT_EQ(clock.Since(At(10)), clock.Since(At(1)));
  EXPECT_GT(clock.Since(At(10)), 1000u);
}

}  // namespace
}  // namespace mooncake::core

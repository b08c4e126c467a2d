#include "transfer/base/rng.h"

#include <array>

#include <gtest/gtest.h>

namespace mooncake {
namespace {

// Golden: a seed must give the same decisions on every machine and in every release, or a simulator's
// seed would no longer repeat what it found.
TEST(Rng, IsTheSameForEver) {
  Rng rng(42);
  constexpr std::array<uint64_t, 4> kExpected = {0x15780b2e0c2ec716, 0x6104d9866d113a7e,
                                                 0xae17533239e499a1, 0xecb8ad4703b360a1};
  for (uint64_t expected : kExpected) EXPECT_EQ(rng.Next(), expected);
}

TEST(Rng, BelowStaysBelowAndReachesEveryValue) {
  Rng rng(1);
  std::array<int, 7> seen{};
  for (int i = 0; i < 7000; ++i) ++seen.at(rng.Below(7));
  for (int count : seen) EXPECT_GT(count, 800);
  EXPECT_EQ(rng.Below(1), 0u);
}

TEST(Rng, BetweenIncludesBothEnds) {
  Rng rng(2);
  bool low = false;
  bool high = false;
  for (int i = 0; i < 100; ++i) {
    const uint64_t n = rng.Between(5, 7);
    ASSERT_GE(n, 5u);
    ASSERT_LE(n, 7u);
    low |= n == 5;
    high |= n == 7;
  }
  EXPECT_TRUE(low && high);
  EXPECT_EQ(rng.Between(9, 9), 9u);
  (void)rng.Between(0, UINT64_MAX);  // the whole range must not overflow
}

TEST(Rng, ChanceOfNoneAndOfAll) {
  Rng rng(3);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(rng.Chance(0, 10));
    EXPECT_TRUE(rng.Chance(10, 10));
  }
}

}  // namespace
}  // namespace mooncake

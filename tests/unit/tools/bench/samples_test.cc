#include "tools/bench/samples.h"

#include <gtest/gtest.h>

namespace mooncake::bench {
namespace {

TEST(Samples, PercentilesAreNearestRanks) {
  Samples samples;
  EXPECT_EQ(samples.Median(), Duration::zero());
  for (int i = 100; i >= 1; --i) samples.Add(Duration(i));
  EXPECT_EQ(samples.Median(), Duration(50));
  EXPECT_EQ(samples.Percentile(0.99), Duration(99));
  EXPECT_EQ(samples.Percentile(1), Duration(100));
  EXPECT_EQ(samples.Percentile(0.001), Duration(1));
}

TEST(Samples, OneIsAllOfThem) {
  Samples samples;
  samples.Add(Duration(7));
  EXPECT_EQ(samples.Percentile(0.01), Duration(7));
  EXPECT_EQ(samples.Percentile(0.99), Duration(7));
  Samples both;
  both.Append(samples);
  both.Append(samples);
  EXPECT_EQ(both.size(), 2u);
}

TEST(Samples, RatesOfNoTimeAreNone) {
  EXPECT_EQ(PerSecond(10, Duration::zero()), 0);
  EXPECT_EQ(PerSecond(10, Seconds(2)), 5);
}

}  // namespace
}  // namespace mooncake::bench

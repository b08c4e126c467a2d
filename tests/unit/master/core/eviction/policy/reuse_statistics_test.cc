#include "master/core/eviction/policy/reuse_statistics.h"

#include <gtest/gtest.h>

namespace mooncake::core {
namespace {

using Statistics = ReuseStatistics;

TEST(ReuseStatistics, BinsAreHalfOctavesWithoutAGap) {
  for (size_t bin = 2; bin + 1 < Statistics::kAges; ++bin) {
    EXPECT_EQ(Statistics::BinOf(Statistics::BinStart(bin)), bin);
    EXPECT_EQ(Statistics::BinOf(Statistics::BinStart(bin + 1) - 1), bin);
  }
  EXPECT_EQ(Statistics::BinOf(0), 0u);
  EXPECT_EQ(Statistics::BinOf(1), 0u);
  EXPECT_EQ(Statistics::BinOf(96), Statistics::BinOf(127));
  EXPECT_EQ(Statistics::BinOf(UINT64_MAX), Statistics::kAges - 1);
}

TEST(ReuseStatistics, DensityIsHitsPerBlockAndTime) {
  Statistics statistics(1, 1);
  for (int i = 0; i < 1000000; ++i) statistics.CountReuse(0, 64 + i % 32, 1);
  statistics.Learn();
  // All are used again between 64 and 96: one hit for 80 steps of waiting.
  EXPECT_NEAR(statistics.Density(0, 0), 1.0 / 80, 2e-4);
  // Those that have waited for 64 already need 16 more.
  EXPECT_NEAR(statistics.Density(0, 64), 1.0 / 16, 2e-3);
}

TEST(ReuseStatistics, DensityRisesTowardsTheUsualAgeAndFallsBehindIt) {
  Statistics statistics(1, 1);
  for (int i = 0; i < 1000; ++i) statistics.CountReuse(0, 1000, 1);
  for (int i = 0; i < 1000; ++i) statistics.CountForgotten(0, 100000, 1);
  statistics.Learn();
  EXPECT_LT(statistics.Density(0, 10), statistics.Density(0, 500));
  EXPECT_LT(statistics.Density(0, 500), statistics.Density(0, 800));
  EXPECT_LT(statistics.Density(0, 5000), statistics.Density(0, 10) / 2);
}

TEST(ReuseStatistics, WhatStillWaitsSaysNothingOfLaterAges) {
  Statistics only_reused(1, 1);
  Statistics some_wait(1, 1);
  for (Statistics* statistics : {&only_reused, &some_wait}) {
    for (int i = 0; i < 10000; ++i) statistics->CountReuse(0, 1000, 1);
  }
  for (int i = 0; i < 10000; ++i) some_wait.CountWaiting(0, 10, 1);
  only_reused.Learn();
  some_wait.Learn();
  EXPECT_NEAR(some_wait.Density(0, 800), only_reused.Density(0, 800),
              only_reused.Density(0, 800) / 100);
}

TEST(ReuseStatistics, WaitingBlocksAreNamedAnewForEachLesson) {
  Statistics statistics(1, 1);
  for (int i = 0; i < 1000; ++i) statistics.CountReuse(0, 10, 1);
  statistics.Learn();
  const double before = statistics.Density(0, 8);
  for (int i = 0; i < 100000; ++i) statistics.CountWaiting(0, 100, 1);
  statistics.Learn();
  EXPECT_LT(statistics.Density(0, 8), before / 10);
  statistics.Learn();
  EXPECT_EQ(statistics.Density(0, 8), before);
}

TEST(ReuseStatistics, AClassWithoutABlockIsBelievedToBeLikeItsGroup) {
  Statistics statistics(2, 2);
  for (int i = 0; i < 1000; ++i) statistics.CountReuse(0, 10, 1);
  for (int i = 0; i < 1000; ++i) statistics.CountForgotten(2, 1000, 1);
  statistics.Learn();
  EXPECT_NEAR(statistics.Density(1, 4), statistics.Density(0, 4), statistics.Density(0, 4) / 10);
  EXPECT_LT(statistics.Density(3, 4), statistics.Density(1, 4) / 10);
}

// Of the second class nothing is known of ages past 1,200, only that many come back at 1,024.
TEST(ReuseStatistics, WhatIsSeenAtOneAgeIsBelievedOfNearbyOnesTheLessTheFurther) {
  Statistics statistics(1, 2);
  for (uint64_t age = 16; age < (uint64_t{1} << 16); age *= 2) {
    for (int i = 0; i < 200; ++i) statistics.CountReuse(0, age, 1);
  }
  for (int i = 0; i < 20; ++i) statistics.CountReuse(1, 1024, 1);
  for (int i = 0; i < 20; ++i) statistics.CountForgotten(1, 1200, 1);
  statistics.Learn();
  const auto ratio = [&](uint64_t age) {
    return statistics.Density(1, age) / statistics.Density(0, age);
  };
  EXPECT_GT(ratio(1600), 1.1);
  EXPECT_GT(ratio(1600), ratio(30000));
}

TEST(ReuseStatistics, ALongPromptIsOneObservation) {
  Statistics one_block(1, 1);
  Statistics many_blocks(1, 1);
  for (Statistics* statistics : {&one_block, &many_blocks}) {
    for (int i = 0; i < 100; ++i) statistics->CountForgotten(0, 1000, 1);
  }
  one_block.CountReuse(0, 10, 1);
  for (int i = 0; i < 128; ++i) many_blocks.CountReuse(0, 10, 1.0 / 128);
  one_block.Learn();
  many_blocks.Learn();
  EXPECT_DOUBLE_EQ(one_block.Density(0, 8), many_blocks.Density(0, 8));
}

TEST(ReuseStatistics, FadedCountsGiveWayToNewOnes) {
  Statistics statistics(1, 1);
  for (int i = 0; i < 100000; ++i) statistics.CountForgotten(0, 1000, 1);
  for (int i = 0; i < 10; ++i) statistics.Fade(0.1);
  for (int i = 0; i < 1000; ++i) statistics.CountReuse(0, 10, 1);
  statistics.Learn();
  EXPECT_GT(statistics.Density(0, 8), 0.1);
}

TEST(ReuseStatistics, OlderIsWorseWhileNothingIsKnown) {
  Statistics statistics(1, 1);
  statistics.Learn();
  for (uint64_t age = 2; age < (uint64_t{1} << 24); age *= 2)
    EXPECT_GT(statistics.Density(0, age), statistics.Density(0, 2 * age)) << age;
}

}  // namespace
}  // namespace mooncake::core

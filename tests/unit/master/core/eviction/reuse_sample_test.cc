#include "master/core/eviction/reuse_sample.h"

#include <gtest/gtest.h>

#include "transfer/base/rng.h"

namespace mooncake::core {
namespace {

TEST(ReuseSample, AnswersTheUseBefore) {
  ReuseSample sample;
  EXPECT_TRUE(sample.Contains(9));
  EXPECT_FALSE(sample.Record(9, {.at = 5, .of = 1}).has_value());
  const auto before = sample.Record(9, {.at = 8, .of = 2});
  ASSERT_TRUE(before.has_value());
  EXPECT_EQ(before->at, 5u);
  EXPECT_EQ(before->of, 1);
  EXPECT_EQ(sample.size(), 1u);
}

TEST(ReuseSample, ForgetsTheUseLongestAgoFirst) {
  ReuseSample sample;
  for (uint64_t i = 0; i < 1024; ++i) sample.Record(i, {.at = i});
  EXPECT_FALSE(sample.Overflow().has_value());
  sample.Record(0, {.at = 2000});  // young again
  sample.Record(5000, {.at = 2001});
  const auto forgotten = sample.Overflow();
  ASSERT_TRUE(forgotten.has_value());
  EXPECT_EQ(forgotten->at, 1u);
  EXPECT_FALSE(sample.Overflow().has_value());
}

TEST(ReuseSample, IsBoundedHoweverManyKeysThereAre) {
  ReuseSample sample;
  Rng rng(3);
  uint64_t seen = 0;
  for (uint64_t keys = 1000; keys <= 1'000'000; keys *= 10) {
    sample.Aim(keys);
    for (uint64_t i = 0; i < keys; ++i) {
      const uint64_t hash = rng.Next();
      if (!sample.Contains(hash)) continue;
      sample.Record(hash, {.at = ++seen});
      sample.Overflow();
    }
    EXPECT_LE(sample.size(), ReuseSample::kMost);
  }
  EXPECT_GT(sample.size(), ReuseSample::kMost / 4);
  uint64_t listed = 0;
  sample.ForEach([&](const ReuseSample::Use&) { ++listed; });
  EXPECT_EQ(listed, sample.size());
}

}  // namespace
}  // namespace mooncake::core

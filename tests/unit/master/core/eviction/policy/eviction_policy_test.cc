#include "master/core/eviction/policy/eviction_policy.h"

#include <string>

#include <gtest/gtest.h>

namespace mooncake::core {
namespace {

// 1, 2 and 3 come in, 1 is used again.
std::unique_ptr<EvictionPolicy> Prepared(std::string_view name) {
  auto policy = MakeEvictionPolicy(name);
  for (const BlockId block : {1, 2, 3}) {
    EXPECT_FALSE(policy->Use(block));
    policy->Insert(block);
  }
  EXPECT_TRUE(policy->Use(1));
  return policy;
}

TEST(EvictionPolicy, LruGivesUpWhatWasNotUsedForLongest) {
  const auto policy = Prepared("lru");
  EXPECT_EQ(policy->Evict(), 2u);
  EXPECT_EQ(policy->Evict(), 3u);
  EXPECT_EQ(policy->Evict(), 1u);
}

TEST(EvictionPolicy, FifoGivesUpWhatCameInFirst) {
  const auto policy = Prepared("fifo");
  EXPECT_EQ(policy->Evict(), 1u);
  EXPECT_EQ(policy->Evict(), 2u);
  EXPECT_EQ(policy->Evict(), 3u);
}

TEST(EvictionPolicy, HitDensityIsLikeLruWhileItHasLearntNothing) {
  const auto policy = Prepared("hit_density");
  EXPECT_EQ(policy->Evict(), 2u);
  EXPECT_EQ(policy->Evict(), 3u);
  EXPECT_EQ(policy->Evict(), 1u);
}

TEST(EvictionPolicy, WhatWasGivenUpIsNotHeld) {
  for (const std::string_view name : EvictionPolicyNames()) {
    const auto policy = Prepared(name);
    const BlockId gone = policy->Evict();
    EXPECT_EQ(policy->size(), 2u) << name;
    EXPECT_FALSE(policy->Use(gone)) << name;
    policy->Insert(gone);
    EXPECT_TRUE(policy->Use(gone)) << name;
    EXPECT_EQ(policy->size(), 3u) << name;
  }
}

TEST(EvictionPolicy, UnknownNamesMakeNone) {
  EXPECT_EQ(MakeEvictionPolicy("mru"), nullptr);
  EXPECT_EQ(MakeEvictionPolicy(""), nullptr);
}

TEST(EvictionPolicyDeathTest, InsertingWhatIsHeldIsAFaultOfTheCaller) {
  for (const std::string_view name : EvictionPolicyNames()) {
    const auto policy = Prepared(name);
    EXPECT_DEATH(policy->Insert(1), "held already") << name;
  }
}

}  // namespace
}  // namespace mooncake::core

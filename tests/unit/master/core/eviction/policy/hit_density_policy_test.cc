#include "master/core/eviction/policy/hit_density_policy.h"

#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace mooncake::core {
namespace {

using Chains = std::vector<std::vector<BlockId>>;

// Hits of a cache of `capacity` blocks.
uint64_t HitsOf(EvictionPolicy& policy, size_t capacity, const Chains& chains,
                std::vector<BlockId>* victims = nullptr) {
  uint64_t hits = 0;
  for (const auto& chain : chains) {
    policy.StartChain(chain);
    for (const BlockId block : chain) {
      if (policy.Use(block)) {
        ++hits;
        continue;
      }
      if (policy.size() == capacity) {
        const BlockId victim = policy.Evict();
        if (victims != nullptr) victims->push_back(victim);
      }
      policy.Insert(block);
    }
  }
  return hits;
}

uint64_t HitsOf(std::string_view name, size_t capacity, const Chains& chains) {
  return HitsOf(*MakeEvictionPolicy(name), capacity, chains);
}

Chains Loop(BlockId length, size_t uses) {
  Chains chains;
  for (size_t i = 0; i < uses; ++i) chains.push_back({i % length});
  return chains;
}

// Prompts with one of `prefixes` beginnings of four blocks, by turns, and an ending that never comes again.
Chains SharedPrefixes(BlockId prefixes, size_t requests) {
  Chains chains;
  BlockId fresh = 1000000;
  for (size_t i = 0; i < requests; ++i) {
    const BlockId first = (i % prefixes) * 4;
    chains.push_back({first, first + 1, first + 2, first + 3});
    for (int k = 0; k < 6; ++k) chains.back().push_back(fresh++);
  }
  return chains;
}

TEST(HitDensityPolicy, KeepsAPartOfALoopThatIsLargerThanTheCache) {
  const Chains loop = Loop(2000, 100000);
  EXPECT_EQ(HitsOf("lru", 1000, loop), 0u);
  EXPECT_GT(HitsOf("hit_density", 1000, loop), 30000u);
}

TEST(HitDensityPolicy, WhatNeverComesAgainDoesNotPushOutWhatDoes) {
  const Chains chains = SharedPrefixes(100, 10000);
  EXPECT_EQ(HitsOf("lru", 500, chains), 0u);
  EXPECT_GT(HitsOf("hit_density", 500, chains), 30000u);
}

TEST(HitDensityPolicy, TheEndOfAChainGoesWhenEndsHaveNotComeBack) {
  HitDensityPolicy policy;
  Chains chains;
  for (BlockId i = 0; i < 20000; ++i) chains.push_back({i % 50, 100000 + i});
  HitsOf(policy, 200, chains);
  std::vector<BlockId> victims;
  HitsOf(policy, 200, {{7, 999999}, {8, 999998}}, &victims);
  ASSERT_EQ(victims.size(), 2u);
  for (const BlockId victim : victims) EXPECT_GE(victim, 100000u);
}

TEST(HitDensityPolicy, FollowsWhenOtherBlocksBecomePopular) {
  Chains chains;
  for (BlockId phase = 0; phase < 4; ++phase) {
    for (const auto& chain : SharedPrefixes(100, 3000)) {
      chains.emplace_back();
      for (const BlockId block : chain) chains.back().push_back(block + phase * 100000000);
    }
  }
  EXPECT_GT(HitsOf("hit_density", 500, chains), 30000u);
}

TEST(HitDensityPolicy, RemembersAtMostFourGivenUpBlocksForEachHeldOne) {
  HitDensityPolicy policy;
  Chains scan;
  for (BlockId i = 0; i < 20000; ++i) scan.push_back({i});
  HitsOf(policy, 100, scan);
  EXPECT_EQ(policy.size(), 100u);
  EXPECT_LE(policy.remembered(), 5u * 101);
}

TEST(HitDensityPolicy, SameUsesGiveSameVictims) {
  const Chains chains = SharedPrefixes(70, 2000);
  std::vector<BlockId> first;
  std::vector<BlockId> second;
  HitDensityPolicy a;
  HitDensityPolicy b;
  HitsOf(a, 300, chains, &first);
  HitsOf(b, 300, chains, &second);
  EXPECT_EQ(first, second);
}

TEST(HitDensityPolicy, WorksWithoutBeingToldOfChains) {
  HitDensityPolicy policy;
  uint64_t hits = 0;
  for (BlockId i = 0; i < 100000; ++i) {
    const BlockId block = i % 2 == 0 ? i / 2 % 100 : 1000 + i;
    if (policy.Use(block)) {
      ++hits;
      continue;
    }
    if (policy.size() == 120) policy.Evict();
    policy.Insert(block);
  }
  EXPECT_GT(hits, 45000u);
}

}  // namespace
}  // namespace mooncake::core

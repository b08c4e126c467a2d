#include "master/core/placement/placement_policy.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mooncake::core {
namespace {

class FakeLoads : public SegmentLoads {
 public:
  struct Load {
    std::string name;
    std::string host;
    uint64_t capacity = 100;
    uint64_t free = 100;
    uint64_t ssd_capacity = 0;
    uint64_t ssd_used = 0;
  };
  explicit FakeLoads(std::vector<Load> loads) : loads_(std::move(loads)) {}
  uint32_t size() const override { return static_cast<uint32_t>(loads_.size()); }
  SegmentLoad at(uint32_t i) const override {
    const Load& l = loads_[i];
    return {l.name, l.host, l.capacity, l.free, l.ssd_capacity, l.ssd_used};
  }

 private:
  std::vector<Load> loads_;
};

FakeLoads Cluster(uint32_t count) {
  std::vector<FakeLoads::Load> loads;
  for (uint32_t i = 0; i < count; ++i) {
    loads.push_back({.name = "s" + std::to_string(i),
                     .host = "h" + std::to_string(i % 5),
                     .free = i * 7 % 100});
  }
  return FakeLoads(std::move(loads));
}

std::vector<uint32_t> All(PlacementPolicy& policy) {
  std::vector<uint32_t> order;
  while (const auto next = policy.Next()) order.push_back(*next);
  return order;
}

class EveryPolicy : public ::testing::TestWithParam<AllocationStrategy> {};

TEST_P(EveryPolicy, NamesEachSegmentAtMostOnceAndRepeatsWithItsSeed) {
  const auto policy = MakePlacementPolicy(GetParam());
  const auto again = MakePlacementPolicy(GetParam());
  Rng rng(1);
  Rng same(1);
  for (const uint32_t count : {0u, 1u, 2u, 17u, 100u, 3u}) {
    const FakeLoads loads = Cluster(count);
    const PlacementHints hints{.host_id = "h2", .key_hash = count, .replicas = 2};
    policy->Begin(hints, loads, rng);
    again->Begin(hints, loads, same);
    const auto order = All(*policy);
    EXPECT_EQ(order, All(*again));
    const std::set<uint32_t> distinct(order.begin(), order.end());
    EXPECT_EQ(distinct.size(), order.size());
    EXPECT_EQ(order.size(), GetParam() == AllocationStrategy::kCxl ? 0 : count);
    for (const uint32_t index : distinct) EXPECT_LT(index, count);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Strategies, EveryPolicy,
    ::testing::Values(AllocationStrategy::kRandom, AllocationStrategy::kFreeRatioFirst,
                      AllocationStrategy::kSsdFreeRatioFirst, AllocationStrategy::kLocalFirst,
                      AllocationStrategy::kCxl),
    [](const auto& param) { return std::string(AllocationStrategyName(param.param)); });

TEST(RandomPolicy, IsUniform) {
  const auto policy = MakePlacementPolicy(AllocationStrategy::kRandom);
  const FakeLoads loads = Cluster(10);
  Rng rng(7);
  std::vector<int> firsts(10);
  for (int i = 0; i < 10000; ++i) {
    policy->Begin({}, loads, rng);
    ++firsts[*policy->Next()];
  }
  for (const int count : firsts) EXPECT_NEAR(count, 1000, 200);
}

TEST(FreeRatioPolicy, TakesTheEmptiestOfItsSample) {
  const auto policy = MakePlacementPolicy(AllocationStrategy::kFreeRatioFirst);
  const FakeLoads loads({{.name = "a", .host = "", .capacity = 100, .free = 50},
                         {.name = "b", .host = "", .capacity = 1000, .free = 600},
                         {.name = "c", .host = "", .capacity = 10, .free = 1}});
  Rng rng(3);
  for (int i = 0; i < 20; ++i) {
    policy->Begin({}, loads, rng);
    EXPECT_EQ(All(*policy), (std::vector<uint32_t>{1, 0, 2}));
  }
}

TEST(SsdFreeRatioPolicy, UnknownIsEmptyAndOverusedIsFull) {
  const auto policy = MakePlacementPolicy(AllocationStrategy::kSsdFreeRatioFirst);
  const FakeLoads loads({{.name = "a", .host = "", .ssd_capacity = 10, .ssd_used = 20},
                         {.name = "b", .host = "", .ssd_capacity = 10, .ssd_used = 5},
                         {.name = "c", .host = ""}});
  Rng rng(3);
  policy->Begin({}, loads, rng);
  EXPECT_EQ(All(*policy), (std::vector<uint32_t>{2, 1, 0}));
}

TEST(LocalFirstPolicy, BeginsWithTheWritersHostThenTheNextOnes) {
  const auto policy = MakePlacementPolicy(AllocationStrategy::kLocalFirst);
  const FakeLoads loads({{.name = "a", .host = "h1"},
                         {.name = "b", .host = "h2"},
                         {.name = "c", .host = "h2"},
                         {.name = "d", .host = "h3"}});
  Rng rng(3);
  policy->Begin({.host_id = "h2", .key_hash = 0}, loads, rng);
  EXPECT_EQ(All(*policy), (std::vector<uint32_t>{1, 2, 3, 0}));
  policy->Begin({.host_id = "h2", .key_hash = 1}, loads, rng);
  EXPECT_EQ(All(*policy), (std::vector<uint32_t>{2, 1, 3, 0}));
  policy->Begin({.host_id = "h2x", .key_hash = 0}, loads, rng);
  EXPECT_EQ(All(*policy), (std::vector<uint32_t>{3, 0, 1, 2}));
}

TEST(LocalFirstPolicy, LoopbackIsNoHost) {
  const auto policy = MakePlacementPolicy(AllocationStrategy::kLocalFirst);
  const FakeLoads loads = Cluster(30);
  Rng rng(3);
  std::set<uint32_t> firsts;
  for (int i = 0; i < 50; ++i) {
    policy->Begin({.host_id = "127.0.0.1"}, loads, rng);
    firsts.insert(*policy->Next());
  }
  EXPECT_GT(firsts.size(), 5u);
}

}  // namespace
}  // namespace mooncake::core

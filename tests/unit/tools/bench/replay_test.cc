#include "tools/bench/replay.h"

#include <string_view>

#include <gtest/gtest.h>

namespace mooncake::bench {
namespace {

Trace Of(const std::vector<std::vector<uint32_t>>& chains) {
  Trace trace;
  for (const auto& chain : chains) trace.Add(chain);
  return trace;
}

uint64_t Hits(std::string_view policy, const Trace& trace, size_t capacity) {
  return ReplayHits(trace, capacity, *core::MakeEvictionPolicy(policy));
}

TEST(Replay, FifoForgetsWhatLruKeeps) {
  const Trace trace = Of({{0, 1, 0, 2, 0}});
  EXPECT_EQ(Hits("fifo", trace, 2), 1u);  // 2 pushes out 0
  EXPECT_EQ(Hits("lru", trace, 2), 2u);   // 2 pushes out 1
  EXPECT_EQ(BeladyHits(trace, 2), 2u);
}

TEST(Replay, BeladyKeepsWhatIsUsedSoonest) {
  // 2 pushes out 1, hit 0, 1 pushes out 2, 3 pushes out 1, hit 0.
  const Trace trace = Of({{0, 1, 2, 0}, {1, 3}, {0, 1, 2}});
  EXPECT_EQ(Hits("lru", trace, 2), 0u);
  EXPECT_EQ(BeladyHits(trace, 2), 2u);
  // With three places: hits 0 and 1, 3 pushes out 2, hits 0 and 1.
  EXPECT_EQ(BeladyHits(trace, 3), 4u);
}

TEST(Replay, ACacheOfOneBlockHitsRepeatsOnly) {
  const Trace trace = Of({{5, 5}, {5, 6}, {5}});
  for (const std::string_view policy : core::EvictionPolicyNames())
    EXPECT_EQ(Hits(policy, trace, 1), 2u) << policy;
  EXPECT_EQ(BeladyHits(trace, 1), 2u);
}

TEST(Replay, WithRoomForAllOnlyFirstUsesMiss) {
  const Trace trace = Of({{0, 1, 2}, {0, 1, 3}, {2}});
  for (const std::string_view policy : core::EvictionPolicyNames())
    EXPECT_EQ(Hits(policy, trace, 4), 3u) << policy;
  EXPECT_EQ(BeladyHits(trace, 4), 3u);
}

TEST(Replay, ShareClosedIsTheWayFromLruToBelady) {
  EXPECT_DOUBLE_EQ(ShareClosed(100, 150, 300), 0.25);
  EXPECT_DOUBLE_EQ(ShareClosed(100, 50, 300), -0.25);
  EXPECT_DOUBLE_EQ(ShareClosed(100, 100, 100), 0);
}

}  // namespace
}  // namespace mooncake::bench

#include "client/core/replica_selector.h"

#include <gtest/gtest.h>

namespace mooncake {
namespace {

using Order = std::vector<size_t>;

TEST(ReplicaSelector, PrefersTheNearest) {
  const ReplicaView views[] = {{.locality = Locality::kRemote},
                               {.locality = Locality::kSameHost},
                               {.locality = Locality::kSameProcess}};
  EXPECT_EQ(OrderReplicas(views, 0), (Order{2, 1, 0}));
}

TEST(ReplicaSelector, TriesSuspectsLastHoweverNear) {
  const ReplicaView views[] = {{.locality = Locality::kSameProcess, .suspect = true},
                               {.locality = Locality::kRemote}};
  EXPECT_EQ(OrderReplicas(views, 0), (Order{1, 0}));
}

TEST(ReplicaSelector, PrefersTheLeastLoadedOfEquallyNear) {
  const ReplicaView views[] = {{.load = 10}, {.load = 3}, {.load = 7}};
  EXPECT_EQ(OrderReplicas(views, 0), (Order{1, 2, 0}));
}

TEST(ReplicaSelector, TakesTurnsAmongEquals) {
  const ReplicaView views[3] = {};
  std::vector<int> first(3);
  for (uint64_t turn = 0; turn < 9; ++turn) ++first[OrderReplicas(views, turn)[0]];
  EXPECT_EQ(first, (std::vector<int>{3, 3, 3}));
}

TEST(ReplicaSelector, LeavesOutWhatCannotBeReached) {
  const ReplicaView views[] = {{.reachable = false}, {}};
  EXPECT_EQ(OrderReplicas(views, 0), (Order{1}));
  EXPECT_TRUE(OrderReplicas({}, 5).empty());
}

TEST(SuspectTable, DoublesItsTimeUpToALimitAndForgetsAtSuccess) {
  constexpr SegmentId kSegment{1, 2};
  SuspectTable table;
  TimePoint now{Seconds(10)};
  EXPECT_LT(table.SuspectUntil(kSegment), now);
  table.OnFailure(kSegment, now);
  EXPECT_EQ(table.SuspectUntil(kSegment), now + SuspectTable::kFirst);
  table.OnFailure(kSegment, now);  // fails together with the first
  EXPECT_EQ(table.SuspectUntil(kSegment), now + SuspectTable::kFirst);
  for (int i = 0; i < 20; ++i) {
    now = table.SuspectUntil(kSegment);
    table.OnFailure(kSegment, now);
  }
  EXPECT_EQ(table.SuspectUntil(kSegment), now + SuspectTable::kLongest);
  table.OnSuccess(kSegment);
  EXPECT_TRUE(table.empty());
}

TEST(SuspectTable, IsBounded) {
  SuspectTable table;
  for (uint64_t i = 0; i <= SuspectTable::kMaxEntries; ++i) {
    table.OnFailure({i + 1, 0}, TimePoint(Seconds(static_cast<int64_t>(i))));
  }
  EXPECT_EQ(table.SuspectUntil({1, 0}), TimePoint::min());
  EXPECT_NE(table.SuspectUntil({2, 0}), TimePoint::min());
}

}  // namespace
}  // namespace mooncake

#include "master/core/placement/placer.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "transfer/base/seal.h"

namespace mooncake::core {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

class PlacerTest : public ::testing::Test {
 protected:
  uint32_t Mount(const std::string& name, uint64_t size, const std::string& host = "") {
    SegmentDescriptor d;
    d.id = {1, ++count_};
    d.name = name;
    d.size = size;
    d.host_id = host.empty() ? "host-of-" + name : host;
    return pool_.Mount(d);
  }
  ExtentList Place(uint64_t size, uint32_t replicas = 1,
                   const std::vector<std::string>& preferred = {},
                   const std::vector<std::string>& excluded = {}) {
    return placer_.Place({.size = size,
                          .replicas = replicas,
                          .preferred = preferred,
                          .excluded = excluded,
                          .old_slots = {},
                          .host_id = {},
                          .key = "k"},
                         rng_);
  }
  static uint64_t Sum(const ExtentList& extents) {
    uint64_t sum = 0;
    for (const ExtentRef& e : extents) sum += e.length;
    return sum;
  }

  uint64_t count_ = 0;
  SegmentPool pool_;
  Placer placer_{pool_, AllocationStrategy::kRandom, 1 << 20};
  Rng rng_{1};
};

TEST_F(PlacerTest, FindsNothingWithoutSegmentsOrRoom) {
  EXPECT_TRUE(Place(1).empty());
  Mount("a", kMiB);
  EXPECT_TRUE(Place(kMiB).empty());  // the seal has no room
  EXPECT_EQ(Place(kMiB - kSealBytes).size(), 1u);
}

TEST_F(PlacerTest, PutsReplicasOnDistinctHostsWhileThereAreSome) {
  Mount("a1", kMiB, "a");
  Mount("a2", kMiB, "a");
  const uint32_t b = Mount("b", kMiB, "b");
  for (int i = 0; i < 20; ++i) {
    const ExtentList two = Place(100, 2);
    ASSERT_EQ(two.size(), 2u);
    EXPECT_TRUE(two[0].slot == b || two[1].slot == b);
  }
  const ExtentList three = Place(100, 3);
  EXPECT_EQ(three.size(), 3u);
  EXPECT_EQ(Place(100, 5).size(), 3u);  // best effort
}

TEST_F(PlacerTest, PreferredComeFirstAndExcludedNever) {
  const uint32_t a = Mount("a", kMiB);
  const uint32_t b = Mount("b", kMiB);
  Mount("c", kMiB);
  for (int i = 0; i < 10; ++i) {
    const ExtentList two = Place(100, 2, {"missing", "b", "a"});
    EXPECT_EQ(two.at(0).slot, b);
    EXPECT_EQ(two.at(1).slot, a);
    const ExtentList one = Place(100, 3, {"b"}, {"b", "c"});
    ASSERT_EQ(one.size(), 1u);
    EXPECT_EQ(one[0].slot, a);
  }
  EXPECT_TRUE(Place(100, 1, {}, {"a", "b", "c"}).empty());
}

TEST_F(PlacerTest, FreeRatioFirstKeepsSegmentsEvenlyFull) {
  for (int i = 0; i < 8; ++i) Mount("s" + std::to_string(i), (1 + i % 2) * kMiB);
  Placer placer(pool_, AllocationStrategy::kFreeRatioFirst, 1 << 20);
  for (int i = 0; i < 600; ++i) {
    ASSERT_EQ(placer
                  .Place({.size = 10000,
                          .replicas = 1,
                          .preferred = {},
                          .excluded = {},
                          .old_slots = {},
                          .host_id = {},
                          .key = "k"},
                         rng_)
                  .size(),
              1u);
  }
  double lowest = 1;
  double highest = 0;
  for (uint32_t slot = 0; slot < pool_.slot_count(); ++slot) {
    const Segment& segment = pool_.at(slot);
    const double use =
        static_cast<double>(segment.used()) / static_cast<double>(segment.capacity());
    lowest = std::min(lowest, use);
    highest = std::max(highest, use);
  }
  EXPECT_LT(highest - lowest, 0.15);
}

TEST_F(PlacerTest, ExplicitPreferencesComeBeforeTheWritersHost) {
  const uint32_t mine = Mount("a", kMiB, "mine");
  const uint32_t wanted = Mount("b", kMiB, "other");
  Placer placer(pool_, AllocationStrategy::kLocalFirst, 1 << 20);
  const std::vector<std::string> preferred{"b"};
  PlacementRequest request{.size = 100,
                           .replicas = 2,
                           .preferred = preferred,
                           .excluded = {},
                           .old_slots = {},
                           .host_id = "mine",
                           .key = "k"};
  const ExtentList extents = placer.Place(request, rng_);
  ASSERT_EQ(extents.size(), 2u);
  EXPECT_EQ(extents[0].slot, wanted);
  EXPECT_EQ(extents[1].slot, mine);
}

TEST_F(PlacerTest, AFullPreferredSegmentFallsBack) {
  Mount("a", kMiB);
  const uint32_t b = Mount("b", kMiB);
  ASSERT_EQ(Place(900 * 1024, 1, {"a"}).size(), 1u);
  EXPECT_EQ(Place(900 * 1024, 1, {"a"}).at(0).slot, b);
}

TEST_F(PlacerTest, EightObjectsOfFifteenMiBFitTwoSegmentsOfSixtyFour) {
  Mount("a", 64 * kMiB);
  Mount("b", 64 * kMiB);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(Place(15 * kMiB).size(), 1u) << i;
  EXPECT_FALSE(Place(5 * kMiB).empty());  // split over the two holes of 4 MiB
  EXPECT_TRUE(Place(5 * kMiB).empty());
}

TEST_F(PlacerTest, SplitsWhatFitsNoHole) {
  Mount("a", 4 * kMiB);
  Mount("b", 4 * kMiB);
  Mount("c", 4 * kMiB);
  const ExtentList extents = Place(10 * kMiB);
  ASSERT_EQ(extents.size(), 3u);
  EXPECT_EQ(Sum(extents), 10 * kMiB);
  EXPECT_EQ(pool_.used(), 10 * kMiB + 3 * kSealBytes);
  for (const ExtentRef& e : extents) pool_.Release(e);
  EXPECT_EQ(pool_.used(), 0u);
}

TEST_F(PlacerTest, SplitReplicasShareNoSegment) {
  for (int i = 0; i < 6; ++i) Mount("s" + std::to_string(i), 4 * kMiB);
  const ExtentList extents = Place(10 * kMiB, 2);
  std::set<uint32_t> first;
  std::set<uint32_t> second;
  for (const ExtentRef& e : extents) (e.replica == 0 ? first : second).insert(e.slot);
  EXPECT_EQ(first.size(), 3u);
  EXPECT_EQ(second.size(), 3u);
  for (const uint32_t slot : first) EXPECT_FALSE(second.contains(slot));
}

TEST_F(PlacerTest, DoesNotSplitIntoCrumbs) {
  Mount("a", 2 * kMiB);
  ExtentList blocks;
  for (int i = 0; i < 16; ++i) {
    const ExtentList one = Place(128 * 1024 - kSealBytes);
    ASSERT_EQ(one.size(), 1u);
    blocks.push_back(one[0]);
  }
  for (size_t i = 0; i < blocks.size(); i += 2) pool_.Release(blocks[i]);
  EXPECT_TRUE(Place(512 * 1024).empty());  // 1 MiB is free, in holes of 128 KiB
  EXPECT_EQ(pool_.used(), kMiB);
}

}  // namespace
}  // namespace mooncake::core

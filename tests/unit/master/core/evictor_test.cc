#include <algorithm>

#include "tests/unit/master/core/core_fixture.h"
#include "transfer/base/seal.h"

namespace mooncake::core {
namespace {

constexpr uint64_t kSize = 4096 - 64;  // one object occupies 4096 bytes

class Eviction : public CoreTest {
 protected:
  // `count` objects, one millisecond apart.
  void Fill(int count, const std::string& prefix = "k", const ReplicateConfig& config = {}) {
    for (int i = 0; i < count; ++i) {
      Put(prefix + std::to_string(i), kSize, config);
      Advance(Millis(1));
    }
  }
  int Left(const std::string& prefix) { return static_cast<int>(Keys(prefix).size()); }
};

TEST_F(Eviction, TakesExactlyTheOldest) {
  for (int i = 0; i < 4; ++i) Mount("s" + std::to_string(i), 8 * kMiB);
  Fill(400);
  core().Evict(now_, 400 * 4096 * 5 / 100, 1000);
  EXPECT_EQ(Left("k"), 380);
  for (int i = 0; i < 400; ++i) EXPECT_EQ(Exists("k" + std::to_string(i)), i >= 20) << i;
}

TEST_F(Eviction, AReadMakesAnObjectYoung) {
  Mount("a", kMiB);
  Fill(10);
  ASSERT_TRUE(Get("k0").ok());
  Advance(Seconds(11));  // the lease is over, the order stays
  core().Evict(now_, 9 * 4096, 1000);
  EXPECT_EQ(Keys(), std::vector<std::string>{"k0"});
}

TEST_F(Eviction, NeverTakesALeasedObjectButWhatIsYoungerAndUnread) {
  Mount("a", kMiB);
  Fill(5, "old");
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Get("old" + std::to_string(i)).ok());
  Advance(Seconds(1));
  Fill(5, "young");
  EXPECT_EQ(core().Evict(now_, 100 * 4096, 1000), 5u * 4096);
  EXPECT_EQ(Left("old"), 5);
  EXPECT_EQ(Left("young"), 0);
}

TEST_F(Eviction, StopsAtItsLimit) {
  Mount("a", kMiB);
  Fill(100);
  core().Evict(now_, kMiB, 10);
  EXPECT_EQ(Left("k"), 90);
}

TEST_F(Eviction, SoftPinsGoLastAndTheOldestFirst) {
  Mount("a", kMiB);
  Fill(10, "soft", {.soft_pin = SoftPinAction::kEnable});
  Fill(10, "plain");
  core().Evict(now_, 16 * 4096, 1000);
  EXPECT_EQ(Left("plain"), 0);
  EXPECT_EQ(Left("soft"), 4);
  EXPECT_TRUE(Exists("soft9"));
  EXPECT_FALSE(Exists("soft5"));
}

TEST_F(Eviction, SoftPinsStayWhenSoConfigured) {
  options_.allow_evict_soft_pinned = false;
  Mount("a", 16 * 4096);
  Fill(10, "soft", {.soft_pin = SoftPinAction::kEnable});
  int stored = 0;
  for (int i = 0; i < 66; ++i) stored += Start("p" + std::to_string(i), kSize).ok() ? 1 : 0;
  EXPECT_EQ(stored, 6);
  EXPECT_EQ(Left("soft"), 10);
}

TEST_F(Eviction, HardPinsStay) {
  Mount("a", 16 * 4096);
  Fill(10, "hard", {.hard_pin = true});
  EXPECT_EQ(core().Evict(now_, kMiB, 1000), 0u);
  EXPECT_EQ(Left("hard"), 10);
  EXPECT_EQ(Remove("hard0"), Status::Ok());
}

TEST_F(Eviction, ASoftPinEnds) {
  Mount("a", kMiB);
  Fill(1, "soft", {.soft_pin = SoftPinAction::kEnable, .soft_pin_ttl = Seconds(5)});
  Advance(Seconds(5));
  TickAll();
  Fill(1, "plain");
  core().Evict(now_, 1, 1);
  EXPECT_EQ(Keys(), std::vector<std::string>{"plain0"});
}

TEST_F(Eviction, PutStartEvictsInlineWhatItNeeds) {
  Mount("a", 16 * 4096);
  Fill(16);
  EXPECT_TRUE(Start("new", 3 * 4096).ok());
  EXPECT_FALSE(Exists("k0"));
  EXPECT_GE(Left("k"), 11);
  EXPECT_GT(core().GetCounters().evicted_inline, 0u);
}

TEST_F(Eviction, MakesOneHoleWhereTheColdestLieApart) {
  Mount("a", 64 * 4096);
  Fill(64);
  // Every second object is old: the oldest are no neighbours.
  for (int i = 1; i < 64; i += 2) ASSERT_TRUE(Get("k" + std::to_string(i)).ok());
  Advance(Seconds(11));
  EXPECT_TRUE(Start("large", 12 * 4096).ok());
  EXPECT_GE(Left("k"), 64 - 13 - 13);
}

TEST_F(Eviction, AHoleSparesWhatIsLeasedOrPinned) {
  Mount("a", 32 * 4096);
  Fill(16, "k");
  Fill(1, "hard", {.hard_pin = true});
  Fill(4, "k2");
  Fill(1, "soft", {.soft_pin = SoftPinAction::kEnable});
  Fill(10, "k3");
  ASSERT_TRUE(Get("k8").ok());
  EXPECT_TRUE(Start("large", 9 * 4096).ok());
  EXPECT_TRUE(Exists("k8"));
  EXPECT_TRUE(Exists("hard0"));
  EXPECT_TRUE(Exists("soft0"));
  EXPECT_EQ(Start("larger", 20 * 4096).code(), ErrorCode::kNoAvailableHandle);
}

TEST_F(Eviction, AHoleTooLargeForOnePutStartIsMadeByTheNextOnes) {
  options_.inline_eviction_limit = 8;
  Mount("a", 64 * 4096);
  Fill(64);
  for (int i = 1; i < 64; i += 2) ASSERT_TRUE(Get("k" + std::to_string(i)).ok());
  Advance(Seconds(11));
  ASSERT_EQ(Start("large", 30 * 4096).code(), ErrorCode::kNoAvailableHandle);
  TickAll();
  EXPECT_TRUE(Start("large", 30 * 4096).ok());
}

TEST_F(Eviction, NothingIsEvictedWhereThePutMayNotGo) {
  Mount("a", 16 * 4096);
  Fill(16);
  EXPECT_EQ(Start("new", 100, {.excluded_segments = {"a"}}).code(), ErrorCode::kNoAvailableHandle);
  TickAll();
  EXPECT_EQ(Left("k"), 16);
}

TEST_F(Eviction, AFailedPutStartArmsTheBackground) {
  options_.inline_eviction_limit = 1;
  Mount("a", 16 * 4096);
  Fill(16);
  EXPECT_EQ(Start("new", 8 * 4096).code(), ErrorCode::kNoAvailableHandle);
  TickAll();
  EXPECT_TRUE(Start("new", 7 * 4096).ok());
}

TEST_F(Eviction, StartsAboveTheWatermarkAndGoesOnBelowIt) {
  options_.eviction_high_watermark = 0.9;
  options_.eviction_ratio = 0.2;
  Mount("a", 100 * 4096);
  Fill(90);
  TickAll();
  EXPECT_EQ(Left("k"), 90);
  Fill(1, "more");
  Advance(options_.lease_ttl);
  EXPECT_TRUE(core().Tick(now_, 5).more);
  TickAll();
  EXPECT_EQ(Left(""), 70);
  EXPECT_TRUE(Exists("more0"));
}

TEST_F(Eviction, WatchesEachSegmentToo) {
  options_.segment_high_watermark = 0.8;
  options_.eviction_ratio = 0.1;
  Mount("big", 100 * 4096);
  Mount("small", 10 * 4096);
  Fill(9, "k", {.preferred_segments = {"small"}});
  Advance(options_.lease_ttl);
  TickAll();
  EXPECT_EQ(Left("k"), 7);
}

TEST_F(Eviction, AWatermarkSparesWhatWasJustWrittenUntilAPutNeedsTheRoom) {
  options_.eviction_high_watermark = 0.5;
  options_.eviction_ratio = 0.1;
  Mount("a", 10 * 4096);
  Fill(10);
  Advance(options_.lease_ttl - Millis(20));
  TickAll();
  EXPECT_EQ(Left("k"), 10);
  Put("needed", kSize);
  EXPECT_EQ(Left("k"), 9);
  Advance(Millis(19));
  TickAll();
  EXPECT_EQ(Left(""), 4);
  EXPECT_TRUE(Exists("needed"));
}

TEST_F(Eviction, AWatermarkSparesAnObjectOfMoreThanHalfTheSegmentUntilAPutNeedsTheRoom) {
  options_.eviction_high_watermark = 0.5;
  options_.eviction_ratio = 0.1;
  Mount("a", 100 * 4096);
  Put("huge", 90 * 4096);
  Advance(Seconds(3600));
  TickAll();
  EXPECT_TRUE(Exists("huge"));
  Put("other", 20 * 4096);
  EXPECT_FALSE(Exists("huge"));
}

TEST_F(Eviction, AWatermarkOfOneMeansOnlyOnFailure) {
  Mount("a", 16 * 4096);
  Fill(16);
  TickAll();
  EXPECT_EQ(Left("k"), 16);
}

TEST_F(Eviction, AGroupGoesTogether) {
  Mount("a", kMiB);
  for (int i = 0; i < 3; ++i) Put("g" + std::to_string(i), kSize, {.group = "g"});
  Advance(Millis(1));
  Fill(7);
  core().Evict(now_, 4096, 1000);
  EXPECT_EQ(Left("g"), 0);
  EXPECT_EQ(Left("k"), 7);
}

TEST_F(Eviction, ALeasedMemberSavesItsGroupAndTheNextGoes) {
  Mount("a", kMiB);
  for (int i = 0; i < 3; ++i) Put("g" + std::to_string(i), kSize, {.group = "g"});
  Advance(Millis(1));
  Fill(7);
  ASSERT_TRUE(Get("g1").ok());
  core().Evict(now_, 4096, 1000);
  EXPECT_EQ(Left("g"), 3);
  EXPECT_FALSE(Exists("k0"));
  EXPECT_EQ(Left("k"), 6);
}

TEST_F(Eviction, ALargeBlockedGroupDoesNotShieldTheOthers) {
  Mount("a", 64 * kMiB);
  for (int i = 0; i < 1161; ++i) Put("g" + std::to_string(i), kSize, {.group = "g"});
  Advance(Millis(1));
  Fill(200);
  ASSERT_TRUE(Get("g0").ok());
  core().Evict(now_, 69 * 4096, 2000);
  EXPECT_EQ(Left("g"), 1161);
  EXPECT_EQ(Left("k"), 131);
}

TEST_F(Eviction, GivesUpWhenAllIsLeasedHoweverSmallItsBudget) {
  options_.eviction_high_watermark = 0.5;
  for (int i = 0; i < 4; ++i) {
    const std::string name = "s" + std::to_string(i);
    Mount(name, 2 * 4096);
    Put("g" + name, kSize, {.group = "g", .preferred_segments = {name}});
    Put("h" + name, kSize, {.group = "g", .preferred_segments = {name}});
  }
  ASSERT_TRUE(Get("gs0").ok());
  Advance(Millis(1));
  int ticks = 0;
  while (core().Tick(now_, 1).more && ticks < 1000) ++ticks;
  EXPECT_LT(ticks, 100);
  EXPECT_EQ(Keys().size(), 8u);
}

TEST_F(Eviction, PinnedMembersStayWhenTheirGroupGoes) {
  Mount("a", kMiB);
  Put("g0", kSize, {.group = "g"});
  Put("g1", kSize, {.hard_pin = true, .group = "g"});
  Put("g2", kSize, {.soft_pin = SoftPinAction::kEnable, .group = "g"});
  core().Evict(now_, 1, 10);
  EXPECT_EQ(Keys("g"), (std::vector<std::string>{"g1", "g2"}));
}

TEST_F(Eviction, AllReplicasOfAVictimGo) {
  Mount("a", kMiB);
  Mount("b", kMiB);
  Put("k", kSize, {.replica_num = 2});
  EXPECT_EQ(core().Evict(now_, 1, 10), 2u * 4096);
  EXPECT_EQ(Used(), 0u);
}

TEST_F(Eviction, EmptyObjectsStay) {
  Put("dir/", 0);
  EXPECT_EQ(core().Evict(now_, 1, 10), 0u);
  EXPECT_TRUE(Exists("dir/"));
}

}  // namespace
}  // namespace mooncake::core

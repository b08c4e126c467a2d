// The evictor with the policy hit_density: what it prefers, and that it spares what any eviction spares.
#include <algorithm>

#include "tests/unit/master/core/core_fixture.h"
#include "transfer/base/seal.h"

namespace mooncake::core {
namespace {

class HitDensityEviction : public CoreTest {
 protected:
  HitDensityEviction() {
    options_.eviction_policy = EvictionPolicyKind::kHitDensity;
    options_.lease_ttl = Millis(1);
  }
  static constexpr uint64_t kBytes = 4096 - 64;  // one object occupies 4096 bytes

  void Use(const std::string& key) {
    if (!Get(key).ok()) Put(key, kBytes);
    Advance(Millis(2));
    core().Tick(now_, 100);
  }
  // Keys that are read again and again, between three times as many that never are.
  int HotHits(int rounds) {
    int hits = 0;
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < 50; ++i) {
        const std::string hot = "hot" + std::to_string(i);
        hits += Exists(hot) ? 1 : 0;
        Use(hot);
        for (int j = 0; j < 3; ++j) Use("cold" + std::to_string((round * 50 + i) * 3 + j));
      }
    }
    return hits;
  }
};

TEST_F(HitDensityEviction, KeepsWhatIsReadAgainThroughALoadThatLeastRecentlyUsedLosesItBy) {
  Mount("a", 100 * 4096);  // a round touches 200
  constexpr int kRounds = 60;
  EXPECT_GT(HotHits(kRounds), kRounds * 50 / 2);
}

class LruEviction : public HitDensityEviction {
 protected:
  LruEviction() { options_.eviction_policy = EvictionPolicyKind::kLru; }
};

TEST_F(LruEviction, LosesThatLoad) {
  Mount("a", 100 * 4096);
  EXPECT_EQ(HotHits(60), 0);
}

TEST_F(HitDensityEviction, SparesLeasedPinnedAndUnfinishedObjects) {
  options_.lease_ttl = Seconds(10);
  Mount("a", 16 * 4096);
  for (int i = 0; i < 4; ++i) Put("hard" + std::to_string(i), kBytes, {.hard_pin = true});
  for (int i = 0; i < 4; ++i) {
    Put("leased" + std::to_string(i), kBytes);
    ASSERT_TRUE(Get("leased" + std::to_string(i)).ok());
  }
  const auto unfinished = Start("unfinished", kBytes);
  ASSERT_TRUE(unfinished.ok());
  for (int i = 0; i < 7; ++i) Put("plain" + std::to_string(i), kBytes);
  EXPECT_EQ(core().Evict(now_, 100 * 4096, 1000), 7u * 4096);
  EXPECT_EQ(Keys("plain").size(), 0u);
  EXPECT_EQ(Keys("hard").size(), 4u);
  EXPECT_EQ(Keys("leased").size(), 4u);
  EXPECT_EQ(End("unfinished", unfinished->put_id), Status::Ok());
}

TEST_F(HitDensityEviction, SoftPinsGoOnlyWhenNothingElseIsLeft) {
  Mount("a", 64 * 4096);
  for (int i = 0; i < 10; ++i)
    Put("soft" + std::to_string(i), kBytes, {.soft_pin = SoftPinAction::kEnable});
  for (int i = 0; i < 10; ++i) Put("plain" + std::to_string(i), kBytes);
  core().Evict(now_, 10 * 4096, 1000);
  EXPECT_EQ(Keys("soft").size(), 10u);
  EXPECT_EQ(Keys("plain").size(), 0u);
  core().Evict(now_, 4 * 4096, 1000);
  EXPECT_EQ(Keys("soft").size(), 6u);
}

TEST_F(HitDensityEviction, AGroupGoesWholeOrStays) {
  Mount("a", 64 * 4096);
  for (int i = 0; i < 5; ++i) Put("g" + std::to_string(i), kBytes, {.group = "g"});
  core().Evict(now_, 4096, 1000);
  EXPECT_EQ(Keys("g").size(), 0u);
}

TEST_F(HitDensityEviction, OfOneSegmentTakesOnlyWhatIsThere) {
  options_.segment_high_watermark = 0.5;
  options_.eviction_ratio = 0.25;
  Mount("full", 16 * 4096);
  Mount("empty", 64 * 4096);
  for (int i = 0; i < 12; ++i)
    Put("a" + std::to_string(i), kBytes, {.preferred_segments = {"full"}});
  for (int i = 0; i < 20; ++i)
    Put("b" + std::to_string(i), kBytes, {.preferred_segments = {"empty"}});
  Advance(Seconds(1));
  TickAll();
  EXPECT_EQ(Keys("b").size(), 20u);
  EXPECT_EQ(Keys("a").size(), 4u);
}

}  // namespace
}  // namespace mooncake::core

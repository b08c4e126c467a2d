#include "fuse/fs/slab_cache.h"

#include <thread>

#include <gtest/gtest.h>

#include "transfer/base/manual_clock.h"

namespace mooncake::fs {
namespace {

class SlabCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto pool = SlabPool::Create({.memory_bytes = 1000, .spill_dir = ::testing::TempDir()});
    ASSERT_TRUE(pool.ok());
    pool_ = std::move(*pool);
    pool_->SetReclaimer([this](uint64_t bytes) { return cache_.Reclaim(bytes); });
  }
  void TearDown() override { cache_.Reclaim(UINT64_MAX); }
  std::shared_ptr<Slab> Make(uint64_t bytes) { return pool_->MakeInMemory(bytes); }

  ManualClock clock_;
  std::unique_ptr<SlabPool> pool_;
  SlabCache cache_{300, 4, clock_};
};

TEST_F(SlabCacheTest, FindsWhatWasPut) {
  const auto slab = Make(10);
  cache_.Put(PutId{1}, slab);
  EXPECT_EQ(cache_.Get(PutId{1}), slab);
  EXPECT_EQ(cache_.Get(PutId{2}), nullptr);
  EXPECT_EQ(cache_.bytes(), 10u);
}

TEST_F(SlabCacheTest, EvictsTheOneUnusedForLongest) {
  for (uint64_t i = 1; i <= 3; ++i) cache_.Put(PutId{i}, Make(100));
  EXPECT_NE(cache_.Get(PutId{1}), nullptr);
  cache_.Put(PutId{4}, Make(100));
  EXPECT_EQ(cache_.Get(PutId{2}), nullptr);
  EXPECT_NE(cache_.Get(PutId{1}), nullptr);
  EXPECT_EQ(cache_.bytes(), 300u);
}

TEST_F(SlabCacheTest, BoundsTheNumberOfFiles) {
  for (uint64_t i = 1; i <= 6; ++i) cache_.Put(PutId{i}, Make(1));
  EXPECT_EQ(cache_.bytes(), 4u);
}

TEST_F(SlabCacheTest, NeverEvictsWhatIsInUse) {
  const auto used = Make(300);
  cache_.Put(PutId{1}, used);
  cache_.Put(PutId{2}, Make(100));  // no room for it
  EXPECT_EQ(cache_.Get(PutId{1}), used);
  EXPECT_EQ(cache_.Get(PutId{2}), nullptr);
  EXPECT_FALSE(cache_.Reclaim(1));
}

TEST_F(SlabCacheTest, TakeIsForTheOnlyUser) {
  auto slab = Make(10);
  cache_.Put(PutId{1}, slab);
  EXPECT_EQ(cache_.Take(PutId{1}), nullptr);
  slab.reset();
  EXPECT_NE(cache_.Take(PutId{1}), nullptr);
  EXPECT_EQ(cache_.Get(PutId{1}), nullptr);
  EXPECT_EQ(cache_.bytes(), 0u);
}

TEST_F(SlabCacheTest, ForgottenIsGoneForItButNotForWhoHasIt) {
  const auto slab = Make(10);
  cache_.Put(PutId{1}, slab);
  EXPECT_EQ(cache_.Forget(PutId{1}), slab);
  EXPECT_EQ(cache_.Forget(PutId{1}), nullptr);
  EXPECT_EQ(cache_.Get(PutId{1}), nullptr);
  EXPECT_EQ(cache_.bytes(), 0u);
  EXPECT_EQ(slab->size(), 10u);
}

TEST_F(SlabCacheTest, GivesWayToFilesThatAreBeingWritten) {
  cache_.Put(PutId{1}, Make(300));
  const auto written = *pool_->Make();
  EXPECT_TRUE(written->Resize(900).ok());
  EXPECT_TRUE(written->in_memory());
  EXPECT_EQ(cache_.bytes(), 0u);
}

TEST_F(SlabCacheTest, OneOfManyFetches) {
  std::atomic<int> fetches{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const auto slab = cache_.GetOrFetch(PutId{1}, clock_.Now() + Seconds(1), [&] {
        ++fetches;
        return Make(10);
      });
      EXPECT_NE(slab, nullptr);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fetches, 1);
}

TEST_F(SlabCacheTest, AFailedFetchIsTriedAgain) {
  EXPECT_EQ(cache_.GetOrFetch(PutId{1}, kNever, [] { return nullptr; }), nullptr);
  EXPECT_NE(cache_.GetOrFetch(PutId{1}, kNever, [&] { return Make(10); }), nullptr);
}

}  // namespace
}  // namespace mooncake::fs

// What every allocator of a segment does.
#include "master/core/allocator/segment_allocator.h"

#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace mooncake::core {
namespace {

constexpr uint64_t kSize = uint64_t{16} << 20;

class EveryAllocator : public ::testing::TestWithParam<MemoryAllocator> {
 protected:
  const std::unique_ptr<SegmentAllocator> allocator_ = MakeSegmentAllocator(GetParam(), kSize);
};

INSTANTIATE_TEST_SUITE_P(Kinds, EveryAllocator,
                         ::testing::Values(MemoryAllocator::kOffset, MemoryAllocator::kCachelib),
                         [](const auto& kind) {
                           return kind.param == MemoryAllocator::kOffset ? "offset" : "cachelib";
                         });

TEST_P(EveryAllocator, GivesAlignedBlocksThatAreLongEnoughUntilItIsFull) {
  for (const uint64_t bytes : {1, 1000, 100000, 1 << 20}) {
    SCOPED_TRACE(bytes);
    std::vector<uint32_t> handles;
    uint64_t used = 0;
    while (const auto block = allocator_->Allocate(bytes)) {
      EXPECT_EQ(block->offset % SegmentAllocator::kUnit, 0u);
      EXPECT_EQ(allocator_->BlockOffset(block->handle), block->offset);
      EXPECT_GE(allocator_->BlockBytes(block->handle), bytes);
      used += allocator_->BlockBytes(block->handle);
      handles.push_back(block->handle);
    }
    EXPECT_FALSE(allocator_->HasHole(bytes));
    EXPECT_EQ(allocator_->used_bytes(), used);
    EXPECT_EQ(allocator_->live_blocks(), handles.size());
    EXPECT_GE(used, kSize * 9 / 10);
    for (const uint32_t handle : handles) allocator_->Free(handle);
    EXPECT_EQ(allocator_->free_bytes(), kSize);
    EXPECT_EQ(allocator_->live_blocks(), 0u);
  }
}

TEST_P(EveryAllocator, RefusesWhatIsLongerThanItsLargestHole) {
  EXPECT_FALSE(allocator_->Allocate(kSize + 1).has_value());
  const uint64_t largest = allocator_->LargestFree();
  EXPECT_FALSE(allocator_->Allocate(largest + 1).has_value());
  EXPECT_TRUE(allocator_->HasHole(largest));
  EXPECT_TRUE(allocator_->Allocate(largest).has_value());
}

TEST_P(EveryAllocator, UpToTakesAsMuchAsThereIsInOneHole) {
  const uint64_t largest = allocator_->LargestFree();
  std::vector<uint64_t> pieces;
  while (const auto block = allocator_->AllocateUpTo(2 * kSize, 1 << 20)) {
    pieces.push_back(allocator_->BlockBytes(block->handle));
  }
  EXPECT_EQ(pieces, std::vector<uint64_t>(kSize / largest, largest));
  EXPECT_FALSE(allocator_->AllocateUpTo(64, 64).has_value());
}

TEST_P(EveryAllocator, RemembersTheOwnersOfLiveBlocks) {
  int owners[3] = {};
  std::set<uint32_t> handles;
  for (int& owner : owners) {
    const auto block = allocator_->Allocate(1000);
    ASSERT_TRUE(block.has_value());
    EXPECT_EQ(allocator_->Owner(block->handle), nullptr);
    allocator_->SetOwner(block->handle, &owner);
    EXPECT_EQ(allocator_->Owner(block->handle), &owner);
    EXPECT_TRUE(handles.insert(block->handle).second);
    EXPECT_LT(block->handle, allocator_->HandleCount());
  }
  const uint32_t count = allocator_->HandleCount();
  for (const uint32_t handle : handles) {
    allocator_->Free(handle);
    EXPECT_FALSE(allocator_->IsLive(handle));
  }
  EXPECT_GE(allocator_->HandleCount(), count);
}

TEST_P(EveryAllocator, OfADeadSegmentGivesMemoryBackBehindTheWalk) {
  for (int i = 0; i < 10000; ++i) ASSERT_TRUE(allocator_->Allocate(1000).has_value());
  allocator_->ForgetOwner(9999);
  allocator_->DropNodesBelow(5000);
  allocator_->ForgetOwner(0);
  int live = 0;
  for (uint32_t handle = 5000; handle < allocator_->HandleCount(); ++handle)
    live += allocator_->IsLive(handle) ? 1 : 0;
  EXPECT_GE(live, 5000);
  allocator_->DropNodesBelow(allocator_->HandleCount());
}

TEST_P(EveryAllocator, NamesEveryByteOnce) {
  std::vector<uint32_t> handles;
  for (int i = 0; i < 100; ++i) {
    const auto block = allocator_->Allocate(1 + 997 * (i % 3));
    ASSERT_TRUE(block.has_value());
    handles.push_back(block->handle);
  }
  for (size_t i = 0; i < handles.size(); i += 4) allocator_->Free(handles[i]);
  uint64_t at = 0;
  uint64_t used = 0;
  for (const SegmentAllocator::Range& range : allocator_->Ranges()) {
    EXPECT_EQ(range.offset, at);
    at += range.bytes;
    if (range.used) used += range.bytes;
  }
  EXPECT_EQ(at, allocator_->capacity());
  EXPECT_EQ(used, allocator_->used_bytes());
}

using EveryAllocatorDeathTest = EveryAllocator;
INSTANTIATE_TEST_SUITE_P(Kinds, EveryAllocatorDeathTest,
                         ::testing::Values(MemoryAllocator::kOffset, MemoryAllocator::kCachelib));

TEST_P(EveryAllocatorDeathTest, FreeingTwiceIsCaught) {
  const auto block = allocator_->Allocate(64);
  const auto other = allocator_->Allocate(64);
  ASSERT_TRUE(block.has_value() && other.has_value());
  allocator_->Free(block->handle);
  EXPECT_DEATH(allocator_->Free(block->handle), "freed twice");
}

}  // namespace
}  // namespace mooncake::core

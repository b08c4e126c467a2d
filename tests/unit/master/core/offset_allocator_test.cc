#include "master/core/allocator/offset_allocator.h"

#include <vector>

#include <gtest/gtest.h>

namespace mooncake::core {
namespace {

TEST(OffsetAllocator, FillsExactlyAndMergesWhole) {
  OffsetAllocator a(64 * 100);
  std::vector<uint32_t> handles;
  for (int i = 0; i < 100; ++i) {
    const auto block = a.Allocate(64);
    ASSERT_TRUE(block.has_value());
    EXPECT_EQ(block->offset % 64, 0u);
    handles.push_back(block->handle);
  }
  EXPECT_FALSE(a.Allocate(1).has_value());
  EXPECT_EQ(a.free_bytes(), 0u);
  EXPECT_EQ(a.LargestFree(), 0u);
  for (size_t i = 0; i < 100; i += 2) a.Free(handles[i]);
  EXPECT_EQ(a.LargestFree(), 64u);
  for (size_t i = 1; i < 100; i += 2) a.Free(handles[i]);
  EXPECT_EQ(a.LargestFree(), a.capacity());
  EXPECT_EQ(a.Ranges().size(), 1u);
}

TEST(OffsetAllocator, RoundsItsSizeDownAndRequestsUp) {
  OffsetAllocator a(130);
  EXPECT_EQ(a.capacity(), 128u);
  const auto block = a.Allocate(65);
  ASSERT_TRUE(block.has_value());
  EXPECT_EQ(a.BlockBytes(block->handle), 128u);
  EXPECT_EQ(a.used_bytes(), 128u);
}

TEST(OffsetAllocator, ReusesTheHoleOfExactlyItsSize) {
  // Sizes of a KV block and of its index: neither is a power of two, both leave holes that fit exactly.
  const uint64_t kv = 3274752 + 64;
  const uint64_t index = 658432 + 64;
  OffsetAllocator a(100 * (kv + index));
  std::vector<OffsetAllocator::Block> blocks;
  for (int i = 0; i < 100; ++i) {
    blocks.push_back(*a.Allocate(kv));
    blocks.push_back(*a.Allocate(index));
  }
  EXPECT_LT(a.free_bytes(), uint64_t{64} * 200);
  a.Free(blocks[40].handle);
  a.Free(blocks[81].handle);
  EXPECT_EQ(a.Allocate(index)->offset, blocks[81].offset);
  EXPECT_EQ(a.Allocate(kv)->offset, blocks[40].offset);
}

TEST(OffsetAllocator, ManagesMoreThanFourGiB) {
  OffsetAllocator a(uint64_t{1} << 46);
  EXPECT_EQ(a.LargestFree(), uint64_t{1} << 46);
  const auto first = a.Allocate((uint64_t{1} << 45) + 1);
  ASSERT_TRUE(first.has_value());
  EXPECT_FALSE(a.Allocate(uint64_t{1} << 45).has_value());
  const auto second = a.Allocate((uint64_t{1} << 45) - 64);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(a.free_bytes(), 0u);
}

TEST(OffsetAllocator, UpToTakesAWholeHoleWhenNoneIsLargeEnough) {
  OffsetAllocator a(1000 * 64);
  const auto left = a.Allocate(300 * 64);
  const auto middle = a.Allocate(100 * 64);
  ASSERT_TRUE(left.has_value() && middle.has_value());
  a.Free(left->handle);  // holes of 300 and 600
  const auto block = a.AllocateUpTo(800 * 64, 500 * 64);
  ASSERT_TRUE(block.has_value());
  EXPECT_EQ(a.BlockBytes(block->handle), 600u * 64);
  EXPECT_FALSE(a.AllocateUpTo(800 * 64, 301 * 64).has_value());
  const auto rest = a.AllocateUpTo(200 * 64, 200 * 64);
  ASSERT_TRUE(rest.has_value());
  EXPECT_EQ(a.BlockBytes(rest->handle), 200u * 64);
}

TEST(OffsetAllocator, RemembersTheOwnerOfALiveBlock) {
  OffsetAllocator a(1000 * 64);
  const auto block = a.Allocate(64);
  ASSERT_TRUE(block.has_value());
  EXPECT_EQ(a.Owner(block->handle), nullptr);
  int owner = 0;
  a.SetOwner(block->handle, &owner);
  EXPECT_EQ(a.Owner(block->handle), &owner);
  EXPECT_TRUE(a.IsLive(block->handle));
  a.Free(block->handle);
  EXPECT_FALSE(a.IsLive(block->handle));
}

TEST(OffsetAllocatorDeathTest, FreeingTwiceIsCaught) {
  OffsetAllocator a(6400);
  const auto block = a.Allocate(64);
  const auto other = a.Allocate(64);
  ASSERT_TRUE(block.has_value() && other.has_value());
  a.Free(block->handle);
  EXPECT_DEATH(a.Free(block->handle), "freed twice");
}

}  // namespace
}  // namespace mooncake::core

// The allocator against a plain map of intervals: blocks never overlap, books balance, free neighbours are one.
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "master/core/allocator/offset_allocator.h"
#include "master/core/allocator/slab_allocator.h"
#include "transfer/base/rng.h"

namespace mooncake::core {
namespace {

struct Live {
  uint64_t offset;
  uint64_t bytes;
  uint32_t handle;
};

uint64_t RoundUp(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

// Offset order, no gap, no two free neighbours, and exactly the live blocks of the model are used.
// `coalesces`: free neighbours are one, and the largest hole is known exactly.
void ExpectConsistent(const SegmentAllocator& allocator, const std::map<uint64_t, uint64_t>& model,
                      bool coalesces = true) {
  uint64_t at = 0;
  uint64_t used = 0;
  uint64_t largest = 0;
  bool free_before = false;
  auto next = model.begin();
  for (const SegmentAllocator::Range& range : allocator.Ranges()) {
    ASSERT_EQ(range.offset, at);
    at += range.bytes;
    if (!range.used) {
      ASSERT_FALSE(free_before) << "two free neighbours at " << range.offset;
      largest = std::max(largest, range.bytes);
    } else {
      ASSERT_NE(next, model.end());
      ASSERT_EQ(range.offset, next->first);
      ASSERT_EQ(range.bytes, next->second);
      used += range.bytes;
      ++next;
    }
    free_before = !range.used;
  }
  ASSERT_EQ(at, allocator.capacity());
  ASSERT_EQ(next, model.end());
  ASSERT_EQ(used, allocator.used_bytes());
  ASSERT_EQ(model.size(), allocator.live_blocks());
  if (coalesces) {
    ASSERT_EQ(largest, allocator.LargestFree());
  } else {
    ASSERT_LE(allocator.LargestFree(), largest);
  }
}

struct Sizes {
  uint64_t capacity;
  uint64_t largest_request;
};

// Random allocations and releases; at the end all is free again.
void Churn(SegmentAllocator& allocator, const Sizes& sizes, bool coalesces, Rng& rng) {
  std::map<uint64_t, uint64_t> model;
  std::vector<Live> live;
  for (int step = 0; step < 2000; ++step) {
    if (live.empty() || rng.Chance(11, 20)) {
      const uint64_t bytes =
          rng.Between(1, rng.Chance(1, 4) ? sizes.largest_request
                                          : std::min<uint64_t>(sizes.largest_request, 999));
      const bool up_to = rng.Chance(1, 10);
      const uint64_t least = rng.Between(1, bytes);
      const bool promised = allocator.HasHole(bytes);
      const auto block = up_to ? allocator.AllocateUpTo(bytes, least) : allocator.Allocate(bytes);
      ASSERT_TRUE(block.has_value() || !promised) << bytes;
      if (!block.has_value()) continue;
      const uint64_t got = allocator.BlockBytes(block->handle);
      ASSERT_TRUE(!coalesces || got <= RoundUp(bytes)) << got;
      ASSERT_GE(got, up_to ? least : bytes);
      ASSERT_EQ(block->offset % SegmentAllocator::kUnit, 0u);
      ASSERT_EQ(allocator.BlockOffset(block->handle), block->offset);
      ASSERT_TRUE(model.emplace(block->offset, got).second);
      live.push_back({block->offset, got, block->handle});
    } else {
      const size_t victim = rng.Below(live.size());
      allocator.Free(live[victim].handle);
      model.erase(live[victim].offset);
      live[victim] = live.back();
      live.pop_back();
    }
    if (step % 50 != 0) continue;
    ASSERT_NO_FATAL_FAILURE(ExpectConsistent(allocator, model, coalesces));
  }
  ASSERT_NO_FATAL_FAILURE(ExpectConsistent(allocator, model, coalesces));
  for (const Live& block : live) allocator.Free(block.handle);
  EXPECT_EQ(allocator.used_bytes(), 0u);
}

class RandomChurn : public ::testing::TestWithParam<uint64_t> {};

TEST_P(RandomChurn, NeverOverlapsAndCoalescesFully) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  Rng rng(GetParam());
  const uint64_t capacity = rng.Between(1, 1 << 20);
  OffsetAllocator allocator(capacity);
  ASSERT_NO_FATAL_FAILURE(Churn(allocator, {capacity, rng.Between(1, capacity)}, true, rng));
  EXPECT_EQ(allocator.LargestFree(), allocator.capacity());
}

TEST_P(RandomChurn, OfSlabsNeverOverlapsAndGivesEverySlabBack) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  Rng rng(GetParam());
  const uint64_t slabs = rng.Between(1, 12);
  SlabAllocator allocator(slabs * SlabAllocator::kSlabBytes);
  ASSERT_NO_FATAL_FAILURE(
      Churn(allocator, {allocator.capacity(), rng.Between(1, 6 << 20)}, false, rng));
  for (uint64_t slab = 0; slab < slabs; ++slab)
    EXPECT_TRUE(allocator.Allocate(SlabAllocator::kSlabBytes).has_value());
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomChurn, ::testing::Range<uint64_t>(1, 31));

// All sequences of small steps on a tiny allocator.
TEST(OffsetAllocatorExhaustive, EveryOrderOfFiveStepsIsConsistent) {
  constexpr int kLength = 5;
  constexpr int kChoices =
      6;  // allocate 1, 2 or 3 units; free the first, second or last live block
  int sequences = 1;
  for (int i = 0; i < kLength; ++i) sequences *= kChoices;
  for (int sequence = 0; sequence < sequences; ++sequence) {
    OffsetAllocator allocator(64 * 5);
    std::map<uint64_t, uint64_t> model;
    std::vector<Live> live;
    for (int step = 0, code = sequence; step < kLength; ++step, code /= kChoices) {
      const int choice = code % kChoices;
      if (choice < 3) {
        const auto block = allocator.Allocate(64 * (static_cast<uint64_t>(choice) + 1));
        if (!block.has_value()) continue;
        const uint64_t bytes = allocator.BlockBytes(block->handle);
        ASSERT_TRUE(model.emplace(block->offset, bytes).second);
        live.push_back({block->offset, bytes, block->handle});
      } else {
        if (live.empty()) continue;
        const size_t victim =
            choice == 5 ? live.size() - 1 : std::min<size_t>(live.size() - 1, choice - 3);
        allocator.Free(live[victim].handle);
        model.erase(live[victim].offset);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
      }
      ASSERT_NO_FATAL_FAILURE(ExpectConsistent(allocator, model)) << "sequence " << sequence;
    }
  }
}

}  // namespace
}  // namespace mooncake::core

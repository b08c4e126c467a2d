// The allocator against a plain map of intervals: blocks never overlap, books balance, free neighbours are one.
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "master/core/allocator/offset_allocator.h"
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
void ExpectConsistent(const OffsetAllocator& allocator, const std::map<uint64_t, uint64_t>& model) {
  uint64_t at = 0;
  uint64_t used = 0;
  uint64_t largest = 0;
  bool free_before = false;
  auto next = model.begin();
  for (const OffsetAllocator::Range& range : allocator.Ranges()) {
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
  ASSERT_EQ(largest, allocator.LargestFree());
}

class RandomChurn : public ::testing::TestWithParam<uint64_t> {};

TEST_P(RandomChurn, NeverOverlapsAndCoalescesFully) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  Rng rng(GetParam());
  const uint64_t capacity = rng.Between(1, 1 << 20);
  const uint64_t largest_request = rng.Between(1, capacity);
  OffsetAllocator allocator(capacity);
  std::map<uint64_t, uint64_t> model;
  std::vector<Live> live;
  for (int step = 0; step < 2000; ++step) {
    if (live.empty() || rng.Chance(11, 20)) {
      const uint64_t bytes = rng.Between(
          1, rng.Chance(1, 4) ? largest_request : std::min<uint64_t>(largest_request, 999));
      const bool up_to = rng.Chance(1, 10);
      const uint64_t least = rng.Between(1, bytes);
      const auto block = up_to ? allocator.AllocateUpTo(bytes, least) : allocator.Allocate(bytes);
      if (!block.has_value()) continue;
      const uint64_t got = allocator.BlockBytes(block->handle);
      ASSERT_LE(got, RoundUp(bytes));
      ASSERT_GE(got, up_to ? least : bytes);
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
    ASSERT_NO_FATAL_FAILURE(ExpectConsistent(allocator, model));
  }
  ASSERT_NO_FATAL_FAILURE(ExpectConsistent(allocator, model));
  for (const Live& block : live) allocator.Free(block.handle);
  EXPECT_EQ(allocator.used_bytes(), 0u);
  EXPECT_EQ(allocator.LargestFree(), allocator.capacity());
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

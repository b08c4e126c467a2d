#include <numeric>

#include <gtest/gtest.h>

#include "transfer/base/rng.h"
#include "transfer/transport/tcp/batch_plan.h"

namespace mooncake::tcp {
namespace {

std::vector<Slice> SlicesOf(std::span<const uint64_t> lengths, SliceOp op = SliceOp::kRead) {
  static std::byte base;
  std::vector<Slice> slices(lengths.size());
  for (size_t i = 0; i < lengths.size(); ++i) {
    slices[i].op = op;
    // Only the size is looked at.
    slices[i].buffers[1] = MutableByteSpan(&base, lengths[i]);
  }
  return slices;
}

std::vector<uint32_t> All(size_t count) {
  std::vector<uint32_t> which(count);
  std::iota(which.begin(), which.end(), 0u);
  return which;
}

TEST(BatchPlan, PutsSmallSlicesTogetherAndCutsLargeOnes) {
  const std::vector<uint64_t> lengths = {10, 20, 250, 0};
  const auto frames =
      PlanFrames(SlicesOf(lengths), All(4), {.frame_bytes = 100, .frame_entries = 8});
  ASSERT_EQ(frames.size(), 4u);
  EXPECT_EQ(frames[0].chunks.size(), 2u);
  EXPECT_EQ(frames[0].bytes, 30u);
  EXPECT_EQ(frames[1].bytes, 100u);
  EXPECT_EQ(frames[2].chunks[0].offset, 100u);
  EXPECT_EQ(frames[3].bytes, 50u);
  EXPECT_EQ(frames[3].chunks.size(), 2u);  // the rest of the large one, and the empty one
}

TEST(BatchPlan, ReadsGoBeforeWrites) {
  const std::vector<uint64_t> lengths = {10, 20, 30};
  std::vector<Slice> slices = SlicesOf(lengths);
  slices[0].op = SliceOp::kWrite;
  const auto frames = PlanFrames(slices, All(3), {});
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].op, Op::kRead);
  EXPECT_EQ(frames[0].chunks.size(), 2u);
  EXPECT_EQ(frames[1].op, Op::kWrite);
  EXPECT_EQ(frames[1].chunks[0].slice, 0u);
}

TEST(BatchPlan, EveryByteIsPlannedOnceWithinTheLimits) {
  Rng rng(7);
  for (int round = 0; round < 300; ++round) {
    const PlanLimits limits{.frame_bytes = rng.Between(1, 500),
                            .frame_entries = rng.Between(1, 10)};
    std::vector<uint64_t> lengths;
    for (uint64_t n = rng.Below(30); n > 0; --n) lengths.push_back(rng.Below(1200));
    std::vector<uint64_t> next(lengths.size(), 0);
    std::vector<int> chunks(lengths.size(), 0);
    for (const PlannedFrame& frame : PlanFrames(SlicesOf(lengths), All(lengths.size()), limits)) {
      uint64_t bytes = 0;
      for (const Chunk& chunk : frame.chunks) {
        EXPECT_EQ(chunk.offset, next[chunk.slice]);
        next[chunk.slice] += chunk.length;
        ++chunks[chunk.slice];
        bytes += chunk.length;
      }
      EXPECT_EQ(bytes, frame.bytes);
      EXPECT_LE(bytes, limits.frame_bytes);
      EXPECT_LE(frame.chunks.size(), limits.frame_entries);
      EXPECT_FALSE(frame.chunks.empty());
    }
    EXPECT_EQ(next, lengths);
    for (const int count : chunks) EXPECT_GE(count, 1);
  }
}

}  // namespace
}  // namespace mooncake::tcp

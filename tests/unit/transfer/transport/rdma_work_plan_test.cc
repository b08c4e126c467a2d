#include <gtest/gtest.h>

#include "transfer/base/rng.h"
#include "transfer/transport/rdma/work_plan.h"

namespace mooncake::rdma {
namespace {

constexpr uint64_t kNoLimit = uint64_t{1} << 31;

SegmentKeys Keys(uint64_t size, uint64_t chunk_bytes) {
  SegmentKeys keys{.base = 1'000'000, .size = size, .chunk_bytes = chunk_bytes, .keys = {}};
  for (uint64_t at = 0; at < size; at += chunk_bytes) {
    keys.keys.push_back(static_cast<uint32_t>(100 + at / chunk_bytes));
  }
  return keys;
}

TEST(RdmaWorkPlan, DataAndSealApartAreOneRequest) {
  const LocalRun local[] = {{5000, 4096, 1}, {90'000, 64, 2}};
  std::vector<WorkRequest> out;
  PlanSlice(Keys(1 << 20, 1 << 20), SliceOp::kRead, 7, 640, local, kNoLimit, out);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].op, SliceOp::kRead);
  EXPECT_EQ(out[0].slice, 7u);
  EXPECT_EQ(out[0].remote, 1'000'640u);
  EXPECT_EQ(out[0].rkey, 100u);
  EXPECT_EQ(out[0].bytes, 4160u);
  ASSERT_EQ(out[0].run_count, 2u);
  EXPECT_EQ(out[0].runs[1].address, 90'000u);
  EXPECT_EQ(out[0].runs[1].lkey, 2u);
}

TEST(RdmaWorkPlan, ARangeOverChunksOfTheSegmentIsCutThere) {
  const LocalRun local[] = {{0, 250, 1}};
  std::vector<WorkRequest> out;
  PlanSlice(Keys(300, 100), SliceOp::kWrite, 0, 20, local, kNoLimit, out);
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0].bytes, 80u);
  EXPECT_EQ(out[1].bytes, 100u);
  EXPECT_EQ(out[2].bytes, 70u);
  EXPECT_EQ(out[1].rkey, 101u);
  EXPECT_EQ(out[2].runs[0].address, 180u);
}

TEST(RdmaWorkPlan, NothingIsNoRequest) {
  const LocalRun local[] = {{0, 0, 1}, {5, 0, 1}};
  std::vector<WorkRequest> out;
  PlanSlice(Keys(300, 100), SliceOp::kWrite, 0, 300, local, kNoLimit, out);
  EXPECT_TRUE(out.empty());
}

// Whatever the cuts: the requests cover the range once, in order, each within its chunk and bounds.
TEST(RdmaWorkPlan, RandomSlicesAreCoveredOnce) {
  Rng rng(11);
  for (int round = 0; round < 2000; ++round) {
    const SegmentKeys keys = Keys(1000, 1 + rng.Next() % 400);
    const uint64_t limit = 1 + rng.Next() % 300;
    const uint64_t offset = rng.Next() % 500;
    std::vector<LocalRun> local;
    uint64_t total = 0;
    for (uint64_t n = rng.Next() % 8; n > 0; --n) {
      const uint64_t length = rng.Next() % 70;
      // Local addresses in one line, so that position tells the place in the slice.
      local.push_back({total, length, static_cast<uint32_t>(local.size())});
      total += length;
    }
    std::vector<WorkRequest> out;
    PlanSlice(keys, SliceOp::kRead, 1, offset, local, limit, out);
    uint64_t at = 0;
    for (const WorkRequest& request : out) {
      ASSERT_EQ(request.remote, keys.base + offset + at) << "round " << round;
      const uint64_t first_chunk = (offset + at) / keys.chunk_bytes;
      ASSERT_EQ(request.rkey, keys.keys[first_chunk]);
      ASSERT_LE(request.bytes, limit);
      ASSERT_LE(request.run_count, kMaxRuns);
      uint64_t bytes = 0;
      for (uint32_t i = 0; i < request.run_count; ++i) {
        ASSERT_GT(request.runs[i].length, 0u);
        ASSERT_EQ(request.runs[i].address, at + bytes);
        bytes += request.runs[i].length;
      }
      ASSERT_EQ(bytes, request.bytes);
      at += bytes;
      ASSERT_EQ((offset + at - 1) / keys.chunk_bytes, first_chunk);
    }
    ASSERT_EQ(at, total);
  }
}

}  // namespace
}  // namespace mooncake::rdma

#include "client/core/read_plan.h"

#include <gtest/gtest.h>

#include "transfer/base/rng.h"

namespace mooncake {
namespace {

constexpr uint64_t kHuge = uint64_t{1} << 40;

ReplicaDescriptor Extents(std::vector<uint64_t> lengths) {
  ReplicaDescriptor replica;
  uint64_t offset = 4096;
  for (const uint64_t length : lengths) {
    replica.extents.push_back({.segment = {1, 1}, .offset = offset, .length = length});
    offset += ExtentFootprint(length) + 640;
  }
  return replica;
}

std::vector<ReadPiece> Plan(const ReplicaDescriptor& replica, uint64_t size, ByteRange range,
                            uint64_t max_piece = kHuge) {
  Result<std::vector<ReadPiece>> plan = PlanRead(replica, size, range, max_piece);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *plan : std::vector<ReadPiece>{};
}

TEST(ReadPlan, AWholeExtentIsReadThroughItsSeal) {
  const std::vector<ReadPiece> plan = Plan(Extents({100}), 100, {.offset = 0, .length = 100});
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_EQ(
      plan[0],
      (ReadPiece{
          .segment_offset = 4096, .length = 100, .skipped = 28, .seal = true, .whole = true}));
}

TEST(ReadPlan, AShortGapIsReadOver) {
  const std::vector<ReadPiece> plan = Plan(Extents({1000}), 1000, {.offset = 200, .length = 400});
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_EQ(plan[0].segment_offset, 4296u);
  EXPECT_FALSE(plan[0].whole);
  EXPECT_EQ(plan[0].skipped, 1024u - 600u);
}

TEST(ReadPlan, BehindALongGapTheSealIsReadByItself) {
  const std::vector<ReadPiece> plan = Plan(Extents({100000}), 100000, {.offset = 0, .length = 10});
  ASSERT_EQ(plan.size(), 2u);
  EXPECT_FALSE(plan[0].seal);
  EXPECT_TRUE(plan[1].seal);
  EXPECT_EQ(plan[1].length, 0u);
  EXPECT_FALSE(plan[1].whole);
  EXPECT_EQ(plan[1].segment_offset, 4096 + SealOffset(100000));
}

TEST(ReadPlan, OnlyTouchedExtentsAreRead) {
  const std::vector<ReadPiece> plan =
      Plan(Extents({100, 100, 100}), 300, {.offset = 100, .length = 100});
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_EQ(plan[0].extent, 1u);
}

TEST(ReadPlan, NothingIsReadForAnEmptyRange) {
  EXPECT_TRUE(Plan(Extents({100}), 100, {.offset = 100, .length = 0}).empty());
  EXPECT_TRUE(Plan(ReplicaDescriptor{}, 0, {.offset = 0, .length = 0}).empty());
}

TEST(ReadPlan, ExtentsThatDoNotFitAreRefused) {
  for (const uint64_t size : {0, 99, 101}) {
    EXPECT_EQ(PlanRead(Extents({100}), size, {.offset = 0, .length = 0}, kHuge).code(),
              ErrorCode::kInternal)
        << size;
  }
  EXPECT_EQ(PlanRead(Extents({50, 0, 50}), 100, {.offset = 0, .length = 0}, kHuge).code(),
            ErrorCode::kInternal);
  EXPECT_EQ(PlanRead(Extents({UINT64_MAX, 101}), 100, {.offset = 0, .length = 0}, kHuge).code(),
            ErrorCode::kInternal);
}

TEST(ReadPlan, RangesAreCutAtTheEnd) {
  EXPECT_EQ(CutRange({.offset = 10, .length = UINT64_MAX}, 15).length, 5u);
  EXPECT_EQ(CutRange({.offset = 15, .length = 1}, 15).length, 0u);
  EXPECT_EQ(CutRange({.offset = UINT64_MAX, .length = UINT64_MAX}, 15).length, 0u);
  EXPECT_EQ(CutRange({.offset = 0, .length = 15}, 15).length, 15u);
}

// Laws: the data of the pieces is exactly the range, in order; each touched extent has one seal, at its place; no piece is longer than
// allowed or leaves its extent.
TEST(ReadPlan, PiecesTileTheRangeAndSealEachTouchedExtent) {
  Rng rng(11);
  for (int round = 0; round < 3000; ++round) {
    std::vector<uint64_t> lengths(rng.Between(1, 5));
    uint64_t size = 0;
    for (uint64_t& length : lengths) size += length = rng.Between(1, rng.Chance(1, 2) ? 200 : 5000);
    const ReplicaDescriptor replica = Extents(lengths);
    const uint64_t offset = rng.Below(size + 1);
    const ByteRange range{.offset = offset, .length = rng.Below(size - offset + 1)};
    const uint64_t max_piece = rng.Between(1, 3000);
    uint64_t next = range.offset;
    std::vector<int> seals(lengths.size());
    std::vector<bool> touched(lengths.size());
    for (const ReadPiece& piece : Plan(replica, size, range, max_piece)) {
      const Extent& extent = replica.extents[piece.extent];
      ASSERT_LE(piece.length, max_piece);
      ASSERT_EQ(piece.object_offset, next);
      next += piece.length;
      touched[piece.extent] = true;
      ASSERT_GE(piece.segment_offset, extent.offset);
      if (piece.seal) {
        ++seals[piece.extent];
        ASSERT_LE(piece.skipped, kMaxSkippedBytes);
        ASSERT_EQ(piece.segment_offset + piece.length + piece.skipped,
                  extent.offset + SealOffset(extent.length));
      } else {
        ASSERT_EQ(piece.skipped, 0u);
        ASSERT_LE(piece.segment_offset + piece.length, extent.offset + extent.length);
      }
    }
    ASSERT_EQ(next, range.offset + range.length);
    for (size_t i = 0; i < seals.size(); ++i) ASSERT_EQ(seals[i], touched[i] ? 1 : 0);
  }
}

}  // namespace
}  // namespace mooncake

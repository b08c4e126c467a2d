#include "master/core/allocator/slab_allocator.h"

#include <vector>

#include "tests/unit/master/core/core_fixture.h"

namespace mooncake::core {
namespace {

constexpr uint64_t kSlab = SlabAllocator::kSlabBytes;

TEST(SlabAllocator, ClassesRiseGentlyAndFillTheirSlabs) {
  const std::vector<uint64_t>& sizes = SlabAllocator::ClassSizes();
  EXPECT_EQ(sizes.front(), 64u);
  EXPECT_EQ(sizes.back(), kSlab);
  EXPECT_EQ(sizes[sizes.size() - 2], kSlab / 2);
  for (size_t i = 0; i < sizes.size(); ++i) {
    const uint64_t size = sizes[i];
    EXPECT_EQ(size % 64, 0u);
    EXPECT_LT(kSlab - kSlab / size * size, kSlab / size * 64)
        << "no longer chunk would fit as often";
    EXPECT_TRUE(size <= 512 || i + 2 >= sizes.size() || sizes[i + 1] <= size * 8 / 5) << size;
  }
}

TEST(SlabAllocator, UsesWholeSlabsOnly) {
  EXPECT_EQ(SlabAllocator(3 * kSlab + 100).capacity(), 3 * kSlab);
  SlabAllocator none(kSlab - 1);
  EXPECT_EQ(none.capacity(), 0u);
  EXPECT_FALSE(none.Allocate(1).has_value());
}

TEST(SlabAllocator, ASlabServesOneClassUntilItIsEmpty) {
  SlabAllocator allocator(kSlab);
  const auto small = allocator.Allocate(1000);
  ASSERT_TRUE(small.has_value());
  EXPECT_FALSE(allocator.HasHole(100000));
  EXPECT_FALSE(allocator.Allocate(100000).has_value());
  allocator.Free(small->handle);
  EXPECT_TRUE(allocator.Allocate(100000).has_value());
}

TEST(SlabAllocator, WithoutAFreeSlabALargerChunkIsBetterThanNone) {
  SlabAllocator allocator(kSlab);
  const auto large = allocator.Allocate(100000);
  const auto small = allocator.Allocate(10);
  ASSERT_TRUE(large.has_value() && small.has_value());
  EXPECT_EQ(allocator.BlockBytes(small->handle), allocator.BlockBytes(large->handle));
}

TEST(SlabAllocator, UpToTakesASlabAndThenTheLargestChunk) {
  SlabAllocator allocator(2 * kSlab);
  const auto chunk = allocator.Allocate(kSlab / 2);
  ASSERT_TRUE(chunk.has_value());
  const auto first = allocator.AllocateUpTo(5 * kSlab, 1000);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(allocator.BlockBytes(first->handle), kSlab);
  EXPECT_FALSE(SlabAllocator(2 * kSlab).AllocateUpTo(2 * kSlab, kSlab + 1).has_value());
  EXPECT_FALSE(allocator.AllocateUpTo(5 * kSlab, kSlab / 2 + 1).has_value());
  const auto second = allocator.AllocateUpTo(5 * kSlab, 1000);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(allocator.BlockBytes(second->handle), kSlab / 2);
}

class CachelibCore : public CoreTest {
 protected:
  CachelibCore() { options_.memory_allocator = MemoryAllocator::kCachelib; }
};

TEST_F(CachelibCore, SegmentsAreWholeSlabs) {
  auto bad = Describe("a", 5 * kMiB);
  EXPECT_EQ(core().MountSegment(now_, bad.owner, bad).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(core().ReMountSegments(now_, bad.owner, std::vector{bad}).code(),
            ErrorCode::kInvalidParams);
  Mount("b", 8 * kMiB);
  Put("k", 1000);
  EXPECT_EQ(core().GetSegments({}).at(0).used, core().GetStatus().used);
  EXPECT_EQ(Remove("k"), Status::Ok());
  EXPECT_EQ(Used(), 0u);
}

TEST_F(CachelibCore, ObjectsLongerThanASlabAreSplit) {
  Mount("a", 32 * kMiB);
  const auto start = Start("k", 10 * kMiB);
  ASSERT_TRUE(start.ok()) << start.status();
  ASSERT_EQ(start.value().replicas.at(0).extents.size(), 3u);
  uint64_t sum = 0;
  for (const Extent& extent : start.value().replicas[0].extents) {
    EXPECT_LE(extent.length, kSlab);
    sum += extent.length;
  }
  EXPECT_EQ(sum, 10 * kMiB);
  EXPECT_EQ(End("k", start.value().put_id), Status::Ok());
}

TEST_F(CachelibCore, EvictionMakesRoomForTheSameClassAndForOthers) {
  Mount("a", 16 * kMiB);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_NE(Put("small" + std::to_string(i), 100000), kNoPut) << i;
    Advance(Millis(1));
  }
  EXPECT_TRUE(Exists("small999"));
  // Another class: slabs come free as the objects on them go.
  Status last;
  for (int i = 0; i < 100; ++i) {
    last = Start("large", 3 * kMiB).status();
    if (last.ok()) break;
    TickAll();
    Advance(Seconds(1));
  }
  EXPECT_EQ(last, Status::Ok());
}

TEST_F(CachelibCore, ADeadSegmentIsSwept) {
  const auto a = Mount("a", 8 * kMiB);
  Mount("b", 8 * kMiB);
  for (int i = 0; i < 50; ++i) Put("k" + std::to_string(i), 50000, {.replica_num = 2});
  Unmount(a);
  TickAll();
  EXPECT_EQ(core().GetCounters().dead_segments, 0u);
  EXPECT_EQ(core().GetCounters().under_replicated_objects, 50u);
}

}  // namespace
}  // namespace mooncake::core

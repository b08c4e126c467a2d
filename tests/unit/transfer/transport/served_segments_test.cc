#include "transfer/transport/served_segments.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "tests/support/served_node.h"
#include "transfer/base/manual_clock.h"
#include "transfer/base/seal.h"

namespace mooncake {
namespace {

using testing::ServedNode;

constexpr SegmentId kSegment = ServedNode::kSegment;
constexpr AccessEpoch kEpoch = ServedNode::kEpoch;

// Ends its access when it is cut, as a connection's thread does.
class EndsWhenCut final : public CutTarget {
 public:
  void Cut() override {
    ++cuts;
    access = ServedAccess();
  }
  ServedAccess access;
  std::atomic<int> cuts{0};
};

class ServedSegmentsTest : public ::testing::Test {
 protected:
  ServedSegments& segments() { return node_.segments(); }
  Result<ServedAccess> Write(uint64_t offset, uint64_t length, uint64_t put,
                             const std::shared_ptr<CutTarget>& target) {
    return segments().BeginWrite({kSegment, kEpoch, offset, length}, node_.Grant(PutId{put}),
                                 target);
  }
  TimePoint Soon() { return clock_.Now() + Seconds(1); }

  ManualClock clock_;
  ServedNode node_{64 << 10, clock_};
};

TEST_F(ServedSegmentsTest, AnAccessShowsItsRangeAndIsCounted) {
  {
    const Result<ServedAccess> access = segments().BeginRead({kSegment, kEpoch, 100, 50}, nullptr);
    ASSERT_TRUE(access.ok());
    EXPECT_EQ(access->memory().data(), node_.memory().data() + 100);
    EXPECT_EQ(access->memory().size(), 50u);
    EXPECT_EQ(access->deadline(), kNever);
    EXPECT_EQ(segments().active_accesses(), 1u);
  }
  EXPECT_EQ(segments().active_accesses(), 0u);
}

TEST_F(ServedSegmentsTest, AWriteMayRunTwentySecondsAndNeverBeyondItsGrant) {
  const Result<ServedAccess> early = Write(0, 10, 1, nullptr);
  ASSERT_TRUE(early.ok());
  EXPECT_EQ(early->deadline(), clock_.Now() + Seconds(20));
  clock_.Advance(Seconds(50));  // of 60
  const Result<ServedAccess> late = Write(100, 10, 1, nullptr);
  ASSERT_TRUE(late.ok());
  EXPECT_LE(late->deadline(), clock_.Now() + Seconds(10));
  EXPECT_GT(late->deadline(), clock_.Now() + Seconds(9));
  clock_.Advance(Seconds(10));
  EXPECT_EQ(Write(200, 10, 1, nullptr).code(), ErrorCode::kInvalidVersion);
}

TEST_F(ServedSegmentsTest, FenceCutsRunningWritesOfThatPutOnly) {
  auto mine = std::make_shared<EndsWhenCut>();
  auto other = std::make_shared<EndsWhenCut>();
  auto reader = std::make_shared<EndsWhenCut>();
  mine->access = std::move(*Write(0, 10, 1, mine));
  other->access = std::move(*Write(100, 10, 2, other));
  reader->access = std::move(*segments().BeginRead({kSegment, kEpoch, 0, 10}, reader));
  EXPECT_TRUE(segments().Fence(PutId{1}, Soon()).ok());
  EXPECT_EQ(mine->cuts, 1);
  EXPECT_EQ(other->cuts, 0);
  EXPECT_EQ(reader->cuts, 0);
  EXPECT_EQ(Write(0, 10, 1, mine).code(), ErrorCode::kInvalidVersion);
  EXPECT_TRUE(Write(0, 10, 2, nullptr).ok());
  other->access = ServedAccess();
  reader->access = ServedAccess();
}

TEST_F(ServedSegmentsTest, FenceSaysSoWhenAWriteDoesNotEndButRefusesItsSuccessors) {
  const Result<ServedAccess> stuck = Write(0, 10, 1, nullptr);
  EXPECT_EQ(segments().Fence(PutId{1}, clock_.Now()).code(), ErrorCode::kRpcTimeout);
  EXPECT_TRUE(stuck->cut());
  EXPECT_EQ(Write(0, 10, 1, nullptr).code(), ErrorCode::kInvalidVersion);
}

TEST_F(ServedSegmentsTest, FencesExpireAndAreBounded) {
  ServedSegments small(clock_, node_.master_clock(), {.fence_ttl = Seconds(10), .max_fences = 2});
  EXPECT_TRUE(small.Fence(PutId{1}, Soon()).ok());
  EXPECT_TRUE(small.Fence(PutId{1}, Soon()).ok()) << "again takes no further place";
  clock_.Advance(Seconds(5));
  EXPECT_TRUE(small.Fence(PutId{2}, Soon()).ok());
  EXPECT_EQ(small.Fence(PutId{3}, Soon()).code(), ErrorCode::kObjectReplicaBusy);
  clock_.Advance(Seconds(5));
  EXPECT_TRUE(small.Fence(PutId{3}, Soon()).ok());
  EXPECT_EQ(small.Fence(PutId{4}, Soon()).code(), ErrorCode::kObjectReplicaBusy);
}

TEST_F(ServedSegmentsTest, SetEpochCutsReadersAndWritersAndMovesTheWord) {
  auto writer = std::make_shared<EndsWhenCut>();
  auto reader = std::make_shared<EndsWhenCut>();
  writer->access = std::move(*Write(0, 10, 1, writer));
  reader->access = std::move(*segments().BeginRead({kSegment, kEpoch, 0, 10}, reader));
  EXPECT_EQ(node_.region().header().epoch.load(), kEpoch.value);
  EXPECT_TRUE(segments().SetEpoch(kSegment, AccessEpoch{4}, Soon()).ok());
  EXPECT_EQ(writer->cuts, 1);
  EXPECT_EQ(reader->cuts, 1);
  EXPECT_EQ(node_.region().header().epoch.load(), 4u);
  EXPECT_TRUE(segments().SetEpoch(kSegment, AccessEpoch{4}, Soon()).ok()) << "the same again";
  EXPECT_EQ(segments().SetEpoch(SegmentId{1, 1}, AccessEpoch{4}, Soon()).code(),
            ErrorCode::kSegmentNotFound);
}

TEST_F(ServedSegmentsTest, AnEpochChangeThatCannotFinishServesNobodyUntilItCan) {
  std::optional<ServedAccess> stuck = std::move(*Write(0, 10, 1, nullptr));
  EXPECT_EQ(segments().SetEpoch(kSegment, AccessEpoch{4}, clock_.Now()).code(),
            ErrorCode::kRpcTimeout);
  for (const uint64_t epoch : {3, 4}) {
    EXPECT_EQ(segments().BeginRead({kSegment, AccessEpoch{epoch}, 0, 1}, nullptr).code(),
              ErrorCode::kInvalidVersion);
  }
  stuck.reset();
  EXPECT_TRUE(segments().SetEpoch(kSegment, AccessEpoch{4}, Soon()).ok());
  EXPECT_TRUE(segments().BeginRead({kSegment, AccessEpoch{4}, 0, 1}, nullptr).ok());
}

TEST_F(ServedSegmentsTest, RemoveClosesTheRegionAndKeepsTheMemoryForWhoIsStillInIt) {
  auto memory = std::make_shared<std::vector<std::byte>>(100);
  const SegmentId id{5, 5};
  ASSERT_TRUE(
      segments().Add({.id = id, .epoch = kEpoch, .memory = *memory, .keep_alive = memory}).ok());
  EXPECT_EQ(segments().Add({.id = id, .epoch = kEpoch, .memory = *memory}).code(),
            ErrorCode::kSegmentAlreadyExists);
  std::optional<ServedAccess> inside =
      std::move(*segments().BeginRead({id, kEpoch, 0, 100}, nullptr));
  const std::weak_ptr<void> watch = memory;
  memory.reset();
  EXPECT_EQ(segments().Remove(id, clock_.Now()).code(), ErrorCode::kRpcTimeout);
  EXPECT_TRUE(inside->cut());
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(segments().BeginRead({id, kEpoch, 0, 1}, nullptr).code(), ErrorCode::kSegmentNotFound);
  inside.reset();
  EXPECT_TRUE(watch.expired());
  EXPECT_TRUE(segments().Remove(kSegment, Soon()).ok());
  EXPECT_EQ(node_.region().header().epoch.load(), 0u);
}

TEST_F(ServedSegmentsTest, SupersedeRefusesASealThatIsBeingWrittenAnew) {
  const SealBytes seal = EncodeSeal({.put_id = PutId{9}, .length = 1});
  std::copy(seal.begin(), seal.end(), node_.memory().begin() + 640);
  {
    const Result<ServedAccess> over =
        Write(600, 41, 10, nullptr);  // its last byte is the seal's first
    EXPECT_EQ(segments().Supersede(kSegment, kEpoch, 640, PutId{9}).code(),
              ErrorCode::kReplicaIsGone);
  }
  const Result<ServedAccess> before = Write(600, 40, 10, nullptr);
  const Result<ServedAccess> after = Write(704, 40, 10, nullptr);
  EXPECT_TRUE(segments().Supersede(kSegment, kEpoch, 640, PutId{9}).ok());
}

// The race that matters: a write that begins while its put is being fenced either is waited for or is refused.
TEST_F(ServedSegmentsTest, NoWriteIsRunningOnceFenceReturned) {
  ServedNode node(64 << 10);
  std::atomic<int> violations{0};
  for (uint64_t put = 1; put <= 200; ++put) {
    std::atomic<bool> fenced{false};
    std::thread writer([&] {
      for (int i = 0; i < 50; ++i) {
        Result<ServedAccess> access =
            node.segments().BeginWrite({kSegment, kEpoch, 0, 64}, node.Grant(PutId{put}), nullptr);
        if (!access.ok()) return;
        if (fenced.load() && !access->cut()) ++violations;
      }
    });
    EXPECT_TRUE(node.segments().Fence(PutId{put}, SystemClock().Now() + Seconds(10)).ok());
    fenced = true;
    writer.join();
  }
  EXPECT_EQ(violations, 0);
}

TEST_F(ServedSegmentsTest, AnExportIsOfTheWholeSegmentAndEndsBeforeTheEpochMovesOn) {
  auto target = std::make_shared<EndsWhenCut>();
  Result<ServedAccess> access = segments().BeginExport(kSegment, kEpoch, target);
  ASSERT_TRUE(access.ok());
  EXPECT_EQ(access->memory().size(), node_.memory().size());
  target->access = std::move(access).value();
  const Result<ServedAccess> write = Write(0, 10, 1, nullptr);
  EXPECT_TRUE(write.ok()) << "writes are admitted beside it";
  EXPECT_EQ(segments().SetEpoch(kSegment, AccessEpoch{4}, clock_.Now()).code(),
            ErrorCode::kRpcTimeout)
      << "the write has not ended";
  EXPECT_EQ(target->cuts, 1);
  EXPECT_EQ(segments().active_accesses(), 1u);
  EXPECT_EQ(segments().BeginExport(kSegment, kEpoch, target).code(), ErrorCode::kInvalidVersion);
  EXPECT_EQ(segments().BeginExport(SegmentId{9, 9}, kEpoch, target).code(),
            ErrorCode::kSegmentNotFound);
}

// A frozen node: its device went on taking the bytes of a write that the master gave up long ago.
TEST_F(ServedSegmentsTest, NobodyWritesWhereAnOverdueWriteHasNotEnded) {
  auto target = std::make_shared<EndsWhenCut>();
  Result<ServedAccess> old = Write(1000, 100, 1, target);
  ASSERT_TRUE(old.ok());
  target->access = std::move(old).value();
  EXPECT_TRUE(Write(1000, 100, 1, nullptr).ok()) << "not overdue";
  clock_.Advance(kMaxWriteDuration);
  EXPECT_TRUE(Write(900, 100, 2, nullptr).ok()) << "before it";
  EXPECT_TRUE(Write(1100, 100, 2, nullptr).ok()) << "behind it";
  EXPECT_EQ(target->cuts, 0);
  EXPECT_EQ(Write(1099, 1, 2, nullptr).code(), ErrorCode::kObjectReplicaBusy);
  EXPECT_EQ(target->cuts, 1);
  EXPECT_TRUE(Write(1000, 100, 2, nullptr).ok()) << "it has ended";
}

}  // namespace
}  // namespace mooncake

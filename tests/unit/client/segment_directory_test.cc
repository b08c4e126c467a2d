#include "client/segment_directory.h"

#include <gtest/gtest.h>

#include "tests/support/null_master.h"

namespace mooncake {
namespace {

class TwoSegments final : public testing::NullMaster {
 public:
  Result<std::vector<SegmentInfo>> GetSegments(std::span<const SegmentId> ids, TimePoint) override {
    ++calls;
    if (down) return Status(ErrorCode::kRpcFail, "down");
    std::vector<SegmentInfo> infos;
    for (const SegmentId& id : ids) {
      if (id.high <= 2)
        infos.push_back({.descriptor = {.id = id, .endpoint = "h:" + std::to_string(id.high)}});
    }
    return infos;
  }
  int calls = 0;
  bool down = false;
};

const SegmentId kIds[] = {{1, 0}, {2, 0}, {1, 0}};

TEST(SegmentDirectory, AsksOnceForEachSegment) {
  TwoSegments master;
  SegmentDirectory directory(master);
  for (int i = 0; i < 3; ++i) {
    const auto peers = directory.Resolve(kIds, kNever);
    ASSERT_TRUE(peers.ok());
    EXPECT_EQ(peers->size(), 2u);
    EXPECT_EQ(peers->at({2, 0}).endpoint, "h:2");
  }
  EXPECT_EQ(master.calls, 1);
}

TEST(SegmentDirectory, LeavesOutWhatDoesNotExistAndAsksAgain) {
  TwoSegments master;
  SegmentDirectory directory(master);
  const SegmentId gone[] = {{3, 0}};
  EXPECT_TRUE(directory.Resolve(gone, kNever)->empty());
  EXPECT_TRUE(directory.Resolve(gone, kNever)->empty());
  EXPECT_EQ(master.calls, 2);
}

TEST(SegmentDirectory, KnownSegmentsNeedNoMaster) {
  TwoSegments master;
  SegmentDirectory directory(master);
  ASSERT_TRUE(directory.Resolve(kIds, kNever).ok());
  master.down = true;
  EXPECT_TRUE(directory.Resolve(kIds, kNever).ok());
  const SegmentId other[] = {{1, 0}, {3, 0}};
  EXPECT_EQ(directory.Resolve(other, kNever).code(), ErrorCode::kRpcFail);
}

}  // namespace
}  // namespace mooncake

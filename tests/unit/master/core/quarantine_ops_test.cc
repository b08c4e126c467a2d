#include "tests/unit/master/core/core_fixture.h"

namespace mooncake::core {
namespace {

class Quarantine : public CoreTest {
 protected:
  Quarantine() {
    options_.failure_threshold = 2;
    options_.failure_window = Seconds(30);
    options_.quarantine = Seconds(60);
  }
  ClientId Reader(uint64_t number) {
    const ClientId id{40, number};
    EXPECT_TRUE(core().Ping(now_, id, "reader").ok());
    return id;
  }
  void Report(uint64_t reader, const SegmentDescriptor& segment) {
    EXPECT_EQ(core().ReportReplicaFailure(now_, Reader(reader), {&segment.id, 1}), Status::Ok());
  }
  void PutOn(const std::string& key, const std::string& segment) {
    Put(key, 1000, {.preferred_segments = {segment}});
  }
  bool Quarantined(const SegmentDescriptor& segment) {
    return core().GetSegments({&segment.id, 1}).at(0).quarantined;
  }
  std::string HomeOf(const std::string& key) {
    return core().SegmentNames(Get(key).value_or({}).replicas).at(0);
  }
};

TEST_F(Quarantine, BeginsWhenEnoughClientsReportInTheWindowAndEndsByItself) {
  const auto a = Mount("a", kMiB);
  Mount("b", kMiB);
  PutOn("old", "a");
  Report(1, a);
  Report(1, a);
  EXPECT_FALSE(Quarantined(a)) << "one client, however often";
  Report(2, a);
  ASSERT_TRUE(Quarantined(a));
  EXPECT_EQ(core().GetCounters().quarantined_segments, 1u);
  for (int i = 0; i < 10; ++i) {
    PutOn("during" + std::to_string(i), "a");
    EXPECT_EQ(HomeOf("during" + std::to_string(i)), "b");
  }
  EXPECT_TRUE(Get("old").ok());
  EXPECT_EQ(core().Tick(now_, 100).next, now_ + Seconds(60));
  Advance(Seconds(60) - Millis(1));
  TickAll();
  EXPECT_TRUE(Quarantined(a));
  Advance(Millis(1));
  TickAll();
  EXPECT_FALSE(Quarantined(a));
  PutOn("after", "a");
  EXPECT_EQ(HomeOf("after"), "a");
  EXPECT_EQ(core().GetCounters().quarantines, 1u);
}

TEST_F(Quarantine, ReportsOutsideTheWindowDoNotCount) {
  const auto a = Mount("a", kMiB);
  Mount("b", kMiB);
  Report(1, a);
  Advance(Seconds(30));
  Report(2, a);
  EXPECT_FALSE(Quarantined(a));
  Advance(Seconds(30) - Millis(1));
  Report(3, a);
  EXPECT_TRUE(Quarantined(a));
}

TEST_F(Quarantine, ReplicasThereAreNamedLast) {
  Mount("a", kMiB);
  Mount("b", kMiB);
  Put("k", 1000, {.replica_num = 2});
  const std::string first = HomeOf("k");
  const SegmentId id = Get("k").value_or({}).replicas.at(0).extents.at(0).segment;
  for (uint64_t reader : {1, 2}) {
    ASSERT_EQ(core().ReportReplicaFailure(now_, Reader(reader), {&id, 1}), Status::Ok());
  }
  const auto list = Get("k");
  ASSERT_EQ(list.value_or({}).replicas.size(), 2u);
  EXPECT_NE(HomeOf("k"), first);
  EXPECT_EQ(list.value().replicas[1].extents[0].segment, id);
}

TEST_F(Quarantine, TheLastSegmentThatTakesObjectsGoesOn) {
  const auto a = Mount("a", kMiB);
  const auto b = Mount("b", kMiB);
  for (uint64_t reader = 1; reader < 10; ++reader) {
    Report(reader, a);
    Report(reader, b);
  }
  EXPECT_TRUE(Quarantined(a));
  EXPECT_FALSE(Quarantined(b));
  Put("k", 1000);
  EXPECT_EQ(HomeOf("k"), "b");
}

TEST_F(Quarantine, AMountEndsIt) {
  auto a = Mount("a", kMiB);
  Mount("b", kMiB);
  Report(1, a);
  Report(2, a);
  ASSERT_TRUE(Quarantined(a));
  a.epoch = {2};
  EXPECT_EQ(core().ReMountSegments(now_, a.owner, std::vector{a}), Status::Ok());
  EXPECT_FALSE(Quarantined(a));
  Report(3, a);
  EXPECT_FALSE(Quarantined(a)) << "what was reported before counts no more";
  Report(4, a);
  ASSERT_TRUE(Quarantined(a));
  const auto again = Mount("a", kMiB, "", 2);
  EXPECT_FALSE(Quarantined(again));
  Advance(Seconds(100));
  TickAll();
}

TEST_F(Quarantine, ALeavingSegmentCanBeQuarantinedToo) {
  const auto a = Mount("a", kMiB);
  Mount("b", kMiB);
  ASSERT_EQ(core().GracefulUnmountSegment(now_, a.owner, a.id, Seconds(30)), Status::Ok());
  Report(1, a);
  Report(2, a);
  EXPECT_TRUE(Quarantined(a));
  Advance(Seconds(30));
  TickAll();
  EXPECT_EQ(core().GetCounters().quarantined_segments, 0u);
}

TEST_F(Quarantine, UnknownSegmentsDoNotMatterAndUnknownClientsDoNotCount) {
  const auto a = Mount("a", kMiB);
  Mount("b", kMiB);
  EXPECT_EQ(core().ReportReplicaFailure(now_, {41, 1}, {&a.id, 1}).code(),
            ErrorCode::kClientNotFound);
  const SegmentId ids[] = {{9, 9}, a.id, a.id};
  EXPECT_EQ(core().ReportReplicaFailure(now_, Reader(1), ids), Status::Ok());
  EXPECT_FALSE(Quarantined(a));
  EXPECT_EQ(
      core().ReportReplicaFailure(now_, Reader(1), std::vector<SegmentId>(kMaxBatch + 1)).code(),
      ErrorCode::kInvalidParams);
}

TEST_F(Quarantine, AThresholdOfZeroTurnsItOff) {
  options_.failure_threshold = 0;
  const auto a = Mount("a", kMiB);
  Mount("b", kMiB);
  for (uint64_t reader = 1; reader < 10; ++reader) Report(reader, a);
  EXPECT_FALSE(Quarantined(a));
}

}  // namespace
}  // namespace mooncake::core

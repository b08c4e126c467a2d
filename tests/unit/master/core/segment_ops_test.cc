#include "tests/unit/master/core/core_fixture.h"

namespace mooncake::core {
namespace {

using Segments = CoreTest;
using Clients = CoreTest;

class GracefulUnmount : public CoreTest {
 protected:
  Status Leave(const SegmentDescriptor& segment, Duration grace) {
    return core().GracefulUnmountSegment(now_, segment.owner, segment.id, grace);
  }
  // kUndefined when it is not there.
  SegmentStatus StatusOf(const SegmentDescriptor& segment) {
    const auto infos = core().GetSegments({&segment.id, 1});
    return infos.empty() ? SegmentStatus::kUndefined : infos[0].status;
  }
};

TEST_F(Segments, MountingTwiceIsOnce) {
  const auto a = Mount("a", kMiB);
  Put("k", 1000);
  EXPECT_EQ(core().MountSegment(now_, a.owner, a), Status::Ok());
  EXPECT_EQ(core().GetStatus().capacity, kMiB);
  EXPECT_TRUE(Exists("k"));
  const auto segments = core().GetSegments({});
  ASSERT_EQ(segments.size(), 1u);
  EXPECT_EQ(segments[0].descriptor, a);
  EXPECT_EQ(segments[0].status, SegmentStatus::kOk);
  EXPECT_EQ(segments[0].used, 1088u);
  EXPECT_EQ(segments[0].object_count, 1u);
  EXPECT_EQ(segments[0].largest_free, kMiB - 1088);
}

TEST_F(Segments, UnmountingTwiceIsOk) {
  const auto a = Mount("a", kMiB);
  Unmount(a);
  Unmount(a);
  EXPECT_EQ(core().GetStatus().capacity, 0u);
  EXPECT_TRUE(core().GetSegments({}).empty());
}

TEST_F(Segments, OnlyTheOwnerUnmounts) {
  const auto a = Mount("a", kMiB);
  EXPECT_EQ(core().UnmountSegment(now_, kOther, a.id).code(), ErrorCode::kInvalidParams);
}

TEST_F(Segments, ANewLifeUnderTheSameNameReplacesTheOld) {
  Mount("a", kMiB);
  Put("k", 1000);
  ASSERT_TRUE(Get("k").ok());
  const auto second = Mount("a", 2 * kMiB, "", 2);
  EXPECT_FALSE(Exists("k"));
  EXPECT_EQ(core().GetStatus().capacity, 2 * kMiB);
  EXPECT_EQ(core().GetSegments({}).at(0).descriptor.id, second.id);
  EXPECT_EQ(core().GetCounters().replaced_segments, 1u);
}

TEST_F(Segments, ANewerEpochOfTheSameMemoryKeepsTheObjects) {
  auto a = Mount("a", kMiB);
  Put("k", 1000);
  a.epoch = {2};
  EXPECT_EQ(core().ReMountSegments(now_, a.owner, std::vector{a}), Status::Ok());
  EXPECT_EQ(Get("k").value_or({}).replicas.at(0).extents.at(0).epoch, AccessEpoch{2});
  a.epoch = {1};
  EXPECT_EQ(core().MountSegment(now_, a.owner, a).code(), ErrorCode::kInvalidVersion);
}

TEST_F(Segments, AreChecked) {
  const auto good = Describe("a", kMiB);
  const auto mount = [&](auto&& spoil) {
    SegmentDescriptor d = good;
    spoil(d);
    return core().MountSegment(now_, Node("a"), d).code();
  };
  EXPECT_EQ(mount([](auto& d) { d.id = {}; }), ErrorCode::kInvalidParams);
  EXPECT_EQ(mount([](auto& d) { d.name = ""; }), ErrorCode::kInvalidParams);
  EXPECT_EQ(mount([](auto& d) { d.name = std::string(2000, 'n'); }), ErrorCode::kInvalidParams);
  EXPECT_EQ(mount([](auto& d) { d.size = kMinSegmentBytes - 1; }), ErrorCode::kInvalidParams);
  EXPECT_EQ(mount([](auto& d) { d.size = kMaxSegmentBytes + 1; }), ErrorCode::kInvalidParams);
  EXPECT_EQ(mount([](auto& d) { d.owner = kOther; }), ErrorCode::kInvalidParams);
  EXPECT_EQ(mount([](auto&) {}), ErrorCode::kOk);
  EXPECT_EQ(mount([](auto& d) { d.size = 2 * kMiB; }),
            ErrorCode::kInvalidParams);  // another size, same id
}

TEST_F(Segments, GetSegmentsLeavesOutWhatIsUnknown) {
  const auto a = Mount("a", kMiB);
  const SegmentId ids[] = {{9, 9}, a.id};
  const auto segments = core().GetSegments(ids);
  ASSERT_EQ(segments.size(), 1u);
  EXPECT_EQ(segments[0].descriptor.id, a.id);
}

TEST_F(Segments, UnmountedWithUnfinishedWritesBreaksNothing) {
  const auto a = Mount("a", kMiB);
  const auto start = Start("k", 1000);
  Unmount(a);
  TickAll();
  EXPECT_EQ(Get("k").code(), ErrorCode::kReplicaIsNotReady);
  EXPECT_EQ(Revoke("k", start.value_or({}).put_id, false), Status::Ok());
  Advance(Seconds(600));
  TickAll();
  EXPECT_EQ(core().CheckInvariants(now_).value_or(""), "");
}

TEST_F(GracefulUnmount, NothingNewGoesThereAndReadersGoOnUntilItsEnd) {
  const auto a = Mount("a", kMiB);
  Mount("b", kMiB);
  Put("k", 1000, {.preferred_segments = {"a"}});
  EXPECT_EQ(Leave(a, Seconds(60)), Status::Ok());
  EXPECT_EQ(StatusOf(a), SegmentStatus::kGracefullyUnmounting);
  EXPECT_EQ(core().GetStatus().segment_count, 2u);
  for (int i = 0; i < 20; ++i) {
    Put("n" + std::to_string(i), 10, {.preferred_segments = {"a"}});
    EXPECT_EQ(core().SegmentNames(Get("n" + std::to_string(i)).value_or({}).replicas),
              std::vector<std::string>{"b"});
  }
  Advance(Seconds(60) - Millis(1));
  TickAll();
  EXPECT_TRUE(Get("k").ok());
  EXPECT_EQ(core().Tick(now_, 100).next, now_ + Millis(1));
  Advance(Millis(1));
  TickAll();
  EXPECT_FALSE(Exists("k"));
  EXPECT_TRUE(Exists("n0"));
  EXPECT_EQ(StatusOf(a), SegmentStatus::kUndefined);
}

TEST_F(GracefulUnmount, AnEarlierEndCountsAndALaterOneDoesNot) {
  const auto a = Mount("a", kMiB);
  EXPECT_EQ(Leave(a, Seconds(60)), Status::Ok());
  EXPECT_EQ(Leave(a, Seconds(60)), Status::Ok());
  EXPECT_EQ(Leave(a, Seconds(600)), Status::Ok());
  EXPECT_EQ(Leave(a, Seconds(10)), Status::Ok());
  Advance(Seconds(10));
  TickAll();
  EXPECT_EQ(StatusOf(a), SegmentStatus::kUndefined);
  EXPECT_EQ(Leave(a, Seconds(10)), Status::Ok());
}

TEST_F(GracefulUnmount, WithoutGraceItIsAtOnce) {
  const auto a = Mount("a", kMiB);
  EXPECT_EQ(Leave(a, Duration::zero()), Status::Ok());
  TickAll();
  EXPECT_EQ(StatusOf(a), SegmentStatus::kUndefined);
}

TEST_F(GracefulUnmount, RefusesOthersAndNonsense) {
  const auto a = Mount("a", kMiB);
  EXPECT_EQ(core().GracefulUnmountSegment(now_, kOther, a.id, Seconds(1)).code(),
            ErrorCode::kInvalidParams);
  EXPECT_EQ(Leave(a, Seconds(-1)).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(core().GracefulUnmountSegment(now_, a.owner, {9, 9}, Seconds(1)), Status::Ok());
  EXPECT_EQ(StatusOf(a), SegmentStatus::kOk);
}

TEST_F(GracefulUnmount, MountingItMeanwhileIsRefusedAndARemountLeavesIt) {
  const auto a = Mount("a", kMiB);
  EXPECT_EQ(Leave(a, Seconds(60)), Status::Ok());
  EXPECT_EQ(core().MountSegment(now_, a.owner, a).code(), ErrorCode::kUnavailableInCurrentStatus);
  EXPECT_EQ(core().ReMountSegments(now_, a.owner, std::vector{a}), Status::Ok());
  EXPECT_EQ(StatusOf(a), SegmentStatus::kGracefullyUnmounting);
}

TEST_F(GracefulUnmount, ANewLifeUnderTheNameIsNotTakenForTheOldOne) {
  const auto a = Mount("a", kMiB);
  EXPECT_EQ(Leave(a, Seconds(60)), Status::Ok());
  const auto again = Mount("a", kMiB, "", 2);
  EXPECT_EQ(StatusOf(a), SegmentStatus::kUndefined);
  EXPECT_EQ(StatusOf(again), SegmentStatus::kOk);
  Advance(Seconds(60));
  TickAll();
  EXPECT_EQ(StatusOf(again), SegmentStatus::kOk);
}

TEST_F(Segments, NamesOfAReplyServeAsPreferredOnes) {
  Mount("a", kMiB);
  Mount("b", kMiB);
  const auto start = Start("k", 10, {.replica_num = 2});
  auto names = core().SegmentNames(start.value_or({}).replicas);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b"}));
}

TEST_F(Clients, AddressesComeFromPingsAndSegmentsEachOnce) {
  auto a = Describe("a", kMiB);
  a.endpoint = "10.0.0.1:7";
  auto b = Describe("b", kMiB);
  b.owner = a.owner;
  b.endpoint = "[fd00::1]:7";
  ASSERT_EQ(core().ReMountSegments(now_, a.owner, std::vector{a, b}), Status::Ok());
  ASSERT_TRUE(core().Ping(now_, a.owner, "node-a 10.0.0.1:7").ok());
  ASSERT_TRUE(core().Ping(now_, kWriter, "host9 pid 12").ok());
  const ClientId asked[] = {kWriter, kOther, a.owner};
  const auto answer = core().QueryAddresses(asked);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer.value(),
            (std::vector<ClientAddresses>{{kWriter, {}}, {a.owner, {"10.0.0.1", "fd00::1"}}}));
  EXPECT_TRUE(core().QueryAddresses({}).value_or({{}}).empty());
  EXPECT_EQ(core().QueryAddresses(std::vector<ClientId>(kMaxBatch + 1)).code(),
            ErrorCode::kInvalidParams);
}

TEST_F(Clients, AnUnknownOneIsAskedToRemountUntilItDoes) {
  const auto first = core().Ping(now_, kWriter, "10.0.0.1:5");
  EXPECT_EQ(first.value_or({}).status, PingStatus::kNeedRemount);
  EXPECT_EQ(first.value_or({}).term, Term{5});
  EXPECT_EQ(first.value_or({}).master_now_ms, 1000000);
  EXPECT_EQ(core().Ping(now_, kWriter, "10.0.0.1:5").value_or({}).status, PingStatus::kNeedRemount);
  EXPECT_EQ(core().ReMountSegments(now_, kWriter, {}), Status::Ok());
  EXPECT_EQ(core().Ping(now_, kWriter, "10.0.0.1:5").value_or({}).status, PingStatus::kOk);
  const auto clients = core().GetClients(now_ + Seconds(1));
  ASSERT_EQ(clients.size(), 1u);
  EXPECT_EQ(clients[0].address, "10.0.0.1:5");
  EXPECT_EQ(clients[0].since_ping, Seconds(1));
}

TEST_F(Clients, AFirstMountNeedsNoRemount) {
  const auto a = Mount("a", kMiB);
  EXPECT_EQ(core().Ping(now_, a.owner, "x").value_or({}).status, PingStatus::kOk);
  EXPECT_EQ(core().GetClients(now_).at(0).segment_count, 1u);
}

TEST_F(Clients, WhoDoesNotPingIsGoneWithItsSegments) {
  options_.client_ttl = Seconds(10);
  const auto a = Mount("a", kMiB);
  Mount("b", kMiB);
  Put("k", 1000, {.preferred_segments = {"a"}});
  Advance(Seconds(9));
  ASSERT_TRUE(core().Ping(now_, Node("b"), "b").ok());
  TickAll();
  EXPECT_TRUE(Exists("k"));
  Advance(Seconds(1));
  TickAll();
  EXPECT_FALSE(Exists("k"));
  EXPECT_EQ(core().GetStatus().client_count, 1u);
  EXPECT_EQ(core().GetStatus().capacity, kMiB);
  EXPECT_EQ(core().Ping(now_, a.owner, "a").value_or({}).status, PingStatus::kNeedRemount);
  auto again = a;
  again.epoch = {2};
  EXPECT_EQ(core().ReMountSegments(now_, a.owner, std::vector{again}), Status::Ok());
  EXPECT_EQ(core().Ping(now_, a.owner, "a").value_or({}).status, PingStatus::kOk);
  EXPECT_EQ(core().GetStatus().capacity, 2 * kMiB);
  EXPECT_FALSE(Exists("k"));
}

TEST_F(Clients, WhoseSegmentWasReplacedIsAskedToRemount) {
  Mount("a", kMiB);
  auto second = Describe("a", kMiB, "", 2);
  second.owner = kOther;
  EXPECT_EQ(core().MountSegment(now_, kOther, second), Status::Ok());
  EXPECT_EQ(core().Ping(now_, Node("a"), "a").value_or({}).status, PingStatus::kNeedRemount);
}

TEST_F(Clients, ARemountUnmountsWhatItDoesNotName) {
  auto a = Describe("a", kMiB);
  auto b = Describe("b", kMiB);
  b.owner = a.owner;
  EXPECT_EQ(core().ReMountSegments(now_, a.owner, std::vector{a, b}), Status::Ok());
  EXPECT_EQ(core().ReMountSegments(now_, a.owner, std::vector{b}), Status::Ok());
  ASSERT_EQ(core().GetSegments({}).size(), 1u);
  EXPECT_EQ(core().GetSegments({})[0].descriptor.name, "b");
}

TEST_F(Clients, ABadSegmentInARemountChangesNothing) {
  const auto a = Mount("a", kMiB);
  auto bad = Describe("b", 1);
  bad.owner = a.owner;
  EXPECT_EQ(core().ReMountSegments(now_, a.owner, std::vector{bad}).code(),
            ErrorCode::kInvalidParams);
  EXPECT_EQ(core().GetSegments({}).size(), 1u);
}

}  // namespace
}  // namespace mooncake::core

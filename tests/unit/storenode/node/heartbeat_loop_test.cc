#include "storenode/node/heartbeat_loop.h"

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/faulty_master.h"
#include "tests/support/null_master.h"
#include "tests/support/wait.h"
#include "transfer/base/guarded.h"

namespace mooncake {
namespace {

using testing::Eventually;
using testing::Fault;

// A master that remembers segments until it is restarted.
class SmallMaster final : public testing::NullMaster {
 public:
  struct State {
    uint64_t term = 5;
    bool knows_node = false;
    std::vector<SegmentDescriptor> segments;
    std::vector<SegmentInfo> others;  // of other nodes
    std::vector<uint64_t> epochs;     // as they were mounted, in order
    int unmounts = 0;
    ErrorCode refuse = ErrorCode::kOk;
  };

  Result<PingReply> Ping(const ClientId&, const std::string&, TimePoint) override {
    return state.With([](State& s) {
      return PingReply{.status = s.knows_node ? PingStatus::kOk : PingStatus::kNeedRemount,
                       .term = Term{s.term},
                       .master_now_ms = 1000,
                       .client_ttl = Millis(50)};
    });
  }
  Status ReMountSegments(const ClientId&, std::span<const SegmentDescriptor> segments, uint64_t,
                         TimePoint) override {
    return state.With([&](State& s) {
      if (s.refuse != ErrorCode::kOk) return Status(s.refuse, "refused");
      s.knows_node = true;  // told of all its segments; a ping is not enough
      s.segments.assign(segments.begin(), segments.end());
      s.epochs.push_back(segments[0].epoch.value);
      return Status::Ok();
    });
  }
  Result<std::vector<SegmentInfo>> GetSegments(std::span<const SegmentId> ids, TimePoint) override {
    return state.With([&](State& s) {
      std::vector<SegmentInfo> infos = ids.empty() ? s.others : std::vector<SegmentInfo>{};
      for (const SegmentDescriptor& segment : s.segments) infos.push_back({.descriptor = segment});
      return infos;
    });
  }
  void Restart() {
    state.With([](State& s) {
      ++s.term;
      s.knows_node = false;
      s.segments.clear();
    });
  }
  std::vector<uint64_t> epochs() const {
    return state.With([](const State& s) { return s.epochs; });
  }

  Guarded<State> state;
};

class HeartbeatLoopTest : public ::testing::Test {
 protected:
  HeartbeatLoopTest() {
    descriptor_.id = {1, 2};
    descriptor_.name = "n1";
    descriptor_.size = memory_.size();
    descriptor_.epoch = AccessEpoch{1};
    descriptor_.owner = {7, 7};
    EXPECT_TRUE(
        served_.Add({.id = descriptor_.id, .epoch = descriptor_.epoch, .memory = memory_}).ok());
  }

  void StartLoop(SegmentProbe probe = nullptr) {
    loop_ = std::make_unique<HeartbeatLoop>(
        HeartbeatParts{.master = faulty_,
                       .served = served_,
                       .master_clock = master_clock_,
                       .clock = SystemClock(),
                       .probe = std::move(probe)},
        HeartbeatOptions{.node = descriptor_.owner,
                         .core = {.first_backoff = Millis(1), .max_backoff = Millis(5)}},
        std::vector<SegmentDescriptor>{descriptor_});
    loop_->Start();
  }
  Status Wait() { return loop_->WaitMounted(SystemClock().Now() + Seconds(20)); }
  bool Writable(uint64_t epoch) {
    return served_
        .BeginWrite(
            {.segment = descriptor_.id, .epoch = AccessEpoch{epoch}, .offset = 0, .length = 1},
            {.put_id = PutId{1}, .deadline_ms = 1'000'000}, nullptr)
        .ok();
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(4096);
  SegmentDescriptor descriptor_;
  std::shared_ptr<SmallMaster> master_ = std::make_shared<SmallMaster>();
  testing::FaultyMaster faulty_{master_};
  MasterClockEstimate master_clock_;
  ServedSegments served_{SystemClock(), master_clock_};
  std::unique_ptr<HeartbeatLoop> loop_;
};

TEST_F(HeartbeatLoopTest, MountsAndAdmitsWrites) {
  EXPECT_FALSE(Writable(1));  // no master, no clock to judge grants by
  StartLoop();
  ASSERT_TRUE(Wait().ok());
  EXPECT_TRUE(Writable(1));
  EXPECT_EQ(master_->epochs(), std::vector<uint64_t>{1});
}

TEST_F(HeartbeatLoopTest, ANewMasterFindsNothingOfTheOldEpochAdmitted) {
  StartLoop();
  ASSERT_TRUE(Wait().ok());
  master_->Restart();
  ASSERT_TRUE(Eventually([&] { return master_->epochs().size() == 2; }));
  EXPECT_EQ(master_->epochs().back(), 2u);
  ASSERT_TRUE(Eventually([&] { return loop_->mounted(); }));
  EXPECT_FALSE(Writable(1));
  EXPECT_TRUE(Writable(2));
}

TEST_F(HeartbeatLoopTest, ALostMountReplyDoesNotMountTwice) {
  faulty_.Inject("ReMountSegments", Fault::kLoseReply);
  StartLoop();
  ASSERT_TRUE(Wait().ok());
  EXPECT_EQ(master_->epochs(), std::vector<uint64_t>{1});
}

TEST_F(HeartbeatLoopTest, ALostMountRequestIsRepeatedWithTheNextEpoch) {
  faulty_.Inject("ReMountSegments", Fault::kLoseRequest);
  StartLoop();
  ASSERT_TRUE(Wait().ok());
  EXPECT_EQ(master_->epochs(), std::vector<uint64_t>{2});
  EXPECT_EQ(loop_->segments().front().epoch, AccessEpoch{2});
}

TEST_F(HeartbeatLoopTest, LostPingsAloneChangeNothing) {
  StartLoop();
  ASSERT_TRUE(Wait().ok());
  const int before = faulty_.CallsOf("Ping");
  faulty_.Inject("Ping", Fault::kLoseReply, 3);
  ASSERT_TRUE(Eventually([&] { return faulty_.CallsOf("Ping") > before + 5 && loop_->mounted(); }));
  EXPECT_EQ(master_->epochs(), std::vector<uint64_t>{1});
}

TEST_F(HeartbeatLoopTest, ARefusalThatTimeDoesNotCureIsToldAtOnce) {
  master_->state.With([](SmallMaster::State& s) { s.refuse = ErrorCode::kInvalidParams; });
  StartLoop();
  EXPECT_EQ(Wait().code(), ErrorCode::kInvalidParams);
}

TEST_F(HeartbeatLoopTest, TheNameOfALivingNodeIsNotTaken) {
  master_->state.With([](SmallMaster::State& s) {
    s.others.push_back(
        {.descriptor = {.id = {9, 9}, .name = "n1", .owner = {8, 8}, .endpoint = "10.0.0.9:1"}});
  });
  StartLoop([](const SegmentDescriptor&, TimePoint) { return true; });
  const Status status = Wait();
  EXPECT_EQ(status.code(), ErrorCode::kSegmentAlreadyExists);
  EXPECT_NE(status.message().find("10.0.0.9:1"), std::string::npos) << status;
}

TEST_F(HeartbeatLoopTest, TheNameOfADeadNodeIsTakenOver) {
  master_->state.With([](SmallMaster::State& s) {
    s.others.push_back({.descriptor = {.id = {9, 9}, .name = "n1", .owner = {8, 8}}});
  });
  StartLoop([](const SegmentDescriptor&, TimePoint) { return false; });
  EXPECT_TRUE(Wait().ok());
}

TEST_F(HeartbeatLoopTest, StopEndsAWaitAtOnce) {
  faulty_.SetScript([](std::string_view) { return Fault::kLoseRequest; });
  StartLoop();
  std::thread stopper([&] { loop_->Stop(); });
  const Status status = Wait();
  EXPECT_EQ(status.code(), ErrorCode::kUnavailableInCurrentStatus) << status;
  stopper.join();
}

}  // namespace
}  // namespace mooncake

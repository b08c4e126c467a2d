#include "client/lease_keeper.h"

#include <atomic>

#include <gtest/gtest.h>

#include "tests/support/null_master.h"
#include "tests/support/wait.h"
#include "transfer/base/guarded.h"
#include "transfer/base/manual_clock.h"

namespace mooncake {
namespace {

constexpr Duration kLease = Seconds(10);

// Grants leases as told, and counts.
class LeaseMaster final : public testing::NullMaster {
 public:
  struct State {
    Status answer;  // OK: grant
    int calls = 0;
    size_t leases = 0;
    int pings = 0;
  };
  std::vector<Result<Duration>> BatchRenewLease(std::span<const LeaseRef> leases,
                                                TimePoint) override {
    return state.With([&](State& s) {
      ++s.calls;
      s.leases += leases.size();
      return std::vector<Result<Duration>>(
          leases.size(), s.answer.ok() ? Result<Duration>(kLease) : Result<Duration>(s.answer));
    });
  }
  Result<PingReply> Ping(const ClientId&, const std::string&, TimePoint) override {
    return state.With([](State& s) {
      ++s.pings;
      return s.answer.ok() ? Result<PingReply>(PingReply{}) : Result<PingReply>(s.answer);
    });
  }
  void Answer(ErrorCode code) {
    state.With([&](State& s) { s.answer = code == ErrorCode::kOk ? Status() : Status(code, "x"); });
  }
  State now() const {
    return state.With([](const State& s) { return s; });
  }
  Guarded<State> state;
};

// The keeper without its thread: the test says when a round is run.
class LeaseKeeperTest : public ::testing::Test {
 protected:
  std::shared_ptr<HeldLease> Hold(uint64_t put_id = 1) {
    return keeper_->Hold({.name = {.key = "k"}, .put_id = PutId{put_id}}, clock_.Now(), kLease);
  }
  // Lets time pass in steps that a thread would have woken for.
  void Pass(Duration duration) {
    const TimePoint end = clock_.Now() + duration;
    while (clock_.Now() < end) {
      const TimePoint next = keeper_->RenewDue();
      clock_.Advance(std::max<Duration>(Millis(1), std::min(next, end) - clock_.Now()));
    }
  }

  ManualClock clock_;
  LeaseMaster master_;
  std::shared_ptr<LeaseKeeper> keeper_ =
      std::make_shared<LeaseKeeper>(master_, clock_, ClientId{1, 1}, "test");
};

TEST_F(LeaseKeeperTest, ALeaseIsValidUntilItsEnd) {
  const auto lease = Hold();
  EXPECT_TRUE(lease->Valid());
  clock_.Advance(kLease - Duration(1));
  EXPECT_TRUE(lease->Valid());
  clock_.Advance(Duration(1));
  EXPECT_FALSE(lease->Valid());
}

TEST_F(LeaseKeeperTest, ALeaseIsRenewedLongBeforeItsEnd) {
  const auto lease = Hold();
  Pass(10 * kLease);
  EXPECT_TRUE(lease->Valid());
  EXPECT_LE(master_.now().calls, 25);
}

TEST_F(LeaseKeeperTest, OneLostRenewalIsMadeGood) {
  const auto lease = Hold();
  master_.Answer(ErrorCode::kRpcTimeout);
  Pass(kLease / 2 + kLease / 4);
  EXPECT_TRUE(lease->Valid());
  master_.Answer(ErrorCode::kOk);
  Pass(2 * kLease);
  EXPECT_TRUE(lease->Valid());
}

TEST_F(LeaseKeeperTest, WithoutTheMasterALeaseEndsOnTime) {
  const auto lease = Hold();
  master_.Answer(ErrorCode::kRpcFail);
  Pass(kLease);
  EXPECT_FALSE(lease->Valid());
}

TEST_F(LeaseKeeperTest, AVersionThatIsGoneIsLostAtOnceAndForGood) {
  const auto lease = Hold();
  master_.Answer(ErrorCode::kObjectNotFound);
  Pass(kLease / 2 + Millis(2));
  EXPECT_FALSE(lease->Valid());
  master_.Answer(ErrorCode::kOk);
  const int calls = master_.now().calls;
  Pass(2 * kLease);
  EXPECT_FALSE(lease->Valid());
  EXPECT_EQ(master_.now().calls, calls);
}

TEST_F(LeaseKeeperTest, ALeaseThatLapsedIsGoodAgainIfTheMasterKeptTheVersion) {
  const auto lease = Hold();
  clock_.Advance(3 * kLease);  // this process was stopped
  EXPECT_FALSE(lease->Valid());
  Pass(Millis(2));
  EXPECT_TRUE(lease->Valid());
}

TEST_F(LeaseKeeperTest, WhatIsReleasedIsNotRenewed) {
  { const auto lease = Hold(); }
  Pass(3 * kLease);
  EXPECT_EQ(master_.now().calls, 0);
}

TEST_F(LeaseKeeperTest, ManyLeasesShareACall) {
  std::vector<std::shared_ptr<HeldLease>> leases;
  for (uint64_t i = 0; i < 3000; ++i) leases.push_back(Hold(i + 1));
  Pass(kLease / 2 + Millis(20));
  EXPECT_EQ(master_.now().leases, 3000u);
  EXPECT_EQ(master_.now().calls, 3);
}

TEST_F(LeaseKeeperTest, ALeaseMayOutliveTheKeepersThread) {
  keeper_->Start(Duration::zero());
  const auto lease = Hold();
  keeper_->Stop();
  keeper_->Stop();
  keeper_.reset();
  EXPECT_TRUE(lease->Valid());
}

TEST(LeaseKeeperThread, TellsOnceThatTheMasterIsSilentAndOnceThatItIsBack) {
  LeaseMaster master;
  Guarded<std::vector<ErrorCode>> told;
  const auto so_far = [&] { return told.With([](const auto& list) { return list; }); };
  const auto pings = [&](int more) {
    const int before = master.now().pings;
    return testing::Eventually([&] { return master.now().pings > before + more; });
  };
  auto keeper =
      std::make_shared<LeaseKeeper>(master, SystemClock(), ClientId{1, 1}, "test",
                                    LeaseKeeper::Hooks{.on_master = [&](const Status& status) {
                                      told.With([&](auto& list) { list.push_back(status.code()); });
                                    }});
  keeper->Start(Millis(300));
  ASSERT_TRUE(pings(1));
  EXPECT_EQ(so_far().size(), 0u);
  master.Answer(ErrorCode::kRpcFail);
  ASSERT_TRUE(pings(2));
  master.Answer(ErrorCode::kOk);
  ASSERT_TRUE(pings(2));
  keeper->Stop();
  EXPECT_EQ(so_far(), (std::vector{ErrorCode::kRpcFail, ErrorCode::kOk}));
}

TEST(LeaseKeeperThread, TellsAfterAPingThatWasAnsweredOnly) {
  LeaseMaster master;
  master.Answer(ErrorCode::kRpcFail);
  std::atomic<int> told{0};
  auto keeper = std::make_shared<LeaseKeeper>(
      master, SystemClock(), ClientId{1, 1}, "test",
      LeaseKeeper::Hooks{.tell = [&](TimePoint deadline) {
        EXPECT_LE(deadline, SystemClock().Now() + LeaseKeeper::kCallTimeout);
        ++told;
      }});
  keeper->Start(Millis(300));
  ASSERT_TRUE(testing::Eventually([&] { return master.now().pings > 1; }));
  EXPECT_EQ(told, 0);
  master.Answer(ErrorCode::kOk);
  EXPECT_TRUE(testing::Eventually([&] { return told > 0; }));
  keeper->Stop();
}

TEST(LeaseKeeperThread, RenewsAndPingsByItself) {
  LeaseMaster master;
  auto keeper = std::make_shared<LeaseKeeper>(master, SystemClock(), ClientId{1, 1}, "test");
  keeper->Start(Millis(300));
  const auto lease = keeper->Hold({.put_id = PutId{1}}, SystemClock().Now(), Millis(20));
  EXPECT_TRUE(
      testing::Eventually([&] { return master.now().calls > 0 && master.now().pings > 1; }));
  EXPECT_TRUE(lease->Valid());
  keeper->Stop();
}

}  // namespace
}  // namespace mooncake

#include "storenode/core/node_core.h"

#include <gtest/gtest.h>

namespace mooncake {
namespace {

constexpr Duration kTtl = Seconds(10);

class NodeCoreTest : public testing::Test {
 protected:
  Result<PingReply> Reply(PingStatus status, uint64_t term = 7) const {
    return PingReply{
        .status = status, .term = Term{term}, .master_now_ms = 5000, .client_ttl = kTtl};
  }
  static Status Down() { return Status(ErrorCode::kRpcFail, "down"); }

  // The node mounted, at `now_`.
  void Mount() {
    ASSERT_EQ(core_.Next(now_).action, NodeAction::kPing);
    core_.OnPing(now_, now_, Reply(PingStatus::kNeedRemount));
    ASSERT_EQ(core_.Next(now_).action, NodeAction::kMount);
    core_.OnMount(now_, Status::Ok());
    ASSERT_EQ(core_.phase(), NodePhase::kMounted);
  }
  // Lets the time pass that the core wants to wait.
  void Rest() {
    const NodeStep step = core_.Next(now_);
    ASSERT_EQ(step.action, NodeAction::kWait);
    ASSERT_GT(step.until, now_);
    now_ = step.until;
  }

  TimePoint now_{Seconds(100)};
  NodeCore core_{NodeCoreOptions{}, Rng(1)};
};

TEST_F(NodeCoreTest, ReachesTheMasterBeforeItMounts) {
  EXPECT_EQ(core_.Next(now_).action, NodeAction::kPing);
  core_.OnPing(now_, now_, Reply(PingStatus::kOk));
  const NodeStep step = core_.Next(now_);
  EXPECT_EQ(step.action, NodeAction::kMount);
  EXPECT_FALSE(step.advance_epoch);
}

TEST_F(NodeCoreTest, PingsSeveralTimesWithinTheTtl) {
  Mount();
  const NodeStep step = core_.Next(now_);
  ASSERT_EQ(step.action, NodeAction::kWait);
  EXPECT_LE(step.until - now_, kTtl / 5);
}

TEST_F(NodeCoreTest, WaitsForAnAnswerOnlyAsLongAsThereIsTimeForAnotherPing) {
  EXPECT_EQ(core_.Next(now_).timeout, NodeCoreOptions{}.max_call_timeout);
  Result<PingReply> reply = Reply(PingStatus::kOk);
  reply->client_ttl = Seconds(3);
  core_.OnPing(now_, now_, reply);
  core_.OnMount(now_, Status::Ok());
  Rest();
  EXPECT_EQ(core_.Next(now_).timeout, Seconds(1));
}

TEST_F(NodeCoreTest, TheNextPingIsCountedFromWhenTheLastWasSent) {
  Mount();
  Rest();
  ASSERT_EQ(core_.Next(now_).action, NodeAction::kPing);
  core_.OnPing(now_, now_ + Seconds(3), Reply(PingStatus::kOk));
  EXPECT_EQ(core_.Next(now_ + Seconds(3)).action, NodeAction::kPing);
}

TEST_F(NodeCoreTest, NeedRemountAdvancesTheEpoch) {
  Mount();
  Rest();
  core_.OnPing(now_, now_, Reply(PingStatus::kNeedRemount));
  const NodeStep step = core_.Next(now_);
  EXPECT_EQ(step.action, NodeAction::kMount);
  EXPECT_TRUE(step.advance_epoch);
}

TEST_F(NodeCoreTest, ANewTermAdvancesTheEpochEvenWithoutBeingAsked) {
  Mount();
  Rest();
  core_.OnPing(now_, now_, Reply(PingStatus::kOk, 8));
  const NodeStep step = core_.Next(now_);
  EXPECT_EQ(step.action, NodeAction::kMount);
  EXPECT_TRUE(step.advance_epoch);
}

TEST_F(NodeCoreTest, AnOlderTermIsNoAnswer) {
  Mount();
  Rest();
  core_.OnPing(now_, now_, Reply(PingStatus::kNeedRemount, 6));
  EXPECT_EQ(core_.phase(), NodePhase::kUnsure);
  EXPECT_EQ(core_.term(), Term{7});
  EXPECT_EQ(core_.Next(now_).action, NodeAction::kWait);
}

TEST_F(NodeCoreTest, AfterALostPingItAsksBeforeItTrustsAnOk) {
  Mount();
  Rest();
  core_.OnPing(now_, now_, Down());
  Rest();
  core_.OnPing(now_, now_, Reply(PingStatus::kOk));
  ASSERT_EQ(core_.Next(now_).action, NodeAction::kVerify);
  core_.OnVerify(now_, true);
  EXPECT_EQ(core_.phase(), NodePhase::kMounted);
  EXPECT_EQ(core_.Next(now_).action, NodeAction::kWait);
}

TEST_F(NodeCoreTest, WhatTheMasterDoesNotKnowIsMountedAgain) {
  Mount();
  Rest();
  core_.OnPing(now_, now_, Down());
  Rest();
  core_.OnPing(now_, now_, Reply(PingStatus::kOk));
  ASSERT_EQ(core_.Next(now_).action, NodeAction::kVerify);
  core_.OnVerify(now_, false);
  const NodeStep step = core_.Next(now_);
  EXPECT_EQ(step.action, NodeAction::kMount);
  EXPECT_TRUE(step.advance_epoch);
}

TEST_F(NodeCoreTest, AMountWithoutAnAnswerIsAskedAbout) {
  core_.OnPing(now_, now_, Reply(PingStatus::kNeedRemount));
  ASSERT_EQ(core_.Next(now_).action, NodeAction::kMount);
  core_.OnMount(now_, Status(ErrorCode::kRpcTimeout, "slow"));
  EXPECT_EQ(core_.phase(), NodePhase::kUnsure);
  Rest();
  ASSERT_EQ(core_.Next(now_).action, NodeAction::kPing);
  core_.OnPing(now_, now_, Reply(PingStatus::kOk));
  EXPECT_EQ(core_.Next(now_).action, NodeAction::kVerify);
}

TEST_F(NodeCoreTest, AMountThatKeepsBeingRefusedBacksOff) {
  Duration last{};
  for (int i = 0; i < 6; ++i) {
    core_.OnPing(now_, now_, Reply(PingStatus::kNeedRemount));
    ASSERT_EQ(core_.Next(now_).action, NodeAction::kMount);
    core_.OnMount(now_, Status(ErrorCode::kSegmentAlreadyExists, "taken"));
    const NodeStep step = core_.Next(now_);
    ASSERT_EQ(step.action, NodeAction::kWait);
    last = step.until - now_;
    now_ = step.until;
  }
  EXPECT_GE(last, Millis(375));
}

TEST_F(NodeCoreTest, TheBackOffIsCappedAndGoneAfterSuccess) {
  Mount();
  Rest();
  for (int i = 0; i < 50; ++i) {
    core_.OnPing(now_, now_, Down());
    const NodeStep step = core_.Next(now_);
    ASSERT_EQ(step.action, NodeAction::kWait);
    EXPECT_LE(step.until - now_, NodeCoreOptions{}.max_backoff * 5 / 4);
    now_ = step.until;
  }
  core_.OnPing(now_, now_, Reply(PingStatus::kNeedRemount, 8));
  EXPECT_EQ(core_.Next(now_).action, NodeAction::kMount);
  core_.OnMount(now_, Status::Ok());
  Rest();
  core_.OnPing(now_, now_, Down());
  EXPECT_LE(core_.Next(now_).until - now_, NodeCoreOptions{}.first_backoff * 5 / 4);
}

TEST_F(NodeCoreTest, VerifiesNowAndThenWithoutAReason) {
  Mount();
  for (int i = 0; i < 100; ++i) {
    Rest();
    const NodeStep step = core_.Next(now_);
    if (step.action == NodeAction::kVerify) {
      core_.OnVerify(now_, false);
      EXPECT_EQ(core_.Next(now_).action, NodeAction::kMount);
      return;
    }
    core_.OnPing(now_, now_, Reply(PingStatus::kOk));
  }
  FAIL() << "no verify in 100 pings";
}

TEST_F(NodeCoreTest, TheMasterClockIsNeverEstimatedTooEarly) {
  EXPECT_FALSE(core_.master_clock());
  core_.OnPing(now_, now_ + Seconds(2), Reply(PingStatus::kOk));
  ASSERT_TRUE(core_.master_clock());
  EXPECT_EQ(core_.master_clock()->master_ms, 5000);
  EXPECT_EQ(core_.master_clock()->at, now_);  // when the ping was sent, not when it was answered
}

TEST_F(NodeCoreTest, TellsSinceWhenTheMasterIsSilent) {
  Mount();
  Rest();
  const TimePoint first = now_;
  core_.OnPing(now_, now_, Down());
  Rest();
  core_.OnPing(now_, now_, Down());
  EXPECT_EQ(core_.failing_since(), first);
  core_.OnPing(now_, now_, Reply(PingStatus::kOk));
  EXPECT_FALSE(core_.failing_since());
}

TEST_F(NodeCoreTest, ALaterMasterIsToldTheLogPositionOfTheOneBefore) {
  Mount();
  Rest();
  auto reply = Reply(PingStatus::kOk);
  reply->log_position = 40;
  core_.OnPing(now_, now_, reply);
  EXPECT_EQ(core_.seen_log_position(), 40u);
  Rest();
  reply = Reply(PingStatus::kNeedRemount, 8);
  reply->log_position = 25;
  core_.OnPing(now_, now_, reply);
  EXPECT_EQ(core_.seen_log_position(), 40u) << "until it has heard of it";
  ASSERT_EQ(core_.Next(now_).action, NodeAction::kMount);
  core_.OnMount(now_, Status::Ok());
  EXPECT_EQ(core_.seen_log_position(), 25u);
}

}  // namespace
}  // namespace mooncake

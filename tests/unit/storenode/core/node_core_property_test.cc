// Laws of NodeCore against a master that restarts, expires nodes, and loses or repeats messages.
#include <optional>
#include <set>

#include <gtest/gtest.h>

#include "storenode/core/node_core.h"

namespace mooncake {
namespace {

constexpr Duration kTtl = Seconds(5);

// Knows the epoch of one segment, until it forgets.
class ModelMaster {
 public:
  void Restart() {
    ++term_;
    Forget();
  }
  void Expire(TimePoint now) {
    if (registered_ && now - last_ping_ > kTtl) Forget();
  }
  PingReply Ping(TimePoint now) {
    // A ping registers an unknown client; only the first answer says that its segments are not known.
    const bool need = !registered_;
    registered_ = true;
    last_ping_ = now;
    return PingReply{.status = need ? PingStatus::kNeedRemount : PingStatus::kOk,
                     .term = Term{term_},
                     .master_now_ms = ToMillis(now.time_since_epoch()),
                     .client_ttl = kTtl};
  }
  // Law: what was forgotten is never trusted again.
  void Mount(uint64_t epoch) {
    EXPECT_FALSE(forgotten_.contains(epoch))
        << "epoch " << epoch << " came back after it was forgotten";
    epoch_ = epoch;
  }
  std::optional<uint64_t> epoch() const { return epoch_; }

 private:
  void Forget() {
    if (epoch_) forgotten_.insert(*epoch_);
    epoch_.reset();
    registered_ = false;
  }
  uint64_t term_ = 1;
  bool registered_ = false;
  TimePoint last_ping_{};
  std::optional<uint64_t> epoch_;
  std::set<uint64_t> forgotten_;
};

class World {
 public:
  explicit World(uint64_t seed) : rng_(seed), core_(NodeCoreOptions{}, Rng(seed + 1)) {}

  void Step(bool faults) {
    if (faults && rng_.Chance(1, 40)) master_.Restart();
    if (faults && rng_.Chance(1, 60))
      now_ += Seconds(static_cast<int64_t>(rng_.Below(12)));  // frozen
    master_.Expire(now_);
    const NodeStep step = core_.Next(now_);
    const bool lost_request = faults && rng_.Chance(1, 8);
    const bool lost_reply = faults && rng_.Chance(1, 8);
    switch (step.action) {
      case NodeAction::kWait:
        ASSERT_GT(step.until, now_);
        now_ = step.until;
        return;
      case NodeAction::kPing: {
        const TimePoint sent = now_;
        Result<PingReply> reply = Lost();
        if (!lost_request) reply = master_.Ping(now_);
        Delay(faults);
        core_.OnPing(sent, now_, lost_reply ? Lost() : reply);
        return;
      }
      case NodeAction::kMount:
        if (step.advance_epoch) ++epoch_;
        if (!lost_request) master_.Mount(epoch_);
        Delay(faults);
        core_.OnMount(now_, lost_request || lost_reply ? Lost().status() : Status::Ok());
        return;
      case NodeAction::kVerify: {
        const bool known = master_.epoch() == epoch_;
        Delay(faults);
        core_.OnVerify(
            now_, lost_request || lost_reply ? Result<bool>(Lost().status()) : Result<bool>(known));
        return;
      }
    }
  }

  TimePoint now() const { return now_; }
  bool Mounted() const { return core_.phase() == NodePhase::kMounted && master_.epoch() == epoch_; }

 private:
  static Result<PingReply> Lost() { return Status(ErrorCode::kRpcTimeout, "lost"); }
  void Delay(bool faults) {
    if (faults) now_ += Millis(static_cast<int64_t>(rng_.Below(300)));
  }

  Rng rng_;
  NodeCore core_;
  ModelMaster master_;
  uint64_t epoch_ = 1;
  TimePoint now_{Seconds(100)};
};

TEST(NodeCoreProperty, NoForgottenEpochReturnsAndTheNodeComesBackSoon) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    World world(seed);
    for (int i = 0; i < 400; ++i) world.Step(true);
    const TimePoint healed = world.now();
    // A verify may be due only after its interval; that is the one slow way back.
    while (!world.Mounted() && world.now() < healed + Seconds(60)) world.Step(false);
    EXPECT_TRUE(world.Mounted());
    EXPECT_LE(world.now() - healed, NodeCoreOptions{}.verify_interval + Seconds(2));
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace mooncake

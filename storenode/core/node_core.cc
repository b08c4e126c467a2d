#include "storenode/core/node_core.h"

#include <algorithm>

#include "transfer/base/check.h"

namespace mooncake {

NodeStep NodeCore::Next(TimePoint now) {
  if (now < due_) return {.action = NodeAction::kWait, .until = due_};
  if (reached_) {
    switch (phase_) {
      case NodePhase::kDetached: {
        const bool advance = epoch_used_;
        epoch_used_ = true;
        return {.action = NodeAction::kMount, .advance_epoch = advance};
      }
      case NodePhase::kUnsure:
        return {.action = NodeAction::kVerify, .timeout = CallTimeout()};
      case NodePhase::kMounted:
        if (now >= verify_due_) return {.action = NodeAction::kVerify, .timeout = CallTimeout()};
        break;
    }
  }
  return {.action = NodeAction::kPing, .timeout = CallTimeout()};
}

void NodeCore::OnPing(TimePoint sent, TimePoint now, const Result<PingReply>& reply) {
  // A reply of an older term comes from a deposed master: as good as none.
  if (!reply.ok() || reply->term < term_) {
    if (!failing_since_) failing_since_ = now;
    Failed(now);
    return;
  }
  const bool new_term = reply->term > term_;
  const bool known_before = term_ != Term{};
  term_ = reply->term;
  client_ttl_ = reply->client_ttl;
  log_position_ = reply->log_position;
  clock_ = MasterClockSample{.master_ms = reply->master_now_ms, .at = sent};
  failing_since_.reset();
  reached_ = true;
  if ((new_term && known_before) || reply->status == PingStatus::kNeedRemount)
    phase_ = NodePhase::kDetached;
  if (phase_ == NodePhase::kMounted) seen_log_position_ = log_position_;
  // Mounts that keep being refused back off although the pings between them succeed.
  if (new_term || phase_ == NodePhase::kMounted) backoff_ = Duration::zero();
  // A mounted node rests until the next ping, the others go on at once.
  due_ = phase_ == NodePhase::kMounted ? std::max(now, sent + PingInterval()) : now;
}

void NodeCore::OnMount(TimePoint now, const Status& status) {
  MC_CHECK(phase_ == NodePhase::kDetached);
  if (!status.ok()) {
    // It may have been carried out all the same, so the master is asked before the next attempt.
    Failed(now);
    return;
  }
  backoff_ = Duration::zero();
  phase_ = NodePhase::kMounted;
  seen_log_position_ = log_position_;
  due_ = now + PingInterval();
  verify_due_ = now + options_.verify_interval;
}

void NodeCore::OnVerify(TimePoint now, const Result<bool>& known) {
  if (!known.ok()) {
    Failed(now);
    return;
  }
  if (*known) backoff_ = Duration::zero();
  phase_ = *known ? NodePhase::kMounted : NodePhase::kDetached;
  due_ = *known ? now + PingInterval() : now;
  verify_due_ = now + options_.verify_interval;
}

void NodeCore::Failed(TimePoint now) {
  // A first mount that was never sent leaves nothing to be unsure of.
  if (epoch_used_) phase_ = NodePhase::kUnsure;
  reached_ = false;
  backoff_ = backoff_ == Duration::zero() ? options_.first_backoff
                                          : std::min(backoff_ * 2, options_.max_backoff);
  // Between 3/4 and 5/4, so that the nodes of a cluster do not come back in step.
  const auto quarter = static_cast<uint64_t>(backoff_.count() / 4);
  due_ = now + backoff_ - Duration(quarter) + Duration(rng_.Between(0, 2 * quarter));
}

Duration NodeCore::PingInterval() const {
  return std::clamp(client_ttl_ / 5, Duration(Millis(10)), options_.max_ping_interval);
}

// Short enough that a lost ping is followed by another one before the master gives the node up.
Duration NodeCore::CallTimeout() const {
  if (client_ttl_ == Duration::zero()) return options_.max_call_timeout;
  return std::clamp(client_ttl_ / 3, Duration(Millis(50)), options_.max_call_timeout);
}

}  // namespace mooncake

#include "client/core/put_session.h"

#include <algorithm>
#include <utility>

#include "transfer/base/check.h"

namespace mooncake {

namespace {

Status Unknown(const Status& last) {
  return Status(ErrorCode::kRpcTimeout,
                "it is not known whether the object was stored: " + last.ToString());
}

}  // namespace

bool IsUnknownOutcome(ErrorCode code) {
  return code == ErrorCode::kRpcTimeout || code == ErrorCode::kRpcFail ||
         code == ErrorCode::kTransferFail;
}

PutSession::PutSession(const PutStartReply& reply, uint64_t size)
    : put_id_(reply.put_id), replicas_(static_cast<uint32_t>(reply.replicas.size())) {
  bool fits = size == 0 || !reply.replicas.empty();
  for (const ReplicaDescriptor& replica : reply.replicas) {
    uint64_t start = 0;
    for (const Extent& extent : replica.extents) {
      writes_.push_back({.extent = extent, .object_offset = start});
      fits = fits && extent.length > 0 && extent.length <= size - start;
      if (!fits) break;
      start += extent.length;
    }
    fits = fits && start == size;
  }
  if (!fits) {
    Abandon(Status(ErrorCode::kInternal, "the master reserved extents that do not add up to " +
                                             std::to_string(size) + " bytes"));
  } else if (writes_.empty()) {
    phase_ = Phase::kEnding;
  }
}

void PutSession::OnWrites(const std::vector<Status>& outcomes, const std::vector<bool>& unsent) {
  MC_CHECK(phase_ == Phase::kWriting);
  MC_CHECK(outcomes.size() == writes_.size());
  MC_CHECK(unsent.empty() || unsent.size() == outcomes.size());
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].ok()) continue;
    if (outcome_.ok()) outcome_ = outcomes[i];
    const bool definite = !unsent.empty() && unsent[i];
    if (!definite && IsUnknownOutcome(outcomes[i].code()))
      to_fence_.push_back(writes_[i].extent.segment);
  }
  std::sort(to_fence_.begin(), to_fence_.end());
  to_fence_.erase(std::unique(to_fence_.begin(), to_fence_.end()), to_fence_.end());
  if (outcome_.ok()) {
    phase_ = Phase::kEnding;
  } else {
    phase_ = to_fence_.empty() ? Phase::kRevoking : Phase::kFencing;
  }
}

void PutSession::OnFences(bool all_fenced) {
  MC_CHECK(phase_ == Phase::kFencing);
  settled_ = all_fenced;
  phase_ = Phase::kRevoking;
}

void PutSession::OnEnd(const Status& status) {
  MC_CHECK(phase_ == Phase::kEnding);
  if (status.ok()) return Finish(Status::Ok());
  end_unknown_ = IsUnknownOutcome(status.code());
  if (outcome_.ok()) outcome_ = status;
  if (end_unknown_) {
    // Repeating an End is harmless: the put id makes it the same End.
    if (++ends_ >= kMaxEnds) phase_ = Phase::kRevoking;
    return;
  }
  // Late, revoked or preempted. A Revoke follows all the same: it tells the master that no write is on its way any more, so that the
  // space of a preempted put need not be held for a writer that might return.
  const bool gone =
      status.code() == ErrorCode::kObjectNotFound || status.code() == ErrorCode::kInvalidWrite;
  // If an earlier End had no answer, it may have been carried out, and the object removed since.
  forgotten_ = gone && ends_ == 0;
  outcome_ = gone && !forgotten_ ? Unknown(status) : status;
  phase_ = Phase::kRevoking;
}

void PutSession::OnRevoke(const Status& status) {
  MC_CHECK(phase_ == Phase::kRevoking);
  revoked_ = status.ok();
  if (!end_unknown_ || status.ok()) return Finish(outcome_);
  // An End without an answer was followed by a Revoke; what the master says to that may tell what
  // became of the End.
  if (status.code() == ErrorCode::kObjectAlreadyExists) return Finish(Status::Ok());
  Finish(Unknown(outcome_));
}

void PutSession::Abandon(Status why) {
  MC_CHECK(phase_ == Phase::kWriting || phase_ == Phase::kEnding);
  MC_CHECK(!why.ok());
  outcome_ = std::move(why);
  phase_ = Phase::kRevoking;
}

void PutSession::Finish(Status outcome) {
  outcome_ = std::move(outcome);
  phase_ = Phase::kDone;
}

}  // namespace mooncake

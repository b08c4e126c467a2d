// One write of one object, from the reservation to its end: what is to be done next, and what the caller is told. Pure.
//
//   kWriting --all written--> kEnding --ok--------------------------> kDone (OK)
//      | some failed            |  \--no answer: again, kMaxEnds times
//      |                        |  \--other error
//      |                        v
//      +--none unknown-----> kRevoking --any answer-----------------> kDone (error, or OK: see below)
//      +--some unknown--> kFencing --all fenced: settled---^
//                                  --else: not settled-----^
//
// The table is in client/core/README.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "master/api/types.h"
#include "transfer/base/status.h"

namespace mooncake {

// One extent of one replica to be filled.
struct PutWrite {
  Extent extent;
  uint64_t object_offset = 0;  // where its bytes start in the object
};

// Thread-compatible. Each On… is called in the phase that its name belongs to.
class PutSession {
 public:
  enum class Phase : uint8_t { kWriting, kFencing, kEnding, kRevoking, kDone };

  static constexpr int kMaxEnds = 3;

  // `reply` of a PutStart for `size` bytes. A reply that does not fit the size starts in kRevoking.
  PutSession(const PutStartReply& reply, uint64_t size);

  Phase phase() const { return phase_; }
  PutId put_id() const { return put_id_; }
  uint32_t replicas() const { return replicas_; }

  // kWriting: all of them, in no particular order; their outcomes in the same order, once.
  const std::vector<PutWrite>& writes() const { return writes_; }
  // `unsent` (empty, or as long as `outcomes`): true where nothing was sent, so that a failure is a definite one.
  void OnWrites(const std::vector<Status>& outcomes, const std::vector<bool>& unsent = {});

  // kFencing: these nodes may still have a write on its way; whether each is fenced.
  const std::vector<SegmentId>& to_fence() const { return to_fence_; }
  void OnFences(bool all_fenced);

  // kEnding: send PutEnd.
  void OnEnd(const Status& status);

  // kRevoking: send PutRevoke with `settled`.
  bool settled() const { return settled_; }
  void OnRevoke(const Status& status);

  // The caller gives up before or while writing (deadline passed before the first write): nothing was sent.
  void Abandon(Status why);

  // kDone: true if the master confirmed that nothing is left of the write, so that it may be tried anew.
  bool revoked() const { return revoked_; }
  // kDone: true if the master did not know the write any more when it was to end: the master was started again meanwhile, or another
  // writer took the place. Nothing came of it, so it may be tried anew.
  bool forgotten() const { return forgotten_; }
  // kDone: what the caller is told.
  const Status& outcome() const { return outcome_; }

 private:
  void Finish(Status outcome);

  Phase phase_ = Phase::kWriting;
  PutId put_id_;
  uint32_t replicas_ = 0;
  std::vector<PutWrite> writes_;
  std::vector<SegmentId> to_fence_;
  int ends_ = 0;
  bool end_unknown_ = false;  // the last PutEnd had no answer
  bool settled_ = true;
  bool revoked_ = false;
  bool forgotten_ = false;
  Status outcome_;  // the first error, until kDone
};

// True if the call may have been carried out all the same.
bool IsUnknownOutcome(ErrorCode code);

}  // namespace mooncake

// Decides what a store node says to its master and when: ping, verify, mount, with which access epoch. Pure: time and
// outcomes come in, steps come out; the shell (storenode/node/heartbeat_loop) carries them out one at a time.
//
//                          mount ok
//        +--------------------------------------------+
//        |                                            v
//   kDetached --- ping: master reached, then mount   kMounted --+ ping ok
//     ^   ^  \                                        |   ^  ^--+
//     |   |   \ mount failed (it may have arrived)    |   |
//     |   |    v                      ping or verify  |   |
//     |   +-- kUnsure <---- failed ------------------ +   |
//     |  need remount \___ ping ok, then verify: known ___/
//     |  or unknown
//     +--- from any phase: need remount, a newer term, verify: not known
//
// The table is in storenode/core/README.md.
#pragma once

#include <cstdint>
#include <optional>

#include "master/api/types.h"
#include "transfer/base/result.h"
#include "transfer/base/rng.h"
#include "transfer/base/time.h"

namespace mooncake {

// What the node believes the master thinks of its segments.
enum class NodePhase : uint8_t {
  kDetached,  // not mounted: never were, or the master said so
  kMounted,   // mounted, and nothing has failed since that was confirmed
  kUnsure,    // something failed since; the master has to be asked
};

enum class NodeAction : uint8_t {
  kWait,    // nothing to do before `until`
  kPing,    // then OnPing
  kMount,   // advance the epoch first if `advance_epoch`; then OnMount
  kVerify,  // ask whether the master knows all segments with their present epochs; then OnVerify
};

struct NodeStep {
  NodeAction action = NodeAction::kWait;
  TimePoint until{};           // kWait
  bool advance_epoch = false;  // kMount
  Duration timeout{};          // kPing, kVerify: an answer that takes longer is none
};

// The master's clock was at most `master_ms` at `at` (our clock): replies are stamped after their request was sent.
struct MasterClockSample {
  int64_t master_ms = 0;
  TimePoint at{};
};

struct NodeCoreOptions {
  Duration max_ping_interval = Seconds(1);
  Duration first_backoff = Millis(50);
  Duration max_backoff =
      Millis(500);  // low, so that a master that returns gets its nodes back at once (F062)
  Duration verify_interval = Seconds(10);
  Duration max_call_timeout = Seconds(2);
};

// Thread-compatible. Steps and events alternate: the outcome of a step is told before the next one is asked for.
class NodeCore {
 public:
  NodeCore(const NodeCoreOptions& options, Rng rng) : options_(options), rng_(rng) {}

  // What to do at `now`.
  NodeStep Next(TimePoint now);

  void OnPing(TimePoint sent, TimePoint now, const Result<PingReply>& reply);
  void OnMount(TimePoint now, const Status& status);
  // True: all segments are known with their present epochs.
  void OnVerify(TimePoint now, const Result<bool>& known);

  NodePhase phase() const { return phase_; }
  Term term() const { return term_; }
  // The log position that the master told where the segments were mounted last: what it knew, a later one must know.
  uint64_t seen_log_position() const { return seen_log_position_; }
  // None until a ping succeeded. The latest of the present term.
  std::optional<MasterClockSample> master_clock() const { return clock_; }
  // Since when no ping has succeeded; nothing while the last one did.
  std::optional<TimePoint> failing_since() const { return failing_since_; }

 private:
  void Failed(TimePoint now);
  Duration PingInterval() const;
  Duration CallTimeout() const;

  const NodeCoreOptions options_;
  Rng rng_;
  NodePhase phase_ = NodePhase::kDetached;
  bool reached_ = false;     // kDetached, kUnsure: a ping succeeded, so mount or verify is next
  bool epoch_used_ = false;  // the present epoch was sent to a master
  Term term_{};
  uint64_t log_position_ = 0;  // of the present term
  uint64_t seen_log_position_ = 0;
  Duration client_ttl_{};
  Duration backoff_{};  // 0: the last step succeeded
  TimePoint due_{};     // of the next step
  TimePoint verify_due_{};
  std::optional<MasterClockSample> clock_;
  std::optional<TimePoint> failing_since_;
};

}  // namespace mooncake

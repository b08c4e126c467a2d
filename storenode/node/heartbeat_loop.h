// The thread on which a node talks to its master: carries out the steps of NodeCore.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "master/api/master_api.h"
#include "storenode/core/node_core.h"
#include "storenode/node/data_server.h"
#include "transfer/base/clock.h"
#include "transfer/base/mutex.h"
#include "transfer/transport/master_clock.h"
#include "transfer/transport/served_segments.h"

namespace mooncake {

// What the loop works on. All must outlive it.
struct HeartbeatParts {
  MasterApi& master;
  ServedSegments& served;
  MasterClockEstimate& master_clock;
  const Clock& clock;
  SegmentProbe probe;  // null: names are not checked before mounting
};

struct HeartbeatOptions {
  ClientId node;
  std::string address;  // for people
  NodeCoreOptions core;
  uint64_t seed = 0;  // of the jitter
};

// Thread-safe.
class HeartbeatLoop {
 public:
  // `segments` as they are to be mounted first; they are served with these epochs already.
  HeartbeatLoop(const HeartbeatParts& parts, const HeartbeatOptions& options,
                std::vector<SegmentDescriptor> segments);
  ~HeartbeatLoop();

  void Start();
  // No call to the master is made afterwards. Waits for one in progress: kCallTimeout at most. Idempotent.
  void Stop() MC_EXCLUDES(mutex_);

  // Waits until the segments are mounted (OK), mounting is refused for a reason that waiting does not cure (that
  // reason), or `deadline` (kRpcTimeout or the last failure), or Stop (kUnavailableInCurrentStatus).
  Status WaitMounted(TimePoint deadline) MC_EXCLUDES(mutex_);
  bool mounted() const MC_EXCLUDES(mutex_);
  // With their present epochs.
  std::vector<SegmentDescriptor> segments() const MC_EXCLUDES(mutex_);

  static constexpr Duration kCallTimeout = Seconds(2);

 private:
  void Loop() MC_EXCLUDES(mutex_);
  void Ping(Duration timeout) MC_EXCLUDES(mutex_);
  void Mount(bool advance_epoch) MC_EXCLUDES(mutex_);
  void Verify(Duration timeout) MC_EXCLUDES(mutex_);
  Status TryMount(bool advance_epoch) MC_EXCLUDES(mutex_);
  Status AdvanceEpochs() MC_EXCLUDES(mutex_);
  Status CheckNames(TimePoint deadline) MC_EXCLUDES(mutex_);
  void UpdateClock();
  void Publish(const Status& failure) MC_EXCLUDES(mutex_);
  bool Rest(TimePoint until) MC_EXCLUDES(mutex_);

  const HeartbeatParts parts_;
  const HeartbeatOptions options_;
  // The loop's thread only, after Start.
  NodeCore core_;
  Term
      clock_term_{};  // the term in which the master's clock may be used; its grants are of the present epochs
  ErrorCode mount_failure_told_ = ErrorCode::kOk;

  std::thread thread_;
  mutable Mutex mutex_;
  CondVar changed_;
  std::vector<SegmentDescriptor> segments_ MC_GUARDED_BY(mutex_);
  bool mounted_ MC_GUARDED_BY(mutex_) = false;
  Status last_failure_ MC_GUARDED_BY(mutex_);
  bool stopping_ MC_GUARDED_BY(mutex_) = false;
};

}  // namespace mooncake

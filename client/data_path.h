// The client's way to the bytes: slices of several peers at once, views, fences; and what was learned about peers on the way.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "client/core/replica_selector.h"
#include "transfer/base/clock.h"
#include "transfer/base/mutex.h"
#include "transfer/engine/transfer_engine.h"

namespace mooncake::internal {

// Thread-safe.
class DataPath {
 public:
  DataPath(std::shared_ptr<TransferEngine> engine, const Clock& clock)
      : engine_(std::move(engine)), clock_(clock) {}

  Locality LocalityOf(const PeerAddress& peer) const;
  // Lets go of broken connections.
  void Tick() { engine_->Tick(); }

  Status RegisterMemory(MutableByteSpan memory) { return engine_->RegisterMemory(memory); }
  Status UnregisterMemory(const std::byte* start) { return engine_->UnregisterMemory(start); }

  // Settles every slice, at `deadline` at the latest. Notes failures of segments, for SuspectUntil.
  void Execute(std::span<PeerSlice> slices, TimePoint deadline) MC_EXCLUDES(mutex_);

  Result<ByteSpan> View(const PeerAddress& peer, const Extent& extent, uint64_t length,
                        TimePoint deadline) {
    return engine_->View(peer, extent.segment, extent.epoch, extent.offset, length, deadline);
  }
  Status Fence(const PeerAddress& peer, const SegmentId& segment, PutId put_id,
               TimePoint deadline) {
    return engine_->Fence(peer, segment, put_id, deadline);
  }

  // In the past: the segment may be tried.
  TimePoint SuspectUntil(const SegmentId& segment) const MC_EXCLUDES(mutex_);
  // Segments that failed since the last call, for the master to know; at most kMaxFailures are remembered.
  std::vector<SegmentId> TakeFailures() MC_EXCLUDES(mutex_);
  // Bytes on their way between this client and the segment (and those that share its counter).
  uint64_t LoadOf(const SegmentId& segment) const;

 private:
  static constexpr size_t kCounters = 256;
  static constexpr size_t kMaxFailures = 256;
  // A slice that ran into a deadline blames its peer only if it had this long.
  static constexpr Duration kFairTry = Millis(500);

  std::atomic<uint64_t>& Counter(const SegmentId& segment) const;
  void Judge(std::span<const PeerSlice> slices, TimePoint started) MC_EXCLUDES(mutex_);

  const std::shared_ptr<TransferEngine> engine_;
  const Clock& clock_;
  // Relaxed: a hint for spreading load, nothing is ordered by it.
  mutable std::array<std::atomic<uint64_t>, kCounters> in_flight_{};
  std::atomic<bool> any_suspect_{false};  // relaxed: saves the lock while all is well
  mutable Mutex mutex_;
  SuspectTable suspects_ MC_GUARDED_BY(mutex_);
  std::set<SegmentId> failures_ MC_GUARDED_BY(mutex_);
};

}  // namespace mooncake::internal

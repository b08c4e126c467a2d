// The memory a node serves, and the one gate to it: every access of every transport is admitted here, by segment,
// epoch, range, write grant and fence, and is pinned until it ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "transfer/base/byte_span.h"
#include "transfer/base/clock.h"
#include "transfer/base/ids.h"
#include "transfer/base/mutex.h"
#include "transfer/base/result.h"
#include "transfer/transport/master_clock.h"

namespace mooncake {

// A write request may run this long once admitted, and never beyond its grant. Then it is cut.
inline constexpr Duration kMaxWriteDuration = Seconds(20);

// Something that can be made to stop moving bytes: a connection.
class CutTarget {
 public:
  virtual ~CutTarget() = default;
  // Must not block; the accesses end soon after. May be called from any thread and more than once.
  virtual void Cut() = 0;
};

// A segment as its owner describes it.
struct ServedSegment {
  SegmentId id;
  AccessEpoch epoch;
  MutableByteSpan memory;
  std::shared_ptr<void> keep_alive;  // owns `memory`; released when the last access has ended
  std::atomic<uint64_t>* epoch_word =
      nullptr;  // of a RegionHeader; kept equal to the epoch (0 once closed)
  // Region for clients of the same host: memfd with its RegionHeader; owned by keep_alive. -1: none.
  int region_fd = -1;
  uint64_t region_bytes = 0;
};

namespace internal {
struct ServedState;
struct AccessNode;
}  // namespace internal

// A pinned range. Move-only; unpins when destroyed. Thread-compatible, but cut() may be asked anywhere.
class ServedAccess {
 public:
  ServedAccess();
  ServedAccess(ServedAccess&&) noexcept;
  ServedAccess& operator=(ServedAccess&&) noexcept;
  ~ServedAccess();

  MutableByteSpan memory() const;
  // When a write must have ended; kNever for reads.
  TimePoint deadline() const;
  // True: stop now. Who copies itself asks between chunks; who is blocked in a socket is woken by its CutTarget.
  bool cut() const;
  // Of the segment: who holds it may look at the memory after the access ended.
  const std::shared_ptr<void>& keep_alive() const;

 private:
  friend class ServedSegments;
  void End();
  std::shared_ptr<internal::ServedState> state_;
  std::unique_ptr<internal::AccessNode> node_;
};

// Thread-safe. Blocks only where a deadline is given.
class ServedSegments {
 public:
  struct Options {
    // A fence must outlive every grant of the put: longer than the master's longest write deadline.
    Duration fence_ttl = Seconds(3600);
    size_t max_fences = 65536;
  };

  // `clock` and `master_clock` must outlive this and all its accesses.
  ServedSegments(const Clock& clock, const MasterClockEstimate& master_clock, Options options);
  ServedSegments(const Clock& clock, const MasterClockEstimate& master_clock);
  ~ServedSegments();
  ServedSegments(const ServedSegments&) = delete;
  ServedSegments& operator=(const ServedSegments&) = delete;

  // kSegmentAlreadyExists.
  Status Add(const ServedSegment& segment);

  // Serves `epoch` from now on. Every access of another epoch is cut and has ended when this returns OK, so no byte
  // of an older epoch can land afterwards. kRpcTimeout: one has not ended yet; the segment serves nobody
  // until a repeated call succeeds. kSegmentNotFound.
  Status SetEpoch(const SegmentId& id, AccessEpoch epoch, TimePoint deadline);

  // Takes the segment out and waits for its accesses, which are cut. kRpcTimeout: still in use, `keep_alive` is
  // let go when the last one ends. kSegmentNotFound.
  Status Remove(const SegmentId& id, TimePoint deadline);

  // Refuses all writes of `put_id` from now on, cuts running ones and waits for them. After OK nothing
  // written under it can reach memory. kRpcTimeout: a write has not ended (yet refused it is). kObjectReplicaBusy:
  // too many fences alive.
  Status Fence(PutId put_id, TimePoint deadline);

  // Sets the superseded flag if the seal at `seal_offset` names `put_id`. kReplicaIsGone: it names another, or the
  // place is being written anew. kInvalidVersion, kSegmentNotFound, kInvalidParams.
  Status Supersede(const SegmentId& id, AccessEpoch epoch, uint64_t seal_offset, PutId put_id);

  struct Range {
    SegmentId segment;
    AccessEpoch epoch;
    uint64_t offset = 0;
    uint64_t length = 0;
  };
  // `target` may be null for who asks cut() itself. kSegmentNotFound, kInvalidVersion (epoch, expired grant,
  // fenced), kInvalidParams (outside the segment). kObjectReplicaBusy: a write of the range is overdue and has not ended; it is
  // cut. (The node was frozen; a device may have gone on.)
  Result<ServedAccess> BeginRead(const Range& range, const std::shared_ptr<CutTarget>& target);
  Result<ServedAccess> BeginWrite(const Range& range, const WriteGrant& grant,
                                  const std::shared_ptr<CutTarget>& target);

  // The whole segment, for who hands out a device's keys to it: the gate sees nothing of what is done with them, so once cut, they
  // must have been taken back before the access ends. Each write over it is to be admitted by itself. Errors as above.
  Result<ServedAccess> BeginExport(const SegmentId& id, AccessEpoch epoch,
                                   const std::shared_ptr<CutTarget>& target);

  // A read-only descriptor of the segment's region, for a client of this host. kNotSupported: it has none.
  struct Region {
    std::shared_ptr<void> keep_alive;  // keeps `fd` open
    int fd = -1;
    uint64_t bytes = 0;
  };
  Result<Region> OpenRegion(const SegmentId& id) const;

  bool Has(const SegmentId& id) const;
  // Accesses alive, of all segments. For tests and metrics.
  size_t active_accesses() const;

 private:
  struct Fences;

  std::shared_ptr<internal::ServedState> Find(const SegmentId& id) const MC_EXCLUDES(table_mutex_);
  std::vector<std::shared_ptr<internal::ServedState>> All() const MC_EXCLUDES(table_mutex_);
  Result<ServedAccess> Begin(const Range& range, PutId put_id, TimePoint deadline, bool write,
                             const std::shared_ptr<CutTarget>& target);
  static bool CutOverdue(internal::ServedState& state, const Range& range, TimePoint now);
  struct Table;

  const Clock& clock_;
  const MasterClockEstimate& master_clock_;
  const Options options_;
  mutable SharedMutex table_mutex_;
  std::unique_ptr<Table> table_ MC_PT_GUARDED_BY(table_mutex_);
  Mutex fence_mutex_;
  std::unique_ptr<Fences> fences_ MC_PT_GUARDED_BY(fence_mutex_);
};

}  // namespace mooncake

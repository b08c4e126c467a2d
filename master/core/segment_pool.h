// The segments that nodes lend. A segment sits in a numbered slot, by which extents refer to it; when it goes away the
// slot is marked dead (one flip, and all its extents are unreadable), and is used again only after the last of
// its extents was returned.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_map.h>

#include "master/api/types.h"
#include "master/core/allocator/segment_allocator.h"
#include "master/core/eviction/eviction_queue.h"
#include "master/core/object.h"

namespace mooncake::core {

// Why bytes are in use that no name leads to: for holders of leases, or since the writer of a given-up put may still write.
enum class Nameless : uint8_t { kDetached, kDiscarded };
using NamelessBytes = std::array<uint64_t, 2>;  // of data, by Nameless

struct Segment {
  SegmentDescriptor descriptor;
  SegmentStatus status = SegmentStatus::kUndefined;
  bool live = false;
  // False: restored, and its node has not mounted it here with a newer epoch; or it has, and that is not durable yet.
  bool attached = true;
  bool restored = false;     // what was in it at first is known from an earlier term
  uint64_t usable_from = 0;  // attached when this sequence is durable; 0: restored, and not mounted
  uint32_t host = 0;         // number of descriptor.host_id; equal = same host
  std::unique_ptr<SegmentAllocator> allocator;  // dead: until its blocks were swept
  uint64_t extents = 0;                         // not yet returned, whoever holds them
  uint64_t held = 0;                            // bytes used only until the log is durable
  NamelessBytes nameless{};
  uint64_t replicas = 0;          // readable ones with an extent here
  std::vector<uint64_t> charged;  // bytes, by number of the tenant; may be shorter
  uint32_t sweep_next = 0;        // dead: next handle to look at
  bool quarantined = false;       // takes nothing new; readable
  // Clients that lately reported a failure, and when; oldest first, bounded by the threshold.
  std::vector<std::pair<ClientId, TimePoint>> failures;
  bool evicting = false;  // above its watermark a while ago, not yet below the low mark
  EvictionQueues queues;

  uint64_t capacity() const { return descriptor.size; }
  bool takes_new() const { return live && status == SegmentStatus::kOk && !quarantined; }
  uint64_t used() const { return live ? allocator->used_bytes() : 0; }
  // What eviction could give: held bytes are on their way already.
  uint64_t in_use() const { return live ? allocator->used_bytes() - held : 0; }
};

// Not thread-safe.
class SegmentPool {
 public:
  explicit SegmentPool(MemoryAllocator kind = MemoryAllocator::kOffset) : kind_(kind) {}

  // The id must not be live, the name must be free.
  uint32_t Mount(const SegmentDescriptor& descriptor);
  // Marks a live segment dead: its bytes leave the totals at once, its blocks wait for the sweep.
  void Kill(uint32_t slot);
  // Of a live segment. Only kOk takes new extents.
  void SetStatus(uint32_t slot, SegmentStatus status);
  void SetQuarantined(uint32_t slot, bool quarantined);
  // The sweep met every block of a dead segment.
  void FinishSweep(uint32_t slot);

  Segment& at(uint32_t slot) { return *slots_[slot]; }
  const Segment& at(uint32_t slot) const { return *slots_[slot]; }
  bool live(uint32_t slot) const { return slots_[slot]->live; }
  uint32_t slot_count() const { return static_cast<uint32_t>(slots_.size()); }

  uint32_t FindById(const SegmentId& id) const;  // live ones; kNoSlot
  uint32_t FindByName(std::string_view name) const;
  // Slots of live segments in order of name.
  const absl::btree_map<std::string, uint32_t, std::less<>>& by_name() const { return by_name_; }
  // Slots that take new extents, in order of name.
  std::span<const uint32_t> allocatable() const { return allocatable_; }
  // Slots that are dead and not swept yet, oldest first.
  std::span<const uint32_t> unswept() const { return unswept_; }
  // The allocatable segment with most bytes of capacity: nothing contiguous can be larger.
  uint64_t largest_capacity() const { return largest_capacity_; }

  // `data_bytes` and their seal in one extent; false when no hole fits. Tops: the slot is live.
  bool Allocate(uint32_t slot, uint64_t data_bytes, uint8_t replica, ExtentRef& out);
  // Up to `data_bytes`, as much as one hole of at least `min_data_bytes` takes.
  bool AllocateUpTo(uint32_t slot, uint64_t data_bytes, uint64_t min_data_bytes, uint8_t replica,
                    ExtentRef& out);
  // When a state is restored: reserves the extent, whose slot, offset and length are known, and fills in its block. Extents of a
  // slot come in order of offset; `hole` is the free block behind the one before, at first the allocator's first block.
  bool Claim(uint32_t& hole, ExtentRef& extent);
  void Release(const ExtentRef& extent);
  // The extent of a live segment has no owner any more, but waits for the log before it is released.
  void Hold(const ExtentRef& extent);
  void ReleaseHeld(const ExtentRef& extent);
  // Extents lose their name, and are given back. Those of a dead segment count no more.
  void AddNameless(Nameless why, std::span<const ExtentRef> extents);
  void SubtractNameless(Nameless why, std::span<const ExtentRef> extents);
  void SetOwner(const ExtentRef& extent, Object* object);
  Object* Owner(uint32_t slot, uint32_t block) const;

  // Of its block; 0 on a dead segment.
  uint64_t BytesOf(const ExtentRef& extent) const {
    const Segment& segment = at(extent.slot);
    return segment.live ? segment.allocator->BlockBytes(extent.block) : 0;
  }
  uint64_t capacity() const { return capacity_; }
  uint64_t used() const { return used_; }
  uint64_t held() const { return held_; }
  uint64_t in_use() const { return used_ - held_; }
  uint64_t nameless(Nameless why) const { return nameless_[static_cast<size_t>(why)]; }

 private:
  uint32_t HostNumber(const std::string& host_id);
  void RefreshAllocatable();
  bool Fill(uint32_t slot, const SegmentAllocator::Block& block, uint64_t length, uint8_t replica,
            ExtentRef& out);
  void FreeSlotIfUnused(uint32_t slot);

  const MemoryAllocator kind_;
  std::vector<std::unique_ptr<Segment>> slots_;
  std::vector<uint32_t> free_slots_;
  absl::flat_hash_map<SegmentId, uint32_t, std::hash<SegmentId>> by_id_;
  absl::btree_map<std::string, uint32_t, std::less<>> by_name_;
  absl::flat_hash_map<std::string, uint32_t> hosts_;
  std::vector<uint32_t> allocatable_;
  std::vector<uint32_t> unswept_;
  uint64_t largest_capacity_ = 0;
  uint64_t capacity_ = 0;
  uint64_t used_ = 0;
  uint64_t held_ = 0;
  NamelessBytes nameless_{};
};

}  // namespace mooncake::core

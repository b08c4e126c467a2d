// Hands out byte ranges of a segment. Two do: the offset allocator, and the slab allocator for those who want it so
// (memory_allocator). Suites: tests/unit/master/core/segment_allocator_test.cc, tests/property/master.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "master/core/options.h"

namespace mooncake::core {

// Not thread-safe.
class SegmentAllocator {
 public:
  static constexpr uint64_t kUnit = 64;
  static constexpr uint32_t kNoHandle = UINT32_MAX;

  struct Block {
    uint64_t offset = 0;  // bytes, a multiple of kUnit
    uint32_t handle = 0;  // for Free
  };

  virtual ~SegmentAllocator() = default;

  // `bytes` > 0; the block is at least as long: see BlockBytes. Nothing when no hole is found.
  virtual std::optional<Block> Allocate(uint64_t bytes) = 0;
  // Like Allocate(bytes), or else a whole hole (the largest that is quickly found) of at least `min_bytes`.
  // The block may so be smaller than asked for: see BlockBytes.
  virtual std::optional<Block> AllocateUpTo(uint64_t bytes, uint64_t min_bytes) = 0;
  // Exactly [offset, offset + bytes) out of the free block `hole`, when a state is restored; nothing when it does not lie there.
  // An allocator that cannot do it takes no part in restores (CoreOptions::Validate).
  virtual std::optional<Block> TakeAt(uint32_t, uint64_t, uint64_t) { return std::nullopt; }
  // `handle` must be live.
  virtual void Free(uint32_t handle) = 0;
  // Would Allocate(bytes) find something? False may be wrong by a little, true may not.
  virtual bool HasHole(uint64_t bytes) const = 0;

  // A word that the owner may attach to a live block; null at first.
  virtual void SetOwner(uint32_t handle, void* owner) = 0;
  virtual void* Owner(uint32_t handle) const = 0;
  // Handles are below this, and it never shrinks: what a resumable walk over live blocks counts to.
  virtual uint32_t HandleCount() const = 0;
  virtual bool IsLive(uint32_t handle) const = 0;

  // Neighbours that would become one hole if both were free; a free block may be named by a handle too. kNoHandle: there is none.
  virtual uint32_t Before(uint32_t handle) const = 0;
  virtual uint32_t After(uint32_t handle) const = 0;
  // The block at offset 0, live or free. kNoHandle as above.
  virtual uint32_t First() const { return kNoHandle; }
  // A hole about as large as any. kNoHandle when there is none, or holes have no names.
  virtual uint32_t LargestHole() const = 0;

  // The segment is dead and its walk has passed all handles below `handle`: gives memory back. From then on only
  // HandleCount, IsLive and Owner of later handles, and ForgetOwner, may be called.
  virtual void DropNodesBelow(uint32_t handle) = 0;
  // SetOwner(handle, nullptr), if the node is still there.
  virtual void ForgetOwner(uint32_t handle) = 0;

  virtual uint64_t capacity() const = 0;
  virtual uint64_t used_bytes() const = 0;  // of live blocks, rounding included
  virtual uint64_t live_blocks() const = 0;
  virtual uint64_t LargestFree() const = 0;  // what Allocate would find, or a little less
  virtual uint64_t BlockOffset(uint32_t handle) const = 0;
  virtual uint64_t BlockBytes(uint32_t handle) const = 0;
  virtual uint64_t MemoryBytes() const = 0;
  uint64_t free_bytes() const { return capacity() - used_bytes(); }

  // For CheckInvariants: everything in address order, live and free, without a gap.
  struct Range {
    uint64_t offset;
    uint64_t bytes;
    bool used;
    uint32_t handle;  // if used
  };
  virtual std::vector<Range> Ranges() const = 0;
};

// Manages [0, size), rounded down to what the allocator can use; at most 2^46 bytes.
std::unique_ptr<SegmentAllocator> MakeSegmentAllocator(MemoryAllocator kind, uint64_t size);

}  // namespace mooncake::core

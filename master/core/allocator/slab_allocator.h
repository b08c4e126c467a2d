// Hands out chunks of slabs of 4 MiB, each slab for chunks of one size. For users of memory_allocator=cachelib; the offset
// allocator wastes less and takes any length. Deprecated from the start: README.md, "Allocator".
//
//   free slab ── first chunk taken ──▶ partial ── last chunk taken ──▶ full
//       ▲                                │  ▲                           │
//       └──────── all chunks free ───────┘  └────── a chunk freed ──────┘
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "master/core/allocator/segment_allocator.h"

namespace mooncake::core {

// Nothing longer than a slab is one block: longer objects are split by who asks (AllocateUpTo). O(1).
class SlabAllocator final : public SegmentAllocator {
 public:
  static constexpr uint64_t kSlabBytes = uint64_t{4} << 20;

  // Uses whole slabs of [0, size).
  explicit SlabAllocator(uint64_t size);

  // The smallest chunk that holds `bytes`: of its own size class, of a free slab, or else of a larger class.
  std::optional<Block> Allocate(uint64_t bytes) override;
  std::optional<Block> AllocateUpTo(uint64_t bytes, uint64_t min_bytes) override;
  void Free(uint32_t handle) override;
  bool HasHole(uint64_t bytes) const override { return FindClass(bytes) != kNoClass; }

  void SetOwner(uint32_t handle, void* owner) override { node(handle).owner = owner; }
  void* Owner(uint32_t handle) const override { return node(handle).owner; }
  uint32_t HandleCount() const override { return node_count_; }
  bool IsLive(uint32_t handle) const override { return node(handle).used; }

  // Chunks don't merge.
  uint32_t Before(uint32_t) const override { return kNoHandle; }
  uint32_t After(uint32_t) const override { return kNoHandle; }
  uint32_t LargestHole() const override { return kNoHandle; }

  void DropNodesBelow(uint32_t handle) override;
  void ForgetOwner(uint32_t handle) override;

  uint64_t capacity() const override { return slabs_.size() * kSlabBytes; }
  uint64_t used_bytes() const override { return used_bytes_; }
  uint64_t live_blocks() const override { return live_blocks_; }
  uint64_t LargestFree() const override;
  uint64_t BlockOffset(uint32_t handle) const override;
  uint64_t BlockBytes(uint32_t handle) const override;
  uint64_t MemoryBytes() const override;
  std::vector<Range> Ranges() const override;

  // Lengths of chunks, ascending; for tests.
  static const std::vector<uint64_t>& ClassSizes();

 private:
  static constexpr uint32_t kNoClass = UINT32_MAX;

  struct Slab {
    uint32_t size_class = kNoClass;  // kNoClass: the slab is free
    uint32_t fresh = 0;              // chunks from here on were never taken
    uint32_t live = 0;
    uint32_t position = 0;               // in the list of partial slabs
    std::vector<uint16_t> given_back{};  // chunks below `fresh` that are free
  };
  // A live chunk; those not in use are chained by `slab`.
  struct Node {
    void* owner = nullptr;
    uint32_t slab = 0;
    uint16_t chunk = 0;
    bool used = false;
  };

  static constexpr uint32_t kNodesBits = 11;
  static constexpr uint32_t kNodes = 1u << kNodesBits;
  Node& node(uint32_t handle) { return nodes_[handle >> kNodesBits][handle & (kNodes - 1)]; }
  const Node& node(uint32_t handle) const {
    return nodes_[handle >> kNodesBits][handle & (kNodes - 1)];
  }

  static uint32_t ChunksOf(uint32_t size_class);
  uint32_t FindClass(uint64_t bytes) const;
  Block Take(uint32_t size_class);
  uint32_t NewNode();
  void AddPartial(uint32_t slab);
  void RemovePartial(uint32_t slab);

  std::vector<Slab> slabs_;
  std::vector<uint32_t> free_slabs_;            // taken from the end
  std::vector<std::vector<uint32_t>> partial_;  // by class: slabs with free chunks
  uint64_t partial_classes_ = 0;                // a bit for each class that has some
  uint64_t used_bytes_ = 0;
  uint64_t live_blocks_ = 0;
  uint32_t node_count_ = 0;
  uint32_t unused_nodes_ = kNoHandle;
  std::vector<std::unique_ptr<Node[]>> nodes_;
};

}  // namespace mooncake::core

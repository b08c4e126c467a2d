// Hands out byte ranges of a segment: O(1) allocate and free, neighbours coalesce at once.
//
// Free blocks hang in bins by size (32 steps an octave, in units of 64 bytes); a two-level bitmap finds the next bin that
// is not empty. A request looks at a few blocks of its own bin first (an equal-size workload finds its exact hole there,
// so sizes need no rounding beyond 64 bytes), then takes the smallest larger bin. README.md, "Allocator".
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "master/core/allocator/segment_allocator.h"

namespace mooncake::core {

class OffsetAllocator final : public SegmentAllocator {
 public:
  explicit OffsetAllocator(uint64_t size);

  // `bytes` > 0 is rounded up to kUnit.
  std::optional<Block> Allocate(uint64_t bytes) override;
  std::optional<Block> AllocateUpTo(uint64_t bytes, uint64_t min_bytes) override;
  std::optional<Block> TakeAt(uint32_t hole, uint64_t offset, uint64_t bytes) override;
  void Free(uint32_t handle) override;
  bool HasHole(uint64_t bytes) const override {
    const uint32_t hole = LargestHole();
    return hole != kNone && BlockBytes(hole) >= bytes;
  }

  void SetOwner(uint32_t handle, void* owner) override;
  void* Owner(uint32_t handle) const override;
  uint32_t HandleCount() const override { return node_count_; }
  bool IsLive(uint32_t handle) const override { return node(handle).used != 0; }

  uint32_t Before(uint32_t handle) const override { return node(handle).before; }
  uint32_t After(uint32_t handle) const override { return node(handle).after; }
  uint32_t First() const override { return first_; }
  // Of the largest bin, the best of the first 8.
  uint32_t LargestHole() const override { return LargestNode(8); }

  void DropNodesBelow(uint32_t handle) override;
  void ForgetOwner(uint32_t handle) override;

  uint64_t capacity() const override { return capacity_units_ * kUnit; }
  uint64_t used_bytes() const override { return used_units_ * kUnit; }
  uint64_t live_blocks() const override { return live_blocks_; }
  // Exact unless more than 256 blocks share the topmost bin; then a lower bound within 1/32.
  uint64_t LargestFree() const override;
  uint64_t BlockOffset(uint32_t handle) const override { return node(handle).offset * kUnit; }
  uint64_t BlockBytes(uint32_t handle) const override { return node(handle).size * kUnit; }
  uint64_t MemoryBytes() const override {
    return chunks_.size() * kChunk * sizeof(Node) + sizeof(*this);
  }
  std::vector<Range> Ranges() const override;

 private:
  static constexpr uint32_t kNone = kNoHandle;
  static constexpr uint32_t kMantissaBits = 5;
  static constexpr uint32_t kSteps = 1u << kMantissaBits;
  static constexpr uint32_t kBins = kSteps * 38;  // sizes up to 2^42 units
  static constexpr uint32_t kWords = (kBins + 63) / 64;
  static_assert(kWords <= 64, "one top word");

  struct Node {
    uint64_t offset;  // units
    uint64_t size : 63;
    uint64_t used : 1;
    uint32_t before, after;  // neighbours by address
    uint32_t bin_prev,
        bin_next;  // free: in its bin; live: the owner; unused nodes: bin_next chains the pool
  };

  // Nodes live in chunks, so that growing never moves them and giving them back can be done bit by bit.
  static constexpr uint32_t kChunkBits = 11;
  static constexpr uint32_t kChunk = 1u << kChunkBits;
  Node& node(uint32_t index) { return chunks_[index >> kChunkBits][index & (kChunk - 1)]; }
  const Node& node(uint32_t index) const {
    return chunks_[index >> kChunkBits][index & (kChunk - 1)];
  }

  Block Take(uint32_t index, uint64_t units);
  uint32_t LargestNode(int tries) const;
  static uint32_t BinOf(uint64_t units);
  uint32_t NewNode();
  void PushFree(uint32_t index);
  void PopFree(uint32_t index);
  uint32_t FindFree(uint64_t units) const;
  void Merge(uint32_t left, uint32_t right);

  uint64_t capacity_units_ = 0;
  uint64_t used_units_ = 0;
  uint64_t live_blocks_ = 0;
  uint32_t first_ = kNone;
  uint32_t pool_ = kNone;
  uint64_t top_ = 0;
  std::array<uint64_t, kWords> words_{};
  std::array<uint32_t, kBins> heads_;
  uint32_t node_count_ = 0;
  std::vector<std::unique_ptr<Node[]>> chunks_;
};

}  // namespace mooncake::core

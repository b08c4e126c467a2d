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

namespace mooncake::core {

// Not thread-safe.
class OffsetAllocator {
 public:
  static constexpr uint64_t kUnit = 64;

  struct Block {
    uint64_t offset = 0;  // bytes, a multiple of kUnit
    uint32_t handle = 0;  // for Free
  };

  // Manages [0, size) rounded down to a multiple of kUnit; at most 2^46 bytes.
  explicit OffsetAllocator(uint64_t size);

  // `bytes` > 0 is rounded up to kUnit. Nothing when no hole is found.
  std::optional<Block> Allocate(uint64_t bytes);
  // Like Allocate(bytes), or else a whole hole (the largest that is quickly found) of at least `min_bytes`.
  // The block may so be smaller than asked for: see BlockBytes.
  std::optional<Block> AllocateUpTo(uint64_t bytes, uint64_t min_bytes);
  // Exactly [offset, offset + bytes) out of the free block `hole`, when a state is restored; nothing when it does not lie there.
  std::optional<Block> TakeAt(uint32_t hole, uint64_t offset, uint64_t bytes);
  // `handle` must be live.
  void Free(uint32_t handle);

  // A word that the owner may attach to a live block; null at first.
  void SetOwner(uint32_t handle, void* owner);
  void* Owner(uint32_t handle) const;
  // Handles are below this, and it never shrinks: what a resumable walk over live blocks counts to.
  uint32_t HandleCount() const { return node_count_; }
  bool IsLive(uint32_t handle) const { return node(handle).used != 0; }

  // Neighbours by address, live or free; a free block is named by a handle too. kNoHandle at the ends.
  static constexpr uint32_t kNoHandle = UINT32_MAX;
  uint32_t Before(uint32_t handle) const { return node(handle).before; }
  uint32_t After(uint32_t handle) const { return node(handle).after; }
  uint32_t First() const { return first_; }
  // A hole about as large as any: of the largest bin, the best of the first 8. kNoHandle when full.
  uint32_t LargestHole() const { return LargestNode(8); }

  // The segment is dead and its walk has passed all handles below `handle`: gives memory back. From then on only
  // HandleCount, IsLive and Owner of later handles, and ForgetOwner, may be called.
  void DropNodesBelow(uint32_t handle);
  // SetOwner(handle, nullptr), if the node is still there.
  void ForgetOwner(uint32_t handle);

  uint64_t capacity() const { return capacity_units_ * kUnit; }
  uint64_t used_bytes() const { return used_units_ * kUnit; }
  uint64_t free_bytes() const { return capacity() - used_bytes(); }
  uint64_t live_blocks() const { return live_blocks_; }
  // Exact unless more than 256 blocks share the topmost bin; then a lower bound within 1/32.
  uint64_t LargestFree() const;
  uint64_t BlockOffset(uint32_t handle) const { return node(handle).offset * kUnit; }
  uint64_t BlockBytes(uint32_t handle) const { return node(handle).size * kUnit; }
  uint64_t MemoryBytes() const { return chunks_.size() * kChunk * sizeof(Node) + sizeof(*this); }

  // For CheckInvariants: blocks in address order, live and free, covering everything without a gap.
  struct Range {
    uint64_t offset;
    uint64_t bytes;
    bool used;
    uint32_t handle;
  };
  std::vector<Range> Ranges() const;

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

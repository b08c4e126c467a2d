// Gives up the block whose place would earn the fewest hits: blocks are classed by how often they were used and by where
// they stood in their chain, and for each class the policy learns when its blocks are used again. See README.md.
#pragma once

#include <array>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "master/core/eviction/policy/eviction_policy.h"
#include "master/core/eviction/policy/reuse_class.h"
#include "master/core/eviction/policy/reuse_statistics.h"

namespace mooncake::core {

// Remembers, besides the blocks that it holds, at most kRemembered times as many that it gave up: 32 bytes and a slot
// of a hash table each. A use, an insertion and an eviction cost O(classes) at most, the learning included (amortised).
class HitDensityPolicy : public EvictionPolicy {
 public:
  HitDensityPolicy();

  void StartChain(std::span<const BlockId> chain) override;
  bool Use(BlockId block) override;
  void Insert(BlockId block) override;
  BlockId Evict() override;
  size_t size() const override { return held_; }

  // Blocks of which anything is known, held ones included.
  size_t remembered() const { return nodes_by_block_.size(); }

 private:
  static constexpr size_t kRemembered = 4;
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Node {
    BlockId block = 0;
    uint64_t used = 0;
    uint32_t colder = kNone;
    uint32_t warmer = kNone;
    float share = 1;  // of the request that used it last
    uint8_t of = 0;   // its class
    bool held = false;
  };
  struct List {
    uint32_t coldest = kNone;
    uint32_t warmest = kNone;
  };

  void PushWarmest(List& list, uint32_t at);
  void Unlink(List& list, uint32_t at);
  uint32_t NodeOf(BlockId block);
  // Used now, after `uses` earlier uses.
  void Settle(uint32_t at, size_t uses);
  size_t UsesOf(BlockId remembered) const;
  uint8_t PlaceNow() const;
  uint32_t Coldest() const;
  uint32_t LeastDense() const;
  void Advance();
  void Learn();
  void Forget();

  std::vector<Node> nodes_;
  std::vector<uint32_t> free_nodes_;
  absl::flat_hash_map<BlockId, uint32_t> nodes_by_block_;
  std::array<List, ReuseClass::kClasses> queues_;  // held blocks, by last use
  List given_up_;                                  // by when
  size_t held_ = 0;

  ReuseStatistics statistics_;
  LearningPace pace_;
  uint64_t now_ = 0;  // counts uses

  // The chain in use.
  size_t chain_left_ = 0;
  uint8_t chain_place_ = 0;
  float chain_share_ = 1;  // of a block
};

}  // namespace mooncake::core

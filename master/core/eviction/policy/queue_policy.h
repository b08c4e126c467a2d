// First in, first out; and least recently used: the two orders that need no knowledge.
#pragma once

#include <list>

#include <absl/container/flat_hash_map.h>

#include "master/core/eviction/policy/eviction_policy.h"

namespace mooncake::core {

enum class QueueOrder : uint8_t { kByInsertion, kByUse };

class QueuePolicy : public EvictionPolicy {
 public:
  explicit QueuePolicy(QueueOrder order) : order_(order) {}

  void StartChain(std::span<const BlockId>) override {}
  bool Use(BlockId block) override;
  void Insert(BlockId block) override;
  BlockId Evict() override;
  size_t size() const override { return places_.size(); }

 private:
  const QueueOrder order_;
  std::list<BlockId> queue_;  // next to go first
  absl::flat_hash_map<BlockId, std::list<BlockId>::iterator> places_;
};

}  // namespace mooncake::core

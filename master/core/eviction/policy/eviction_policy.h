// The port for what to give up: which of the blocks that are held goes next. A policy keeps its own order of them
// and holds no bytes. README.md has the policies, what was measured and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace mooncake::core {

using BlockId = uint64_t;

// Not thread-safe. Deterministic: the same calls give the same answers.
class EvictionPolicy {
 public:
  virtual ~EvictionPolicy() = default;

  // Blocks that are about to be used one after the other, each continuing the one before it (the prefix of a
  // prompt comes first). May be called with a single block, or not at all; it only improves the forecast.
  virtual void StartChain(std::span<const BlockId> chain) = 0;
  // A use of the block. False: it is not held (the caller fetches it, and may Insert it).
  virtual bool Use(BlockId block) = 0;
  // Follows a Use of the same block that said false.
  virtual void Insert(BlockId block) = 0;
  // Gives up one block; size() must not be 0.
  virtual BlockId Evict() = 0;
  // Blocks held.
  virtual size_t size() const = 0;
};

// "fifo", "lru", "hit_density": what MakeEvictionPolicy knows, in this order.
std::span<const std::string_view> EvictionPolicyNames();
// Null for a name that is not among them.
std::unique_ptr<EvictionPolicy> MakeEvictionPolicy(std::string_view name);

}  // namespace mooncake::core

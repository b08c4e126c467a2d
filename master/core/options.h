// What an operator may choose about the metadata core. Filled once by the owner (flags, file, test),
// checked by Validate(), constant afterwards.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "transfer/base/status.h"
#include "transfer/base/time.h"

namespace mooncake::core {

// Names for the flag `allocation_strategy`; see placement/placement_policy.h for what each does.
enum class AllocationStrategy : uint8_t {
  kRandom,
  kFreeRatioFirst,
  kSsdFreeRatioFirst,
  kLocalFirst,
  kCxl
};

// "random", "free_ratio_first", "ssd_free_ratio_first", "local_first", "cxl"; nullopt for anything else.
std::optional<AllocationStrategy> ParseAllocationStrategy(std::string_view name);
std::string_view AllocationStrategyName(AllocationStrategy strategy);

// Names for the flag `eviction_policy`; eviction/ has what each does.
enum class EvictionPolicyKind : uint8_t { kLru, kHitDensity };

// "lru", "hit_density"; nullopt for anything else.
std::optional<EvictionPolicyKind> ParseEvictionPolicy(std::string_view name);

// How a segment's space is managed; values of the flag `memory_allocator`.
enum class MemoryAllocator : uint8_t {
  kOffset,    // any length, side by side
  kCachelib,  // chunks of slabs, by size class; deprecated
};
// "offset", "cachelib"; nullopt for anything else.
std::optional<MemoryAllocator> ParseMemoryAllocator(std::string_view name);

// Reports that are kept of a segment, at most.
inline constexpr uint32_t kMaxFailureThreshold = 64;

// Are outcomes recorded for a log, and which answers wait for it? persist/README.md has what each promises.
enum class Durability : uint8_t {
  kNone,   // nothing is recorded: a restart begins empty
  kAsync,  // a new key's End does not wait; whatever takes a version from its name does
  kSync,   // End waits too
};

// Values of the flag `durability`: "async", "sync"; nullopt for anything else.
std::optional<Durability> ParseDurability(std::string_view name);

struct CoreOptions {
  // Read leases (flag default_kv_lease_ttl).
  Duration lease_ttl = Seconds(10);
  // Soft pins: used when a kEnable request names no ttl, and the largest that a request may name.
  Duration soft_pin_ttl = Seconds(30 * 60);
  Duration soft_pin_max_ttl = Seconds(24 * 3600);
  // May eviction take soft-pinned objects when nothing else is left?
  bool allow_evict_soft_pinned = true;
  // Eviction starts when used/capacity exceeds the watermark (over all segments, or of one segment) and goes
  // on until it is `eviction_ratio` below it. A watermark of 1.0: only when a PutStart finds no room.
  double eviction_ratio = 0.05;
  double eviction_high_watermark = 0.90;
  double segment_high_watermark = 0.95;
  // Which object goes first.
  EvictionPolicyKind eviction_policy = EvictionPolicyKind::kLru;
  // Objects that one PutStart may evict inline before it retries, and gives up.
  uint32_t inline_eviction_limit = 1024;
  // A write in progress may be preempted by another kCreate after this age ...
  Duration put_start_discard_timeout = Seconds(30);
  // ... and its space is free again, whatever happened to its writer, after this one.
  Duration put_start_release_timeout = Seconds(600);
  // A client that does not ping for so long is gone, and its segments with it.
  Duration client_ttl = Seconds(10);
  // A segment of which so many clients report failures within the window takes nothing new for the length of the
  // quarantine. 0 clients: never. Two by default, since one client's trouble may be its own.
  uint32_t failure_threshold = 2;
  Duration failure_window = Seconds(30);
  Duration quarantine = Seconds(60);
  MemoryAllocator memory_allocator = MemoryAllocator::kOffset;
  AllocationStrategy allocation_strategy = AllocationStrategy::kRandom;
  // Parts of the object table; growth of one part is the longest pause that the table causes: about 0.2 us for each object
  // in it, and all parts grow at about the same time.
  uint32_t table_parts = 16384;
  // An object that fits no hole is split, but not into pieces smaller than this (the last one excepted).
  uint64_t min_slice_bytes = 1 << 20;
  Durability durability = Durability::kNone;
  // Only tenants with a quota may write, and no more than it allows; quota.h.
  bool multi_tenants = false;

  // kInvalidParams naming the first option that makes no sense, and why.
  Status Validate() const;
};

// How long a writer may write after PutStart: the release timeout less a margin for transfers already
// admitted by a node. Decision 2 of the design.
Duration WriteGrantOf(const CoreOptions& options);

}  // namespace mooncake::core

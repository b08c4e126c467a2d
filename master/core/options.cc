#include "master/core/options.h"

#include <array>
#include <string>

#include "transfer/base/seal.h"

namespace mooncake::core {
namespace {

struct Name {
  AllocationStrategy strategy;
  std::string_view name;
};
constexpr std::array<Name, 5> kNames = {
    {{AllocationStrategy::kRandom, "random"},
     {AllocationStrategy::kFreeRatioFirst, "free_ratio_first"},
     {AllocationStrategy::kSsdFreeRatioFirst, "ssd_free_ratio_first"},
     {AllocationStrategy::kLocalFirst, "local_first"},
     {AllocationStrategy::kCxl, "cxl"}}};

Status Positive(std::string_view name, Duration value) {
  if (value > Duration::zero()) return Status::Ok();
  return {ErrorCode::kInvalidParams, std::string(name) + " is " + std::to_string(ToMillis(value)) +
                                         " ms, it must be more than 0"};
}

// `smaller` must be below `larger`, or equal when `or_equal`.
Status Ordered(std::string_view smaller_name, Duration smaller, std::string_view larger_name,
               Duration larger, bool or_equal) {
  if (smaller < larger || (or_equal && smaller == larger)) return Status::Ok();
  return {ErrorCode::kInvalidParams,
          std::string(smaller_name) + " (" + std::to_string(ToMillis(smaller)) + " ms) must be " +
              (or_equal ? "at most " : "less than ") + std::string(larger_name) + " (" +
              std::to_string(ToMillis(larger)) + " ms)"};
}

Status Ratio(std::string_view name, double value) {
  if (value >= 0.0 && value <= 1.0) return Status::Ok();
  return {ErrorCode::kInvalidParams,
          std::string(name) + " is " + std::to_string(value) + ", it must be 0 to 1"};
}

}  // namespace

std::optional<AllocationStrategy> ParseAllocationStrategy(std::string_view name) {
  for (const Name& known : kNames) {
    if (known.name == name) return known.strategy;
  }
  return std::nullopt;
}

std::string_view AllocationStrategyName(AllocationStrategy strategy) {
  for (const Name& known : kNames) {
    if (known.strategy == strategy) return known.name;
  }
  return "unknown";
}

std::optional<EvictionPolicyKind> ParseEvictionPolicy(std::string_view name) {
  if (name == "lru") return EvictionPolicyKind::kLru;
  if (name == "hit_density") return EvictionPolicyKind::kHitDensity;
  return std::nullopt;
}

std::optional<Durability> ParseDurability(std::string_view name) {
  if (name == "async") return Durability::kAsync;
  if (name == "sync") return Durability::kSync;
  return std::nullopt;
}

std::optional<MemoryAllocator> ParseMemoryAllocator(std::string_view name) {
  if (name == "offset") return MemoryAllocator::kOffset;
  if (name == "cachelib") return MemoryAllocator::kCachelib;
  return std::nullopt;
}

Status CoreOptions::Validate() const {
  RETURN_IF_ERROR(Positive("default_kv_lease_ttl", lease_ttl));
  RETURN_IF_ERROR(Positive("client_ttl", client_ttl));
  RETURN_IF_ERROR(Positive("put_start_discard_timeout", put_start_discard_timeout));
  RETURN_IF_ERROR(Positive("max_kv_soft_pin_ttl", soft_pin_max_ttl));
  RETURN_IF_ERROR(Positive("segment_failure_window", failure_window));
  RETURN_IF_ERROR(Positive("segment_quarantine", quarantine));
  if (failure_threshold > kMaxFailureThreshold) {
    return {ErrorCode::kInvalidParams,
            "segment_failure_threshold is " + std::to_string(failure_threshold) +
                ", it must be at most " + std::to_string(kMaxFailureThreshold)};
  }
  RETURN_IF_ERROR(Ordered("default_kv_soft_pin_ttl", soft_pin_ttl, "max_kv_soft_pin_ttl",
                          soft_pin_max_ttl, true));
  RETURN_IF_ERROR(Ordered("put_start_discard_timeout", put_start_discard_timeout,
                          "put_start_release_timeout", put_start_release_timeout, false));
  if (soft_pin_ttl < Duration::zero()) return Positive("default_kv_soft_pin_ttl", soft_pin_ttl);
  RETURN_IF_ERROR(Ratio("eviction_ratio", eviction_ratio));
  RETURN_IF_ERROR(Ratio("eviction_high_watermark_ratio", eviction_high_watermark));
  RETURN_IF_ERROR(Ratio("segment_high_watermark_ratio", segment_high_watermark));
  if (table_parts == 0 || table_parts > (1u << 20)) {
    return {ErrorCode::kInvalidParams,
            "table_parts is " + std::to_string(table_parts) + ", it must be 1 to 1048576"};
  }
  if (durability != Durability::kNone && memory_allocator == MemoryAllocator::kCachelib) {
    return {
        ErrorCode::kInvalidParams,
        "memory_allocator=cachelib cannot be restored; use the offset allocator, or no durability"};
  }
  if (min_slice_bytes < kExtentAlignment) {
    return {ErrorCode::kInvalidParams,
            "min_slice_bytes is " + std::to_string(min_slice_bytes) + ", it must be at least 64"};
  }
  return Status::Ok();
}

Duration WriteGrantOf(const CoreOptions& options) {
  constexpr Duration kMargin = Seconds(30);
  const Duration release = options.put_start_release_timeout;
  return release < 2 * kMargin ? release / 2 : release - kMargin;
}

}  // namespace mooncake::core

#include "master/core/eviction/policy/eviction_policy.h"

#include <array>

#include "master/core/eviction/policy/hit_density_policy.h"
#include "master/core/eviction/policy/queue_policy.h"

namespace mooncake::core {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"fifo", "lru", "hit_density"};

}  // namespace

std::span<const std::string_view> EvictionPolicyNames() { return kNames; }

std::unique_ptr<EvictionPolicy> MakeEvictionPolicy(std::string_view name) {
  if (name == "fifo") return std::make_unique<QueuePolicy>(QueueOrder::kByInsertion);
  if (name == "lru") return std::make_unique<QueuePolicy>(QueueOrder::kByUse);
  if (name == "hit_density") return std::make_unique<HitDensityPolicy>();
  return nullptr;
}

}  // namespace mooncake::core

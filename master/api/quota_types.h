// The part of the vocabulary that is about tenants and what each may use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mooncake {

inline constexpr uint64_t kMaxQuotaBytes = (uint64_t{1} << 63) - 1;
inline constexpr size_t kMaxQuotas = 100000;  // tenants with a quota

// A tenant's books at one moment.
struct TenantQuota {
  std::string tenant;
  uint64_t requested =
      0;  // bytes of its policy; 0: it has none, so it may read and remove, not write
  uint64_t effective =
      0;  // what the capacity allows: its share, when the policies ask for more than there is
  uint64_t charged = 0;        // bytes of the blocks that it holds, seals and rounding included
  uint64_t objects = 0;        // readable or being written
  uint64_t evicted_bytes = 0;  // within the tenant, for its own puts; since start
  uint64_t rejected = 0;       // puts that found no room below the quota; since start
  bool admission_closed = false;

  bool over_quota() const { return charged > effective; }
  friend bool operator==(const TenantQuota&, const TenantQuota&) = default;
};

struct QuotaList {
  std::vector<TenantQuota> quotas;  // by name
  bool truncated = false;  // more follow: ask again with start_after = quotas.back().tenant
};

}  // namespace mooncake

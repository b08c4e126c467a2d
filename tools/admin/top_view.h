// What `top` shows of two looks at a master. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "master/api/quota_types.h"
#include "master/api/report_types.h"
#include "master/api/types.h"
#include "tools/admin/json_view.h"

namespace mooncake::admin {

struct TopSample {
  TimePoint at;
  ClusterStatus status;
  Activity activity;
  std::vector<SegmentInfo> segments;
  std::vector<TenantQuota> tenants;  // none without quotas
};

// What a master had done before it did anything: rates since then are averages since the start.
TopSample TopSampleAtStart(const TopSample& now);

struct TopLayout {
  std::string master;
  size_t width = 0;  // columns; 0 = unlimited
  size_t rows = 0;   // of each table, the busiest and fullest first; 0 = all
};

// Rows of each of the three tables, such that all of it fits `lines` of a terminal; at least 1, at most `most`.
size_t RowsThatFit(size_t lines, size_t most);

// `before` from another life of the master counts as its start.
std::string RenderTop(const TopSample& before, const TopSample& now, const TopLayout& layout);
Json TopJson(const TopSample& before, const TopSample& now, const TopLayout& layout);

// The least bound that at least `share` of the counts are at or below; nullopt: none of the bounds. `counts` are as many as the
// bounds and one; not all 0.
std::optional<uint64_t> LatencyBound(const std::vector<uint64_t>& bounds,
                                     const std::vector<uint64_t>& counts, double share);

}  // namespace mooncake::admin

// What quotas cost: the same work for eight tenants with a quota each, beside one tenant of a master that keeps none.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/bench/report.h"
#include "transfer/base/clock.h"
#include "transfer/base/status.h"

namespace mooncake::bench {

// Two rows, in process and over RPC; `objects` lie in each master meanwhile.
Status BenchQuotas(uint64_t objects, Duration time, const Clock& clock, std::vector<Row>& rows);

}  // namespace mooncake::bench

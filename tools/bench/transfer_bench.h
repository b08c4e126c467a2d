// Put and Get by size over each path, beside memcpy and a bare TCP stream.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/bench/report.h"
#include "transfer/base/clock.h"
#include "transfer/base/result.h"
#include "transfer/base/units.h"

namespace mooncake::bench {

struct TransferBenchOptions {
  std::vector<uint64_t> sizes = {4 * kKiB, 64 * kKiB, kMiB, 16 * kMiB, 64 * kMiB};
  uint64_t area = 256 * kMiB;  // objects of one size, together at most
  Duration time = Seconds(2);  // for each size and direction
};

Result<std::vector<Row>> BenchTransfer(const TransferBenchOptions& options, const Clock& clock);

}  // namespace mooncake::bench

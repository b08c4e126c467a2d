// Operations of the master: in process, and as RPC round trips beside the cheapest round trip there is.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/bench/report.h"
#include "transfer/base/clock.h"
#include "transfer/base/result.h"

namespace mooncake::bench {

struct MasterBenchOptions {
  uint64_t objects = 100000;               // in the table meanwhile
  std::vector<uint32_t> threads = {1, 4};  // of RPC callers
  uint64_t tail_keys = 1000000;            // of master_tails.h; 0: no tails
  Duration time = Seconds(2);
};

Status BenchMaster(const MasterBenchOptions& options, const Clock& clock, BenchReport& report);

}  // namespace mooncake::bench

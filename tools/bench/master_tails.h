// What a caller waits for short answers while the master has much else to do, beside what it waits when there is nothing else.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/bench/report.h"
#include "transfer/base/clock.h"
#include "transfer/base/result.h"

namespace mooncake::bench {

struct TailOptions {
  uint64_t keys = 1000000;  // that are removed, put, evicted; a node with twice as many expires
  Duration time =
      Seconds(2);  // of each quiet phase, and of disturbances that don't end by themselves
};

Result<std::vector<TailRow>> BenchTails(const TailOptions& options, const Clock& clock);

}  // namespace mooncake::bench

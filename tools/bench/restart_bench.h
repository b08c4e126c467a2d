// A durable master: what a snapshot costs those who ask meanwhile, and how soon everything is back after a restart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/bench/report.h"
#include "transfer/base/clock.h"
#include "transfer/base/result.h"

namespace mooncake::bench {

struct RestartBenchOptions {
  uint64_t objects = 1000000;
  std::string dir = "/tmp";  // the state folder is made below it, and removed
  Duration time = Seconds(2);
};

Result<std::vector<Fact>> BenchRestart(const RestartBenchOptions& options, const Clock& clock);

}  // namespace mooncake::bench

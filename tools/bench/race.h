// Measures several ways of doing the same work against each other: round by round, each once a round, so that a change of the
// machine's mood meets all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tools/bench/samples.h"
#include "transfer/base/clock.h"
#include "transfer/base/result.h"

namespace mooncake::bench {

struct Contender {
  std::string name;
  // One operation; `i` counts up.
  std::function<Status(uint64_t i)> run;
  // After each, not measured: makes room for the next. May be empty.
  std::function<void(uint64_t i)> after = {};
  // Operations measured together, for those that are too short for the clock. A sample is then their mean.
  uint64_t batch = 1;
  Samples samples = {};
};

struct RaceOptions {
  uint32_t warm_up = 2;  // rounds that do not count
  uint32_t min_rounds = 5;
  uint32_t max_rounds = 100000;
  Duration time = Seconds(1);  // after it, and min_rounds, it ends
};

// The first failure ends it.
Status Race(std::vector<Contender>& contenders, const RaceOptions& options, const Clock& clock);

}  // namespace mooncake::bench

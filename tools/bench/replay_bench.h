// Block hit ratios of eviction policies on a trace, beside FIFO, LRU and Belady.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "tools/bench/trace_reader.h"
#include "transfer/base/result.h"

namespace mooncake::bench {

struct ReplayOptions {
  std::string trace;
  std::vector<std::string> policies = {"hit_density"};
  std::vector<std::string> capacities = {"1%", "2%", "5%", "10%", "20%", "40%"};
};

struct ReplayRow {
  size_t capacity = 0;
  std::string policy;
  uint64_t fifo = 0;  // hits
  uint64_t lru = 0;
  uint64_t hits = 0;
  uint64_t belady = 0;
};

struct ReplayReport {
  std::string trace;
  uint64_t requests = 0;
  uint64_t uses = 0;
  uint64_t blocks = 0;
  std::vector<ReplayRow> rows;
};

// "5%" of `blocks`, rounded down but at least 1, or "9139". kInvalidParams for what is neither, or 0.
Result<size_t> ParseCapacity(std::string_view text, uint64_t blocks);

// kInvalidParams, naming the option, before the trace is read.
Status ValidateReplay(const ReplayOptions& options);

Result<ReplayReport> BenchReplay(const ReplayOptions& options);
Result<ReplayReport> ReplayTrace(const Trace& trace, const ReplayOptions& options);

void PrintReplay(const ReplayReport& report, int width, std::ostream& out);
// {"trace", "requests", "uses", "blocks", "rows": [...]}; names are a contract with scripts.
void PrintReplayJson(const ReplayReport& report, std::ostream& out);

}  // namespace mooncake::bench

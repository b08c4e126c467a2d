// What outlives masters: the log as far as it is durable, snapshots, and the newest term that took it over. One for all masters, as a
// replicated log is.
#pragma once

#include <cstdint>
#include <vector>

#include "master/core/persist/record.h"

namespace mooncake::sim {

struct DurableLog {
  struct Snapshot {
    uint64_t from = 0;
    std::vector<core::Record> records;
  };

  std::vector<core::LogRecord> records;  // consecutive
  std::vector<Snapshot> snapshots;       // oldest first
  uint64_t term = 0;                     // writes of older terms are refused

  uint64_t last() const { return records.empty() ? 0 : records.back().sequence; }
  void Lose() {
    records.clear();
    snapshots.clear();
  }
};

}  // namespace mooncake::sim

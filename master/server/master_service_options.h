// What a master service is told, and what it tells of its durability.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "master/core/metadata_core.h"
#include "master/ha/log_writer.h"
#include "master/ha/snapshotter.h"
#include "transfer/base/config_value.h"

namespace mooncake {

struct MasterServiceOptions {
  core::CoreOptions core;
  std::optional<Term>
      term;  // default: TermNow(clock); higher when the state store has seen as high a one
  std::optional<uint64_t> seed;  // of placement; default: from the operating system
  bool background = true;        // false: the owner calls Tick (tests)
  uint32_t keys_per_lock = 64;   // entries of a batch done under one hold of the lock
  uint32_t puts_per_lock = 8;    // of BatchPutStart: each may evict
  uint32_t keys_per_step = 256;  // visited by one step of a long operation
  LogWriterOptions log;          // with a state store
  SnapshotterOptions snapshots;
  std::vector<ConfigValue> config;  // as the program was told; only for GetConfig
};

// What a state store gave back at the start.
struct RestoreSummary {
  std::string snapshot;  // "": none
  int64_t snapshot_begun_ms = 0;
  uint64_t snapshot_records = 0;
  uint64_t log_records = 0;
  uint64_t unusable_snapshots = 0;
  uint64_t holes = 0;  // in the log; what was older than one is not kept
  core::RestoreReport state;
  Duration took{};
};

// How durable the state is now.
struct DurabilityNumbers {
  LogNumbers log;
  SnapshotNumbers snapshots;
  uint64_t held_bytes = 0;  // space that waits for the log
};

}  // namespace mooncake

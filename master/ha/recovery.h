// Puts together what a state store still knows: the newest snapshot that can be read, and the log after it.
#pragma once

#include <cstdint>
#include <string>

#include "master/core/persist/restorer.h"
#include "master/ha/state_store.h"

namespace mooncake {

struct Recovered {
  core::Restorer restorer;
  Term last_term;                 // 0: there was none
  uint64_t last_sequence = 0;     // new records follow it
  std::string snapshot;           // its id; "" when there was none
  int64_t snapshot_begun_ms = 0;  // wall clock, since 1970
  uint64_t snapshot_records = 0;
  uint64_t log_records = 0;
  uint64_t unusable_snapshots = 0;
  uint64_t holes = 0;  // in the log
};

// Fails only when the store cannot be read at all. Damage costs what it must: a record of a snapshot itself, a hole in the log all
// versions from before it, since what is missing may have removed or replaced any of them.
Result<Recovered> Recover(StateStore& store);

}  // namespace mooncake

// Makes the state of a new term out of what a restorer kept.
#pragma once

#include <cstdint>

#include "master/core/persist/restorer.h"
#include "transfer/base/time.h"

namespace mooncake::core {

struct State;

struct RestoreArgs {
  uint64_t sequence = 0;  // of the last record of the log; new ones follow it
  // The longest lease that the predecessor granted.
  Duration lease{};
  // How long a predecessor may go on answering: until then nothing is acknowledged. Zero when there is none for certain.
  Duration quiet{};
};

struct RestoreReport {
  uint64_t segments = 0;
  uint64_t versions = 0;
  uint64_t lost_versions = 0;  // every replica was in a segment that is gone
  uint64_t bad_records = 0;    // passed over
};

// `state` is new, and its term higher than that of every record. Segments are known, but not attached: nothing can be read or written
// in them until their nodes mount them with a newer epoch, and they go away with their owners after the client ttl.
RestoreReport Restore(State& state, TimePoint now, const Restorer& restorer,
                      const RestoreArgs& args);

}  // namespace mooncake::core

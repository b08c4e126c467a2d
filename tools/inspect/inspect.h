// What a master keeps on its disk, as JSON lines.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "master/ha/state_reader.h"

namespace mooncake::inspect {

struct InspectOptions {
  std::string folder;
  bool snapshots = false;  // a line for each, after reading all of it
  std::string snapshot;    // the records of this one; "" = none
  bool log = false;
  uint64_t after = 0;           // of the log: records behind this sequence
  uint64_t limit = UINT64_MAX;  // records that are printed, of the snapshot and of the log each
};

// How much was found damaged: records that could not be read, holes of the log, snapshots that cannot be used.
struct Damage {
  uint64_t records = 0;
  uint64_t holes = 0;
  uint64_t snapshots = 0;
  bool any() const { return records + holes + snapshots > 0; }
};

// Prints what the options ask for. What is damaged is printed as such and no error; errors are those of StateReader. When a master
// runs and the log is asked for, nothing is printed.
Result<Damage> Inspect(StateReader& state, const InspectOptions& options, std::ostream& out);

}  // namespace mooncake::inspect

// The state store below a folder: `log/` a RocksDB of the log and the term, `snapshots/` one SST file for each snapshot, `lock`.
// FORMAT.md has the keys and values.
#pragma once

#include <memory>
#include <string>

#include "master/ha/state_store.h"

namespace mooncake {

// Creates the folder if it is missing, and locks it: kUnavailableInCurrentStatus while another process has it, kPersistentFail when it
// cannot be used. What cannot be opened is repaired, or set aside as NAME.bad-N; with no space left what is there can be
// read, and writes fail until there is some.
Result<std::unique_ptr<StateStore>> OpenRocksDbStateStore(const std::string& folder);

}  // namespace mooncake

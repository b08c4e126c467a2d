// Reads the folder of rocksdb_state_store and changes nothing in it: for tools. Nothing is repaired, tidied or created.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "master/ha/state_store.h"

namespace mooncake {

// Thread-compatible. Snapshots can be read whether or not a master uses the folder; one may vanish while it is read.
class StateReader {
 public:
  virtual ~StateReader() = default;

  // As StateStore's.
  virtual Result<std::vector<SnapshotInfo>> ListSnapshots() = 0;
  // kInvalidParams: no id of a snapshot.
  virtual Result<SnapshotFooter> ReadSnapshot(const std::string& id, const RecordSink& sink) = 0;

  // Before the two below. RocksDB reads files of a database that nobody else has open, and a running master deletes some at any
  // time: kUnavailableInCurrentStatus while one uses the folder. One that starts later is not held up, and may end the reading.
  virtual Status OpenLog() = 0;
  // 0: none was kept.
  virtual Result<Term> LoadTerm() = 0;
  // The last call comes with an error when the log as a whole was damaged and has a hole at its end.
  virtual Status ReadLog(uint64_t after, const LogSink& sink) = 0;
};

// kPersistentFail when there is no such folder, or it is none of a master's.
Result<std::unique_ptr<StateReader>> OpenStateReader(const std::string& folder);

}  // namespace mooncake

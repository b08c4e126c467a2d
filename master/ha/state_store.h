// Where a master keeps what it must not forget: the log of outcomes, snapshots, and its term. A port; RocksDB below a folder is the
// adapter, tests have one in memory. README.md says who writes what when.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "master/api/types.h"
#include "master/core/persist/record.h"
#include "transfer/base/result.h"

namespace mooncake {

// What a snapshot says about itself. The records of the log after `from` belong to it: it was made in steps while the state changed.
struct SnapshotFooter {
  uint64_t records = 0;
  uint64_t from = 0;
  uint64_t until = 0;  // the last record of the log when the last step was done
  Term term;
  int64_t wall_ms = 0;  // when it was begun
  friend bool operator==(const SnapshotFooter&, const SnapshotFooter&) = default;
};

struct SnapshotInfo {
  std::string id;
  SnapshotFooter footer;
  uint64_t bytes = 0;
  Status health;  // why it cannot be used
};

// Records in order; those that could not be read come as an error each, and cost nothing but themselves. False: enough, the
// rest is not read.
using RecordSink = std::function<bool(Result<core::Record>)>;
using LogSink = std::function<bool(uint64_t sequence, Result<core::Record>)>;

// One writer at a time. Gone without Finish it leaves nothing that a restore would look at.
class SnapshotWriter {
 public:
  virtual ~SnapshotWriter() = default;
  virtual Status Add(const core::Record& record) = 0;
  // Written, synchronised, read back and compared; only then can it be found.
  virtual Result<SnapshotInfo> Finish(SnapshotFooter footer) = 0;
};

// Reading, appending, and snapshots may each be done by a thread of their own. Calls may take as long as the storage does.
// All errors are kPersistentFail.
class StateStore {
 public:
  virtual ~StateStore() = default;

  // The last term that was kept; 0: none.
  virtual Result<Term> LoadTerm() = 0;
  virtual Status SaveTerm(Term term) = 0;

  // Durable when it returns OK. After an error the same records come again, and saying one twice changes nothing.
  virtual Status Append(std::span<const core::LogRecord> records) = 0;
  // The records after `after`, in order.
  virtual Status ReadLog(uint64_t after, const LogSink& sink) = 0;
  // Records up to `upto` are not needed any more.
  virtual Status TrimLog(uint64_t upto) = 0;

  // `wall_ms` since 1970, not negative, gives it its name.
  virtual Result<std::unique_ptr<SnapshotWriter>> BeginSnapshot(int64_t wall_ms) = 0;
  // Newest first, also those that cannot be used.
  virtual Result<std::vector<SnapshotInfo>> ListSnapshots() = 0;
  virtual Result<SnapshotFooter> ReadSnapshot(const std::string& id, const RecordSink& sink) = 0;
  virtual Status DeleteSnapshot(const std::string& id) = 0;
};

}  // namespace mooncake

// Snapshots as SST files in a folder; for rocksdb_state_store. A file is written under another name, synchronised, read back, and
// only then given its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "master/ha/state_store.h"

namespace mooncake {

class SstSnapshots {
 public:
  explicit SstSnapshots(std::string folder) : folder_(std::move(folder)) {}

  // The first call: makes the folder, and removes what unfinished writers left.
  Status Open();
  Result<std::unique_ptr<SnapshotWriter>> Begin(int64_t wall_ms);
  Result<std::vector<SnapshotInfo>> List();
  Result<SnapshotFooter> Read(const std::string& id, const RecordSink& sink);
  Status Delete(const std::string& id);

 private:
  std::string PathOf(const std::string& id) const { return folder_ + "/" + id + ".sst"; }

  const std::string folder_;
};

}  // namespace mooncake

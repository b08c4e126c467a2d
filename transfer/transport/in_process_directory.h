// Which segments are served in this very process: given to both the node and the client of an embedded store.
#pragma once

#include <map>
#include <memory>

#include "transfer/base/mutex.h"
#include "transfer/base/result.h"
#include "transfer/transport/served_segments.h"
#include "transfer/transport/transport.h"

namespace mooncake {

// Thread-safe. A node is known by its whole PeerAddress, the one that other processes use too.
class InProcessDirectory {
 public:
  // Outlives the entry in the hands of connections; `segments` is null once withdrawn. Hold the lock (shared)
  // while you use it.
  struct Entry {
    SharedMutex mutex;
    ServedSegments* segments MC_GUARDED_BY(mutex) = nullptr;
  };

  // kSegmentAlreadyExists: this address is published. `segments` must live until Withdraw().
  Status Publish(const PeerAddress& address, ServedSegments& segments);
  // No call into the segments is running or starts after it returned. Unknown address: nothing.
  void Withdraw(const PeerAddress& address);
  // Null when that node is not in this process.
  std::shared_ptr<Entry> Find(const PeerAddress& address) const;

 private:
  mutable SharedMutex mutex_;
  std::map<PeerAddress, std::shared_ptr<Entry>> entries_ MC_GUARDED_BY(mutex_);
};

}  // namespace mooncake

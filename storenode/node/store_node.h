// A store node: lends a segment of shared memory, serves it, and keeps it mounted at the master.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "master/api/master_api.h"
#include "storenode/core/node_core.h"
#include "storenode/node/data_server.h"
#include "transfer/base/clock.h"
#include "transfer/base/result.h"
#include "transfer/base/units.h"
#include "transfer/transport/master_clock.h"
#include "transfer/transport/served_segments.h"

namespace mooncake {

struct StoreNodeOptions {
  std::string name;                  // unique in the cluster; "" = host name and data port
  uint64_t segment_size = 1 * kGiB;  // kMinSegmentBytes to kMaxSegmentBytes
  bool huge_pages = false;           // fail rather than do without
  bool prefault = false;             // touch all pages before mounting
  std::string protocol = "tcp";
  std::string listen = "0.0.0.0:0";  // HOST:PORT; port 0 = any free one
  std::string
      advertised_host;  // "" = the host of `listen`, or of the interface towards the master if that is a wildcard
  std::string master_address;          // HOST:PORT, for finding that interface and for messages
  bool local_socket = true;            // also serve clients of this host, with memory they can map
  std::string host_id;                 // of this machine
  Duration master_wait = Seconds(30);  // how long Create tries to reach the master and mount
  NodeCoreOptions core;

  // kInvalidParams with the option, its value and what is allowed.
  Status Validate() const;
};

struct StoreNodeParts {
  std::shared_ptr<MasterApi> master;
  DataServerFactory serve;
  SegmentProbe probe;  // null: the name is taken without asking whether its holder lives
  std::function<bool()> cancelled;  // asked now and then in Create; null: never
};

// Thread-safe.
class StoreNode {
 public:
  // Mounted and serving when it returns. Blocks at most for prefaulting and options.master_wait. kInvalidParams,
  // kNoAvailableHandle (memory), kTransferFail (address), kSegmentAlreadyExists (name), kRpcFail or kRpcTimeout
  // (master), kUnavailableInCurrentStatus (cancelled): each message names cause and cure. `clock` must outlive the node.
  static Result<std::unique_ptr<StoreNode>> Create(const StoreNodeOptions& options,
                                                   StoreNodeParts parts, const Clock& clock);
  virtual ~StoreNode() = default;  // as Stop()

  // As mounted last.
  virtual SegmentDescriptor segment() const = 0;
  // False while the master is away or does not know the segment.
  virtual bool mounted() const = 0;
  // The memory, for clients in this process.
  virtual ServedSegments& served() = 0;

  // Asks the master to put nothing new here and to unmount when `grace` is over. Serves on; the caller stops it then.
  virtual Status BeginLeaving(Duration grace) = 0;
  // Unmounts, tells nobody if the master does not answer within two seconds, cuts all transfers and gives the memory back.
  // Idempotent.
  virtual void Stop() = 0;
};

}  // namespace mooncake

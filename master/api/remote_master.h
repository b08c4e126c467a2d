// MasterApi over Thrift: the stub that clients, nodes and tools use to reach a master elsewhere.
#pragma once

#include <cstddef>
#include <memory>

#include "master/api/master_api.h"
#include "transfer/base/clock.h"
#include "transfer/base/units.h"

namespace mooncake {

struct RemoteMasterOptions {
  HostPort address;                  // name, IPv4 or IPv6
  size_t max_idle_connections = 16;  // kept open between calls
  // A master that was reached once and now refuses connections is taken to be starting again: calls try for so long, no longer than
  // their deadline.
  Duration restart_patience = Seconds(5);
};

// Thread-safe; opens connections when they are needed, so it is never an error that the master is down at this point. `clock` must
// outlive it. Beyond the codes of MasterApi: kRpcFail and kRpcTimeout name the address and the call; kInvalidVersion
// means that the answer came from a master of an older term than one that was heard before, and is not to be believed.
//
// Batches longer than kMaxBatch are refused (kInvalidParams for each entry). Batches with very long keys travel as several requests, one
// after the other.
std::unique_ptr<MasterApi> MakeRemoteMaster(RemoteMasterOptions options, const Clock& clock);

}  // namespace mooncake

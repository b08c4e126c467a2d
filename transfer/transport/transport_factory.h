// Puts the transports of a client together, best first. The only place that knows all adapters.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "transfer/base/clock.h"
#include "transfer/base/result.h"
#include "transfer/transport/in_process_directory.h"
#include "transfer/transport/transport.h"

namespace mooncake {

struct TransportFactoryOptions {
  std::string host_id;        // of this machine; "" = share memory with nobody
  bool shared_memory = true;  // read the memory of this host's nodes in place
  // Nodes of this process; null: none.
  std::shared_ptr<const InProcessDirectory> in_process;
  size_t max_streams_per_peer = 16;
  // Reach the nodes that have RDMA over it. Nothing of verbs is called otherwise.
  bool rdma = false;
};

// memcpy (if there is a directory), shm (if allowed), rdma (if wanted), tcp. `clock` must outlive them and their connections.
// kNotSupported: rdma is wanted, and this build or this machine has none; the message says why.
Result<std::vector<std::unique_ptr<Transport>>> MakeTransports(
    const TransportFactoryOptions& options, const Clock& clock);

}  // namespace mooncake

// The data server of nodes with RDMA: one-sided transfers, and beside them all that the TCP server does, at a port of the same number.
#pragma once

#include "storenode/node/data_server.h"

namespace mooncake {

// The server's creation fails with kNotSupported when this build or this machine has no RDMA, or may not lock the segment's memory.
DataServerFactory RdmaDataServerFactory();

}  // namespace mooncake

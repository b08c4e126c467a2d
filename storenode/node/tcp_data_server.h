// The data server that nodes have today: TCP, and a Unix socket for this host. Beside storenode_main the only file of the node
// that knows an adapter.
#pragma once

#include "storenode/node/data_server.h"

namespace mooncake {

DataServerFactory TcpDataServerFactory();

}  // namespace mooncake

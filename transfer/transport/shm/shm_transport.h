// Transport to a node of this host: reads and views from its memory mapped here, all else over its Unix socket.
#pragma once

#include <memory>
#include <string>

#include "transfer/base/clock.h"
#include "transfer/transport/tcp/stream_pool.h"
#include "transfer/transport/transport.h"

namespace mooncake {

// Reaches peers whose host id is `host_id` and that have a local socket. `clock` must outlive the transport and its
// connections. Name "shm".
std::unique_ptr<Transport> MakeShmTransport(const std::string& host_id,
                                            const tcp::StreamPoolOptions& options,
                                            const Clock& clock);

}  // namespace mooncake

// Transport over stream sockets: TCP to any host, or a Unix socket to a node of this host.
#pragma once

#include <memory>
#include <string>

#include "transfer/base/clock.h"
#include "transfer/transport/tcp/stream_pool.h"
#include "transfer/transport/transport.h"

namespace mooncake {

// Reaches peers of protocol "tcp" and "rdma". `clock` must outlive the transport and its connections.
std::unique_ptr<Transport> MakeTcpTransport(const tcp::StreamPoolOptions& options,
                                            const Clock& clock);

// Reaches peers whose host id is `host_id` and that have a local socket. Name "unix".
std::unique_ptr<Transport> MakeUnixTransport(const std::string& host_id,
                                             const tcp::StreamPoolOptions& options,
                                             const Clock& clock);

}  // namespace mooncake

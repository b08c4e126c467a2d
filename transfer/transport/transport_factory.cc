#include "transfer/transport/transport_factory.h"

#include "transfer/transport/memcpy/memcpy_transport.h"
#include "transfer/transport/shm/shm_transport.h"
#include "transfer/transport/tcp/tcp_transport.h"

namespace mooncake {

std::vector<std::unique_ptr<Transport>> MakeTransports(const TransportFactoryOptions& options,
                                                       const Clock& clock) {
  tcp::StreamPoolOptions streams;
  streams.max_streams = options.max_streams_per_peer;
  std::vector<std::unique_ptr<Transport>> transports;
  if (options.in_process != nullptr)
    transports.push_back(MakeMemcpyTransport(options.in_process, clock));
  if (options.shared_memory && !options.host_id.empty()) {
    transports.push_back(MakeShmTransport(options.host_id, streams, clock));
  }
  transports.push_back(MakeTcpTransport(streams, clock));
  return transports;
}

}  // namespace mooncake

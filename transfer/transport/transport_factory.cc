#include "transfer/transport/transport_factory.h"

#include <utility>

#include "transfer/transport/memcpy/memcpy_transport.h"
#if MC_WITH_RDMA
#include "transfer/transport/rdma/rdma_transport.h"
#endif
#include "transfer/transport/shm/shm_transport.h"
#include "transfer/transport/tcp/tcp_transport.h"

namespace mooncake {
namespace {

Result<std::unique_ptr<Transport>> MakeRdma(const Clock& clock) {
#if MC_WITH_RDMA
  ASSIGN_OR_RETURN(std::unique_ptr<Transport> transport, RdmaTransport::Create({}, clock));
  return transport;
#else
  (void)clock;
  return Status(ErrorCode::kNotSupported,
                "this build has no RDMA: install libibverbs-dev and librdmacm-dev and build again");
#endif
}

}  // namespace

Result<std::vector<std::unique_ptr<Transport>>> MakeTransports(
    const TransportFactoryOptions& options, const Clock& clock) {
  tcp::StreamPoolOptions streams;
  streams.max_streams = options.max_streams_per_peer;
  std::vector<std::unique_ptr<Transport>> transports;
  if (options.in_process != nullptr)
    transports.push_back(MakeMemcpyTransport(options.in_process, clock));
  if (options.shared_memory && !options.host_id.empty()) {
    transports.push_back(MakeShmTransport(options.host_id, streams, clock));
  }
  if (options.rdma) {
    ASSIGN_OR_RETURN(std::unique_ptr<Transport> rdma, MakeRdma(clock));
    transports.push_back(std::move(rdma));
  }
  transports.push_back(MakeTcpTransport(streams, clock));
  return transports;
}

}  // namespace mooncake

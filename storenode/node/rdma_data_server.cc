#include "storenode/node/rdma_data_server.h"

#include <utility>

#include "storenode/node/tcp_data_server.h"
#include "transfer/base/units.h"
#if MC_WITH_RDMA
#include "transfer/transport/rdma/rdma_server.h"
#endif

namespace mooncake {
#if MC_WITH_RDMA
namespace {

class RdmaDataServer final : public DataServer {
 public:
  RdmaDataServer(std::unique_ptr<DataServer> tcp, std::unique_ptr<RdmaServer> rdma)
      : tcp_(std::move(tcp)), rdma_(std::move(rdma)) {}
  const std::string& endpoint() const override { return tcp_->endpoint(); }
  void Stop() override {
    rdma_->Stop();
    tcp_->Stop();
  }

 private:
  const std::unique_ptr<DataServer> tcp_;
  const std::unique_ptr<RdmaServer> rdma_;
};

Result<std::unique_ptr<DataServer>> Serve(const DataServerOptions& options,
                                          ServedSegments& segments, const Clock& clock) {
  ASSIGN_OR_RETURN(std::unique_ptr<DataServer> tcp,
                   TcpDataServerFactory()(options, segments, clock));
  // TCP chose the port; the ports of RDMA are others.
  ASSIGN_OR_RETURN(HostPort where, ParseHostPort(options.listen, /*allow_zero_port=*/true));
  ASSIGN_OR_RETURN(const HostPort bound, ParseHostPort(tcp->endpoint()));
  where.port = bound.port;
  RdmaServerOptions rdma_options;
  rdma_options.listen = where.ToString();
  rdma_options.advertised_host = options.advertised_host;
  rdma_options.host_id = options.host_id;
  rdma_options.prepare = {{options.segment, options.epoch}};
  ASSIGN_OR_RETURN(std::unique_ptr<RdmaServer> rdma,
                   RdmaServer::Create(rdma_options, segments, clock));
  return std::unique_ptr<DataServer>(new RdmaDataServer(std::move(tcp), std::move(rdma)));
}

}  // namespace

DataServerFactory RdmaDataServerFactory() { return Serve; }
#else

DataServerFactory RdmaDataServerFactory() {
  return [](const DataServerOptions&, ServedSegments&,
            const Clock&) -> Result<std::unique_ptr<DataServer>> {
    return Status(
        ErrorCode::kNotSupported,
        "this build has no RDMA: install libibverbs-dev and librdmacm-dev and build again");
  };
}
#endif

}  // namespace mooncake

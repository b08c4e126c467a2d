#include "storenode/node/tcp_data_server.h"

#include <utility>

#include "transfer/transport/tcp/tcp_server.h"

namespace mooncake {
namespace {

class TcpDataServer final : public DataServer {
 public:
  explicit TcpDataServer(std::unique_ptr<TcpServer> server) : server_(std::move(server)) {}
  const std::string& endpoint() const override { return server_->endpoint(); }
  void Stop() override { server_->Stop(); }

 private:
  const std::unique_ptr<TcpServer> server_;
};

}  // namespace

DataServerFactory TcpDataServerFactory() {
  return [](const DataServerOptions& options, ServedSegments& segments,
            const Clock& clock) -> Result<std::unique_ptr<DataServer>> {
    TcpServerOptions tcp;
    tcp.listen = options.listen;
    tcp.advertised_host = options.advertised_host;
    tcp.local_socket = options.local_socket;
    tcp.host_id = options.host_id;
    ASSIGN_OR_RETURN(std::unique_ptr<TcpServer> server, TcpServer::Create(tcp, segments, clock));
    return std::unique_ptr<DataServer>(new TcpDataServer(std::move(server)));
  };
}

}  // namespace mooncake

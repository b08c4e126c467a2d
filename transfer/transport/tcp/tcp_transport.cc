#include "transfer/transport/tcp/tcp_transport.h"

#include <utility>

#include "transfer/base/units.h"
#include "transfer/transport/tcp/tcp_connection.h"

namespace mooncake {
namespace {

class StreamTransport : public Transport {
 public:
  StreamTransport(const tcp::StreamPoolOptions& options, const Clock& clock)
      : options_(options), clock_(clock) {}

  Status RegisterMemory(MutableByteSpan) override { return Status::Ok(); }
  Status UnregisterMemory(const std::byte*) override { return Status::Ok(); }

  Result<std::shared_ptr<Connection>> Connect(const PeerAddress& peer,
                                              TimePoint deadline) override {
    const tcp::DialTarget target{
        .local = capabilities().same_host_only,
        .address = capabilities().same_host_only ? peer.local_socket : peer.endpoint,
        .host_id = peer.host_id,
        .endpoint = peer.endpoint};
    auto connection = std::make_shared<tcp::TcpConnection>(target, options_, clock_);
    RETURN_IF_ERROR(connection->Open(deadline));
    return std::shared_ptr<Connection>(std::move(connection));
  }

 private:
  const tcp::StreamPoolOptions options_;
  const Clock& clock_;
};

class TcpTransport final : public StreamTransport {
 public:
  using StreamTransport::StreamTransport;
  std::string_view name() const override { return "tcp"; }
  TransportCapabilities capabilities() const override { return {}; }
  bool CanReach(const PeerAddress& peer) const override {
    // A node with RDMA listens on TCP too, at the same number of a port.
    return (peer.protocol == "tcp" || peer.protocol == "rdma") && ParseHostPort(peer.endpoint).ok();
  }
};

class UnixTransport final : public StreamTransport {
 public:
  UnixTransport(std::string host_id, const tcp::StreamPoolOptions& options, const Clock& clock)
      : StreamTransport(options, clock), host_id_(std::move(host_id)) {}
  std::string_view name() const override { return "unix"; }
  TransportCapabilities capabilities() const override { return {.same_host_only = true}; }
  bool CanReach(const PeerAddress& peer) const override {
    return !peer.local_socket.empty() && !host_id_.empty() && peer.host_id == host_id_;
  }

 private:
  const std::string host_id_;
};

}  // namespace

std::unique_ptr<Transport> MakeTcpTransport(const tcp::StreamPoolOptions& options,
                                            const Clock& clock) {
  return std::make_unique<TcpTransport>(options, clock);
}

std::unique_ptr<Transport> MakeUnixTransport(const std::string& host_id,
                                             const tcp::StreamPoolOptions& options,
                                             const Clock& clock) {
  return std::make_unique<UnixTransport>(host_id, options, clock);
}

}  // namespace mooncake

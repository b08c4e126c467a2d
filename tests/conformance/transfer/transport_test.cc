// The transport suite over every adapter and the fake.
#include <unistd.h>

#include <string>

#include "tests/conformance/transport_suite.h"
#include "tests/support/fake_transport.h"
#include "transfer/transport/memcpy/memcpy_transport.h"
#include "transfer/transport/shm/shm_transport.h"
#include "transfer/transport/tcp/tcp_server.h"
#include "transfer/transport/tcp/tcp_transport.h"

namespace mooncake::testing {
namespace {

constexpr char kHost[] = "host-a";

class MemcpyHarness final : public TransportHarness {
 public:
  MemcpyHarness() {
    MC_CHECK_OK(directory_->Publish(peer(), node_.segments()));
    transport_ = MakeMemcpyTransport(directory_, SystemClock());
  }
  ~MemcpyHarness() override { directory_->Withdraw(peer()); }
  ServedNode& node() override { return node_; }
  Transport& transport() override { return *transport_; }
  PeerAddress peer() const override {
    return {.host_id = kHost, .protocol = "tcp", .endpoint = "10.0.0.1:7"};
  }

 private:
  ServedNode node_{kSegmentBytes};
  std::shared_ptr<InProcessDirectory> directory_ = std::make_shared<InProcessDirectory>();
  std::unique_ptr<Transport> transport_;
};

class FakeHarness final : public TransportHarness {
 public:
  FakeHarness() { transport_.AddNode(peer(), node_.segments()); }
  ~FakeHarness() override { transport_.RemoveNode(peer()); }
  ServedNode& node() override { return node_; }
  Transport& transport() override { return transport_; }
  PeerAddress peer() const override {
    return {.host_id = kHost, .protocol = "fake", .endpoint = "a:1"};
  }

 private:
  ServedNode node_{kSegmentBytes};
  FakeTransport transport_{SystemClock()};
};

enum class Kind { kTcp4, kTcp6, kName, kUnix, kShm };

class ServerHarness final : public TransportHarness {
 public:
  explicit ServerHarness(Kind kind) {
    TcpServerOptions options;
    options.host_id = kHost;
    if (kind == Kind::kTcp6) options.listen = "[::1]:0";
    if (kind == Kind::kName) options.listen = "localhost:0";
    static std::atomic<int> counter{0};
    options.local_socket =
        "@mc-suite-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
    local_socket_ = options.local_socket;
    auto server = TcpServer::Create(options, node_.segments(), SystemClock());
    MC_CHECK(server.ok()) << server.message();
    server_ = std::move(server).value();
    if (kind == Kind::kShm) {
      transport_ = MakeShmTransport(kHost, {}, SystemClock());
    } else if (kind == Kind::kUnix) {
      transport_ = MakeUnixTransport(kHost, {}, SystemClock());
    } else {
      transport_ = MakeTcpTransport({}, SystemClock());
    }
  }
  ServedNode& node() override { return node_; }
  Transport& transport() override { return *transport_; }
  PeerAddress peer() const override {
    return {.host_id = kHost,
            .protocol = "tcp",
            .endpoint = server_->endpoint(),
            .local_socket = local_socket_};
  }

 private:
  ServedNode node_{kSegmentBytes};
  std::string local_socket_;
  std::unique_ptr<TcpServer> server_;
  std::unique_ptr<Transport> transport_;
};

template <Kind kind>
std::unique_ptr<TransportHarness> MakeServerHarness() {
  return std::make_unique<ServerHarness>(kind);
}

MC_TRANSPORT_SUITE(Memcpy, [] { return std::make_unique<MemcpyHarness>(); });
MC_TRANSPORT_SUITE(Fake, [] { return std::make_unique<FakeHarness>(); });
MC_TRANSPORT_SUITE(Tcp4, MakeServerHarness<Kind::kTcp4>);
MC_TRANSPORT_SUITE(Tcp6, MakeServerHarness<Kind::kTcp6>);
MC_TRANSPORT_SUITE(TcpByName, MakeServerHarness<Kind::kName>);
MC_TRANSPORT_SUITE(Unix, MakeServerHarness<Kind::kUnix>);
MC_TRANSPORT_SUITE(Shm, MakeServerHarness<Kind::kShm>);

}  // namespace
}  // namespace mooncake::testing

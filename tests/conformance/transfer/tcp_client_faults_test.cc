// What a client of the data protocol makes of peers that hang, break, lie or go away. Rows of the field reports are named.
#include <poll.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/relay.h"
#include "tests/support/served_node.h"
#include "transfer/base/units.h"
#include "transfer/transport/tcp/tcp_connection.h"
#include "transfer/transport/tcp/tcp_server.h"
#include "transfer/transport/tcp/tcp_transport.h"

namespace mooncake::testing {
namespace {

using tcp::DialTarget;
using tcp::StreamPoolOptions;
using tcp::TcpConnection;

class TcpClientFaults : public ::testing::Test {
 protected:
  TcpClientFaults() {
    auto server = TcpServer::Create({.host_id = "h"}, node_.segments(), SystemClock());
    MC_CHECK(server.ok()) << server.message();
    server_ = std::move(server).value();
    relay_ = std::make_unique<Relay>(server_->endpoint());
  }

  static TimePoint In(Duration d) { return SystemClock().Now() + d; }
  DialTarget ThroughRelay() const {
    return {.local = false,
            .address = relay_->address(),
            .host_id = "h",
            .endpoint = server_->endpoint()};
  }
  Status Move(TcpConnection& connection, Slice slice, TimePoint deadline) {
    connection.Execute({&slice, 1}, deadline);
    return slice.status;
  }

  ServedNode node_{24 * kMiB};
  std::unique_ptr<TcpServer> server_;
  std::unique_ptr<Relay> relay_;
};

// F086: one connection per transfer used up the ports of the host.
TEST_F(TcpClientFaults, ManyTransfersShareFewStreams) {
  StreamPoolOptions options;
  options.max_streams = 4;
  TcpConnection connection(ThroughRelay(), options, SystemClock());
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&] {
      std::vector<std::byte> got(10'000);
      for (int i = 0; i < 100; ++i)
        failed += Move(connection, ServedNode::Read(0, got), In(Seconds(30))).ok() ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed.load(), 0);
  EXPECT_LE(connection.dials(), 4u);
  EXPECT_LE(relay_->accepted(), 4);
}

// F087: the first transfer after idle time failed.
TEST_F(TcpClientFaults, AStreamThatWasClosedWhileIdleIsRedialledUnseen) {
  TcpConnection connection(ThroughRelay(), {}, SystemClock());
  std::vector<std::byte> bytes = Pattern(1000, 1);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(Move(connection, node_.Write(0, bytes, PutId{1}), In(Seconds(20))).ok());
    relay_->CloseStreams();
    std::vector<std::byte> got(1000);
    ASSERT_TRUE(Move(connection, ServedNode::Read(0, got), In(Seconds(20))).ok());
    EXPECT_EQ(got, bytes);
    relay_->CloseStreams();
  }
  EXPECT_TRUE(connection.healthy());
}

// F087 again: the firewall forgot the stream; nothing tells the client.
TEST_F(TcpClientFaults, AStreamThatDiedSilentlyWhileIdleIsFoundOutByItsProbe) {
  StreamPoolOptions options;
  options.probe_after = Duration::zero();
  options.probe_timeout = Millis(100);
  TcpConnection connection(ThroughRelay(), options, SystemClock());
  std::vector<std::byte> got(1000);
  ASSERT_TRUE(Move(connection, ServedNode::Read(0, got), In(Seconds(20))).ok());
  relay_->FreezeStreams();
  EXPECT_TRUE(Move(connection, ServedNode::Read(0, got), In(Seconds(20))).ok());
  EXPECT_EQ(relay_->accepted(), 2);
}

TEST_F(TcpClientFaults, AFrozenPeerCostsTheDeadlineAndItsStreamIsNotUsedAgain) {
  TcpConnection connection(ThroughRelay(), {}, SystemClock());
  std::vector<std::byte> got(kMiB);
  ASSERT_TRUE(Move(connection, ServedNode::Read(0, got), In(Seconds(20))).ok());
  relay_->FreezeStreams();
  const TimePoint deadline = In(Millis(200));
  EXPECT_EQ(Move(connection, ServedNode::Read(0, got), deadline).code(), ErrorCode::kRpcTimeout);
  EXPECT_GE(SystemClock().Now(), deadline);
  EXPECT_EQ(Move(connection, node_.Write(0, got, PutId{1}), In(Seconds(20))).code(), ErrorCode::kOk)
      << "a new stream works, the frozen one is not used again";
}

TEST_F(TcpClientFaults, APeerThatAcceptsAndNeverAnswersFailsTheDialWithinItsLimit) {
  relay_->FreezeNewStreams(true);
  StreamPoolOptions options;
  options.connect_timeout = Millis(100);
  TcpConnection connection(ThroughRelay(), options, SystemClock());
  EXPECT_EQ(connection.Open(In(Seconds(60))).code(), ErrorCode::kTransferFail);
  EXPECT_FALSE(connection.healthy());
  TcpConnection hasty(ThroughRelay(), {}, SystemClock());
  EXPECT_EQ(hasty.Open(In(Millis(50))).code(), ErrorCode::kRpcTimeout);
  EXPECT_TRUE(hasty.healthy()) << "the caller's haste says nothing about the peer";
}

// The stream breaks anywhere in the middle; both directions are repeated on a stream that displaces it.
TEST_F(TcpClientFaults, AStreamThatBreaksInTheMiddleIsReplacedOnce) {
  const uint64_t cuts[][2] = {{150, 0}, {3 * kMiB, 0}, {0, 200}, {0, 3 * kMiB}};
  for (const auto& [to_client, to_server] : cuts) {
    relay_->CutNext(1, to_client, to_server);
    TcpConnection connection(ThroughRelay(), {}, SystemClock());
    std::vector<std::byte> sent = Pattern(6 * kMiB, to_client + to_server);
    ASSERT_TRUE(Move(connection, node_.Write(64, sent, PutId{1}), In(Seconds(30))).ok());
    std::vector<std::byte> got(sent.size());
    ASSERT_TRUE(Move(connection, ServedNode::Read(64, got), In(Seconds(30))).ok());
    EXPECT_EQ(got, sent);
  }
}

TEST_F(TcpClientFaults, AStreamThatBreaksAgainIsAFailure) {
  relay_->CutNext(2, kMiB, 0);
  TcpConnection connection(ThroughRelay(), {}, SystemClock());
  std::vector<std::byte> got(6 * kMiB);
  std::vector<std::byte> small(10);
  Slice slices[] = {ServedNode::Read(0, small), ServedNode::Read(0, got)};
  connection.Execute(slices, In(Seconds(30)));
  EXPECT_EQ(slices[1].status.code(), ErrorCode::kTransferFail);
  ASSERT_TRUE(Move(connection, ServedNode::Read(0, got), In(Seconds(30))).ok());
}

TEST_F(TcpClientFaults, AServerThatHasGoneIsAFailureAndTheConnectionIsUnhealthy) {
  TcpConnection connection({.local = false,
                            .address = server_->endpoint(),
                            .host_id = "h",
                            .endpoint = server_->endpoint()},
                           {}, SystemClock());
  ASSERT_TRUE(connection.Open(In(Seconds(10))).ok());
  server_->Stop();
  std::vector<std::byte> got(10);
  EXPECT_EQ(Move(connection, ServedNode::Read(0, got), In(Seconds(10))).code(),
            ErrorCode::kTransferFail);
  EXPECT_FALSE(connection.healthy());
  EXPECT_EQ(connection.Fence(ServedNode::kSegment, PutId{1}, In(Seconds(10))).code(),
            ErrorCode::kTransferFail);
}

// F091: a wrong process on the port of another.
TEST_F(TcpClientFaults, APeerWithAnotherIdentityIsRefused) {
  const auto transport = MakeTcpTransport({}, SystemClock());
  const PeerAddress right{.host_id = "h", .protocol = "tcp", .endpoint = server_->endpoint()};
  ASSERT_TRUE(transport->Connect(right, In(Seconds(10))).ok());
  PeerAddress other_host = right;
  other_host.host_id = "elsewhere";
  const auto refused = transport->Connect(other_host, In(Seconds(10)));
  EXPECT_EQ(refused.code(), ErrorCode::kTransferFail);
  EXPECT_NE(refused.message().find("answers there"), std::string::npos) << refused.message();
  PeerAddress other_endpoint = right;
  other_endpoint.endpoint = relay_->address();  // leads to the server, which says who it is
  EXPECT_EQ(transport->Connect(other_endpoint, In(Seconds(10))).code(), ErrorCode::kTransferFail);
}

TEST_F(TcpClientFaults, APeerThatSpeaksAnotherProtocolIsRefused) {
  const auto listener = tcp::ListenTcp("127.0.0.1:0", {});
  ASSERT_TRUE(listener.ok());
  const std::string address = "127.0.0.1:" + std::to_string(tcp::BoundPort(listener->get()));
  std::thread web([&] {
    ASSERT_TRUE(tcp::WaitFor(listener->get(), POLLIN, SystemClock(), In(Seconds(10))));
    const UniqueFd fd = tcp::Accept(listener->get(), {});
    tcp::IoVector io;
    const std::string answer =
        "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nyour request was not understood";
    io.Add(AsBytes(answer));
    (void)tcp::SendAll(fd.get(), io, SystemClock(), In(Seconds(10)));
  });
  TcpConnection connection(
      {.local = false, .address = address, .host_id = "h", .endpoint = address}, {}, SystemClock());
  EXPECT_EQ(connection.Open(In(Seconds(10))).code(), ErrorCode::kTransferFail);
  web.join();
}

// F091: sixteen nodes started at once must not share a port.
TEST_F(TcpClientFaults, ServersStartedAtOnceHaveTheirOwnEndpoints) {
  constexpr size_t kServers = 16;
  std::vector<std::unique_ptr<ServedNode>> nodes(kServers);
  std::vector<std::unique_ptr<TcpServer>> servers(kServers);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kServers; ++i) {
    threads.emplace_back([&, i] {
      nodes[i] = std::make_unique<ServedNode>(64 << 10);
      auto server = TcpServer::Create({.host_id = "h"}, nodes[i]->segments(), SystemClock());
      ASSERT_TRUE(server.ok()) << server.message();
      servers[i] = std::move(server).value();
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto transport = MakeTcpTransport({}, SystemClock());
  for (size_t i = 0; i < kServers; ++i) {
    for (size_t j = i + 1; j < kServers; ++j)
      EXPECT_NE(servers[i]->endpoint(), servers[j]->endpoint());
    auto connection = transport->Connect(
        {.host_id = "h", .protocol = "tcp", .endpoint = servers[i]->endpoint()}, In(Seconds(10)));
    ASSERT_TRUE(connection.ok());
    std::vector<std::byte> bytes = Pattern(1000, i);
    Slice slice = nodes[i]->Write(0, bytes, PutId{1});
    (*connection)->Execute({&slice, 1}, In(Seconds(10)));
    EXPECT_TRUE(slice.status.ok());
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), nodes[i]->memory().begin()));
  }
}

TEST_F(TcpClientFaults, NamesThatLeadNowhereFailWithTheirCause) {
  const auto transport = MakeTcpTransport({}, SystemClock());
  PeerAddress peer{.host_id = "h", .protocol = "tcp", .endpoint = "no-such-host.invalid:7"};
  EXPECT_EQ(transport->Connect(peer, In(Seconds(20))).code(), ErrorCode::kTransferFail);
  peer.protocol = "pigeon";
  EXPECT_FALSE(transport->CanReach(peer));
  peer.protocol = "rdma";
  EXPECT_TRUE(transport->CanReach(peer)) << "such a node listens on TCP too";
  peer = {.host_id = "h", .protocol = "tcp", .endpoint = "nonsense"};
  EXPECT_FALSE(transport->CanReach(peer));
}

}  // namespace
}  // namespace mooncake::testing

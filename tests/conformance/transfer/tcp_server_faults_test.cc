// What a data server makes of clients that hang, break, lie or come in crowds.
#include <dirent.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/served_node.h"
#include "tests/support/wait.h"
#include "transfer/base/units.h"
#include "transfer/transport/tcp/tcp_connection.h"
#include "transfer/transport/tcp/tcp_server.h"

namespace mooncake::testing {
namespace {

using tcp::Entry;
using tcp::FrameHeader;
using tcp::kEntryBytes;
using tcp::kHeaderBytes;
using tcp::kReplyStatusBytes;
using tcp::Op;
using tcp::SessionId;

TimePoint In(Duration d) { return SystemClock().Now() + d; }

// A client that does just what it is told, right or wrong.
class RawClient {
 public:
  explicit RawClient(const std::string& address) {
    auto fd = address[0] == '@' ? tcp::ConnectUnix(address, {}, SystemClock(), In(Seconds(10)))
                                : tcp::ConnectTcp(address, {}, SystemClock(), In(Seconds(10)));
    MC_CHECK(fd.ok()) << fd.message();
    fd_ = std::move(fd).value();
  }

  bool Send(ByteSpan bytes) {
    tcp::IoVector io;
    io.Add(bytes);
    return tcp::SendAll(fd_.get(), io, SystemClock(), In(Seconds(10))).ok();
  }
  bool Request(Op op, const Entry& entry, uint64_t payload = 0) {
    std::array<std::byte, kHeaderBytes + kEntryBytes> bytes;
    tcp::EncodeHeader({.op = op, .reply = false, .count = 1, .request_id = 1, .payload = payload},
                      std::span(bytes).first<kHeaderBytes>());
    tcp::EncodeEntry(entry, std::span(bytes).last<kEntryBytes>());
    return Send(bytes);
  }
  bool Hello(SessionId session = {}) {
    Entry entry;
    entry.segment = session;
    return Request(Op::kHello, entry) && ReadReply() == ErrorCode::kOk;
  }
  // The status of the next reply; its payload is dropped. kTransferFail: the stream has ended.
  ErrorCode ReadReply() {
    std::array<std::byte, kHeaderBytes + kReplyStatusBytes> head;
    if (!Receive(head)) return ErrorCode::kTransferFail;
    const auto header = tcp::DecodeHeader(std::span(head).first<kHeaderBytes>());
    if (!header.ok()) return ErrorCode::kTransferFail;
    std::vector<std::byte> payload(header->payload);
    if (!Receive(payload)) return ErrorCode::kTransferFail;
    return tcp::DecodeReplyStatus(std::span(head).last<kReplyStatusBytes>());
  }
  bool Receive(MutableByteSpan bytes) {
    tcp::IoVector io;
    io.Add(bytes);
    return tcp::ReceiveAll(fd_.get(), io, SystemClock(), In(Seconds(20))).ok();
  }
  // True when the server ends the stream.
  bool IsCut() {
    std::byte byte;
    return !Receive({&byte, 1});
  }

 private:
  UniqueFd fd_;
};

size_t OpenDescriptors() {
  size_t count = 0;
  DIR* dir = ::opendir("/proc/self/fd");
  while (::readdir(dir) != nullptr) ++count;
  (void)::closedir(dir);
  return count;
}

class TcpServerFaults : public ::testing::Test {
 protected:
  void StartServer(TcpServerOptions options = {}) {
    options.host_id = "h";
    static std::atomic<int> counter{0};
    options.local_socket =
        "@mc-faults-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
    local_socket_ = options.local_socket;
    auto server = TcpServer::Create(options, node_.segments(), SystemClock());
    ASSERT_TRUE(server.ok()) << server.message();
    server_ = std::move(server).value();
  }
  Entry WriteEntry(uint64_t offset, uint64_t length, uint64_t put) const {
    return {.segment = ServedNode::kSegment,
            .epoch = ServedNode::kEpoch,
            .offset = offset,
            .length = length,
            .grant = node_.Grant(PutId{put})};
  }
  // A client whose write of `length` bytes was admitted and has stopped after `sent`.
  std::unique_ptr<RawClient> StalledWriter(uint64_t put, SessionId session, uint64_t length,
                                           uint64_t sent) {
    auto client = std::make_unique<RawClient>(server_->endpoint());
    EXPECT_TRUE(client->Hello(session));
    EXPECT_TRUE(client->Request(Op::kWrite, WriteEntry(0, length, put), length));
    EXPECT_TRUE(client->Send(std::vector<std::byte>(sent, std::byte{0x11})));
    EXPECT_TRUE(Eventually([&] { return node_.segments().active_accesses() == 1; }));
    return client;
  }
  void ExpectServes() {
    RawClient client(server_->endpoint());
    EXPECT_TRUE(client.Hello());
    EXPECT_TRUE(client.Request(Op::kRead, WriteEntry(0, 10, 0)));
    EXPECT_EQ(client.ReadReply(), ErrorCode::kOk);
  }

  const TimePoint started_ = SystemClock().Now();
  ServedNode node_{24 * kMiB};
  std::string local_socket_;
  std::unique_ptr<TcpServer> server_;
};

TEST_F(TcpServerFaults, AFenceCutsAStalledWriterAndNothingOfItLandsAfterwards) {
  StartServer();
  const auto stalled = StalledWriter(5, {}, 1000, 500);
  RawClient other(server_->endpoint());
  ASSERT_TRUE(other.Hello());
  Entry fence = WriteEntry(0, 5000, 5);
  ASSERT_TRUE(other.Request(Op::kFence, fence));
  EXPECT_EQ(other.ReadReply(), ErrorCode::kOk);
  EXPECT_EQ(node_.segments().active_accesses(), 0u);
  std::fill_n(node_.memory().begin(), 1000, std::byte{0});
  (void)stalled->Send(std::vector<std::byte>(500, std::byte{0x22}));
  EXPECT_TRUE(stalled->IsCut());
  for (size_t i = 0; i < 1000; ++i) ASSERT_EQ(node_.memory()[i], std::byte{0});
}

TEST_F(TcpServerFaults, AWriteIsCutWhenItsGrantEnds) {
  StartServer();
  RawClient client(server_->endpoint());
  ASSERT_TRUE(client.Hello());
  Entry entry = WriteEntry(0, 1000, 5);
  // The estimate of ServedNode began at 1,000,000 when the node was made.
  entry.grant.deadline_ms = 1'000'000 + 300 + ToMillis(SystemClock().Now() - started_);
  ASSERT_TRUE(client.Request(Op::kWrite, entry, 1000));
  EXPECT_TRUE(client.IsCut());
  EXPECT_EQ(node_.segments().active_accesses(), 0u);
}

TEST_F(TcpServerFaults, ANewStreamOfASessionDisplacesTheOldOne) {
  StartServer();
  const SessionId session{3, 4};
  const auto stalled = StalledWriter(5, session, 1000, 500);
  RawClient again(server_->endpoint());
  ASSERT_TRUE(again.Hello(session));
  EXPECT_EQ(node_.segments().active_accesses(), 0u)
      << "before HELLO is answered, not some time after";
  EXPECT_TRUE(stalled->IsCut());
  std::vector<std::byte> bytes = Pattern(1000, 1);
  ASSERT_TRUE(again.Request(Op::kWrite, WriteEntry(0, 1000, 5), 1000));
  ASSERT_TRUE(again.Send(bytes));
  EXPECT_EQ(again.ReadReply(), ErrorCode::kOk);
  EXPECT_TRUE(again.Hello(session)) << "the probe of an idle stream";
}

TEST_F(TcpServerFaults, AReaderThatTakesNothingDelaysOnlyItselfAndNotTheEpoch) {
  StartServer();
  RawClient frozen(server_->endpoint());
  ASSERT_TRUE(frozen.Hello());
  ASSERT_TRUE(frozen.Request(Op::kRead, WriteEntry(0, 16 * kMiB, 0)));
  ASSERT_TRUE(Eventually([&] { return node_.segments().active_accesses() == 1; }));
  ExpectServes();
  EXPECT_TRUE(
      node_.segments().SetEpoch(ServedNode::kSegment, AccessEpoch{4}, In(Seconds(10))).ok());
}

TEST_F(TcpServerFaults, WhatIsNoFrameEndsTheStreamAndHarmsNobody) {
  StartServer();
  const auto cut = [&](const std::function<void(RawClient&)>& act) {
    RawClient client(server_->endpoint());
    ASSERT_TRUE(client.Hello());
    act(client);
    EXPECT_TRUE(client.IsCut());
  };
  cut([](RawClient& c) { c.Send(std::vector<std::byte>(96, std::byte{0xff})); });
  cut([&](RawClient& c) { c.Request(Op::kWrite, WriteEntry(0, 1000, 1), 999); });
  cut([&](RawClient& c) { c.Request(Op::kRead, WriteEntry(0, 17 * kMiB, 1)); });
  cut([&](RawClient& c) { c.Request(Op::kWrite, WriteEntry(0, UINT64_MAX, 1), UINT64_MAX); });
  cut([](RawClient& c) {
    c.Request(Op::kHello, {.segment = SegmentId{8, 8}});
    c.ReadReply();
    c.Request(Op::kHello, {.segment = SegmentId{9, 9}});
  });
  RawClient impolite(server_->endpoint());
  ASSERT_TRUE(impolite.Request(Op::kRead, WriteEntry(0, 10, 0)));
  EXPECT_TRUE(impolite.IsCut()) << "HELLO comes first";
  EXPECT_TRUE(Eventually([&] { return server_->stats().bad_frames == 5; }));
  ExpectServes();
}

TEST_F(TcpServerFaults, BytesOfARefusedWriteAreDroppedAndTheStreamGoesOn) {
  StartServer();
  RawClient client(server_->endpoint());
  ASSERT_TRUE(client.Hello());
  const std::vector<std::byte> bytes(kMiB, std::byte{0x33});
  ASSERT_TRUE(client.Request(Op::kWrite, WriteEntry(24 * kMiB - 10, kMiB, 1), kMiB));
  ASSERT_TRUE(client.Send(bytes));
  EXPECT_EQ(client.ReadReply(), ErrorCode::kInvalidParams);
  ASSERT_TRUE(client.Request(Op::kWrite, WriteEntry(0, kMiB, 1), kMiB));
  ASSERT_TRUE(client.Send(bytes));
  EXPECT_EQ(client.ReadReply(), ErrorCode::kOk);
  EXPECT_EQ(node_.memory()[24 * kMiB - 1], std::byte{0});
}

TEST_F(TcpServerFaults, AClientThatSaysNothingIsCut) {
  StartServer({.hello_timeout = Millis(50), .frame_timeout = Millis(50)});
  RawClient silent(server_->endpoint());
  EXPECT_TRUE(silent.IsCut());
  RawClient half(server_->endpoint());
  ASSERT_TRUE(half.Hello());
  ASSERT_TRUE(half.Send(std::vector<std::byte>(40)));
  EXPECT_TRUE(half.IsCut());
}

TEST_F(TcpServerFaults, AFullServerDropsTheLongestIdleStream) {
  StartServer({.max_streams = 4});
  std::vector<std::unique_ptr<RawClient>> crowd;
  for (int i = 0; i < 4; ++i) {
    crowd.push_back(std::make_unique<RawClient>(server_->endpoint()));
    ASSERT_TRUE(crowd.back()->Hello());
  }
  ASSERT_TRUE(crowd[0]->Hello());  // not the longest idle one any more
  ExpectServes();
  EXPECT_TRUE(crowd[1]->IsCut());
  EXPECT_TRUE(crowd[0]->Hello());
}

TEST_F(TcpServerFaults, ClientsThatComeAndDieLeakNothing) {
  StartServer();
  ExpectServes();
  ASSERT_TRUE(Eventually([&] { return server_->stats().streams == 0; }));
  const size_t before = OpenDescriptors();
  for (int i = 0; i < 1000; ++i) {
    RawClient client(i % 2 == 0 ? server_->endpoint() : local_socket_);
    if (i % 3 != 0) (void)client.Hello({1, static_cast<uint64_t>(i)});
    if (i % 3 == 2) (void)client.Request(Op::kWrite, WriteEntry(0, 1000, 1), 1000);
  }
  EXPECT_TRUE(Eventually([&] { return server_->stats().streams == 0; }));
  EXPECT_EQ(node_.segments().active_accesses(), 0u);
  // A stream is counted out before it is closed.
  EXPECT_TRUE(Eventually([&] { return OpenDescriptors() <= before; })) << before;
}

TEST_F(TcpServerFaults, StopEndsBusyStreams) {
  StartServer();
  const auto stalled = StalledWriter(5, {}, 1000, 500);
  RawClient idle(server_->endpoint());
  ASSERT_TRUE(idle.Hello());
  server_->Stop();
  EXPECT_EQ(node_.segments().active_accesses(), 0u);
  EXPECT_TRUE(stalled->IsCut());
  EXPECT_TRUE(idle.IsCut());
  server_->Stop();
}

TEST_F(TcpServerFaults, ARegionIsHandedOverLocallyAndReadOnly) {
  StartServer();
  tcp::TcpConnection remote({.local = false,
                             .address = server_->endpoint(),
                             .host_id = "h",
                             .endpoint = server_->endpoint()},
                            {}, SystemClock());
  EXPECT_EQ(remote.Map(ServedNode::kSegment, In(Seconds(10))).code(), ErrorCode::kNotSupported);
  tcp::TcpConnection local(
      {.local = true, .address = local_socket_, .host_id = "h", .endpoint = server_->endpoint()},
      {}, SystemClock());
  EXPECT_EQ(local.Map(SegmentId{1, 1}, In(Seconds(10))).code(), ErrorCode::kSegmentNotFound);
  const auto region = local.Map(ServedNode::kSegment, In(Seconds(10)));
  ASSERT_TRUE(region.ok()) << region.message();
  EXPECT_EQ(region->bytes, node_.region().mapped_size());
  EXPECT_EQ(::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, region->fd.get(), 0),
            MAP_FAILED);
}

TEST_F(TcpServerFaults, TheUnixSocketServesItsOwnUserAndRootOnly) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
  StartServer();
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setuid(65534) != 0) ::_exit(9);
    RawClient stranger(local_socket_);
    ::_exit(stranger.Hello() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(server_->stats().refused, 1u);
  RawClient friendly(local_socket_);
  EXPECT_TRUE(friendly.Hello());
}

TEST_F(TcpServerFaults, AnAddressThatIsTakenIsNamedWithTheCure) {
  StartServer();
  const auto second =
      TcpServer::Create({.listen = server_->endpoint()}, node_.segments(), SystemClock());
  EXPECT_EQ(second.code(), ErrorCode::kTransferFail);
  EXPECT_NE(second.message().find("choose another port"), std::string::npos) << second.message();
  EXPECT_EQ(
      TcpServer::Create({.listen = "", .local_socket = ""}, node_.segments(), SystemClock()).code(),
      ErrorCode::kInvalidParams);
  EXPECT_EQ(TcpServer::Create({.listen = "noport"}, node_.segments(), SystemClock()).code(),
            ErrorCode::kInvalidParams);
}

TEST_F(TcpServerFaults, AStaleSocketFileIsReplacedALiveOneIsNot) {
  const std::string path = "/tmp/mc-faults-" + std::to_string(::getpid()) + ".sock";
  const TcpServerOptions options{.listen = "", .local_socket = path, .host_id = "h"};
  {
    auto abandoned = tcp::ListenUnix(path, {});
    ASSERT_TRUE(abandoned.ok());
  }
  auto first = TcpServer::Create(options, node_.segments(), SystemClock());
  ASSERT_TRUE(first.ok()) << first.message();
  EXPECT_EQ((*first)->endpoint(), path);
  EXPECT_EQ(TcpServer::Create(options, node_.segments(), SystemClock()).code(),
            ErrorCode::kTransferFail);
  (*first)->Stop();
  EXPECT_NE(::access(path.c_str(), F_OK), 0) << "taken away again";
}

}  // namespace
}  // namespace mooncake::testing

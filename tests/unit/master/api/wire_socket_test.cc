// Frames over a pair of sockets: whole or an error, by the deadline, with bounded memory.
#include "master/api/wire_socket.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace mooncake {
namespace {

using std::string_literals::operator""s;
using wire::FrameSocket;

class WireSocketTest : public ::testing::Test {
 protected:
  WireSocketTest() {
    std::array<int, 2> fds{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
    socket_ = FrameSocket(fds[0]);
    peer_ = fds[1];
  }
  ~WireSocketTest() override { ClosePeer(); }

  void ClosePeer() {
    if (peer_ >= 0) close(peer_);
    peer_ = -1;
  }
  void PeerSends(const std::string& bytes) {
    ASSERT_EQ(write(peer_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  Result<ByteSpan> Receive(Duration first = Seconds(30), Duration whole = Seconds(30)) {
    return socket_.Receive(1000, clock_, clock_.Now() + first, whole);
  }

  const Clock& clock_ = SystemClock();
  FrameSocket socket_;
  int peer_ = -1;
  int dripped_ = 0;
};

TEST_F(WireSocketTest, ReceivesAFrame) {
  PeerSends("\0\0\0\3abc"s);
  const auto frame = Receive();
  ASSERT_TRUE(frame.ok()) << frame.status();
  EXPECT_EQ(AsText(*frame), "abc");
}

TEST_F(WireSocketTest, ReceivesAnEmptyFrame) {
  PeerSends("\0\0\0\0"s);
  const auto frame = Receive();
  ASSERT_TRUE(frame.ok()) << frame.status();
  EXPECT_TRUE(frame->empty());
}

TEST_F(WireSocketTest, ReceivesFramesThatCameTogetherOneByOne) {
  PeerSends("\0\0\0\1a\0\0\0\2bc\0\0"s);
  EXPECT_EQ(AsText(*Receive()), "a");
  EXPECT_EQ(AsText(*Receive()), "bc");
  PeerSends("\0\1d"s);
  EXPECT_EQ(AsText(*Receive()), "d");
}

TEST_F(WireSocketTest, ReceivesAFrameThatComesInSmallPieces) {
  std::thread writer([this] {
    const std::string bytes = "\0\0\3\xe8"s + std::string(1000, 'x');
    for (const char c : bytes) PeerSends(std::string(1, c));
  });
  const auto frame = Receive();
  writer.join();
  ASSERT_TRUE(frame.ok()) << frame.status();
  EXPECT_EQ(frame->size(), 1000u);
}

TEST_F(WireSocketTest, RefusesALongFrameByItsLengthAlone) {
  PeerSends("\0\0\3\xe9"s);
  EXPECT_EQ(Receive().code(), ErrorCode::kInvalidParams);
  PeerSends("rest");
}

TEST_F(WireSocketTest, RefusesANegativeLength) {
  PeerSends("\xff\xff\xff\xff"s);
  EXPECT_EQ(Receive().code(), ErrorCode::kInvalidParams);
}

TEST_F(WireSocketTest, TellsACloseBeforeAFrameFromOneWithin) {
  PeerSends("\0\0\0\3a"s);
  ClosePeer();
  EXPECT_EQ(Receive().code(), ErrorCode::kRpcFail);
  EXPECT_TRUE(socket_.partly_received());
}

TEST_F(WireSocketTest, ReportsACloseWithoutAFrame) {
  ClosePeer();
  EXPECT_EQ(Receive().code(), ErrorCode::kRpcFail);
  EXPECT_FALSE(socket_.partly_received());
}

TEST_F(WireSocketTest, GivesUpWhenNothingComes) {
  EXPECT_EQ(Receive(Millis(5)).code(), ErrorCode::kRpcTimeout);
}

TEST_F(WireSocketTest, GivesUpOnAFrameThatDripsForEver) {
  // The deadline is for the whole frame: bytes on the way do not extend it.
  std::atomic<bool> done{false};
  std::thread writer([&] {
    PeerSends("\0\0\3\xe8"s);
    while (!done.load()) {
      if (write(peer_, "x", 1) != 1) break;
      std::this_thread::yield();
      // At most what the receiver asked for, so that the frame never becomes whole.
      if (++dripped_ == 900) break;
    }
  });
  const auto frame = Receive(Seconds(30), Millis(20));
  done.store(true);
  writer.join();
  EXPECT_EQ(frame.code(), ErrorCode::kRpcTimeout);
}

TEST_F(WireSocketTest, SendsAFrameWithItsLength) {
  std::string bytes = "....hello";
  ASSERT_TRUE(socket_
                  .Send({reinterpret_cast<std::byte*>(bytes.data()), bytes.size()}, clock_,
                        clock_.Now() + Seconds(30))
                  .ok());
  std::string got(9, '\0');
  ASSERT_EQ(recv(peer_, got.data(), got.size(), MSG_WAITALL), 9);
  EXPECT_EQ(got, "\0\0\0\5hello"s);
}

TEST_F(WireSocketTest, SendGivesUpOnAPeerThatDoesNotRead) {
  std::vector<std::byte> large(size_t{8} << 20);
  EXPECT_EQ(socket_.Send(large, clock_, clock_.Now() + Millis(20)).code(), ErrorCode::kRpcTimeout);
}

TEST_F(WireSocketTest, SendToAClosedPeerFails) {
  ClosePeer();
  std::vector<std::byte> frame(8);
  EXPECT_EQ(socket_.Send(frame, clock_, clock_.Now() + Seconds(30)).code(), ErrorCode::kRpcFail);
}

TEST_F(WireSocketTest, LooksIdleUntilSomethingHappens) {
  EXPECT_TRUE(socket_.LooksIdle());
  PeerSends("x");
  EXPECT_FALSE(socket_.LooksIdle());
}

TEST_F(WireSocketTest, DoesNotLookIdleAfterTheEnd) {
  ClosePeer();
  EXPECT_FALSE(socket_.LooksIdle());
}

// A socket with a budget, and the other end, on which a thread sends a frame of one MiB.
class BudgetedPeer {
 public:
  explicit BudgetedPeer(wire::ByteBudget& budget) {
    std::array<int, 2> fds{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
    socket_ = FrameSocket(fds[0], Seconds(1), &budget);
    peer_ = FrameSocket(fds[1]);
    writer_ = std::thread([this] {
      std::vector<std::byte> frame((size_t{1} << 20) + 4);
      peer_.Send(frame, SystemClock(), SystemClock().Now() + Seconds(30))
          .Ignore("refused frames end early");
    });
  }
  ~BudgetedPeer() {
    socket_.Close();
    writer_.join();
  }
  ErrorCode Receive() {
    return socket_
        .Receive(size_t{2} << 20, SystemClock(), SystemClock().Now() + Seconds(30), Seconds(30))
        .code();
  }

 private:
  FrameSocket socket_;
  FrameSocket peer_;
  std::thread writer_;
};

TEST(WireBudget, BoundsTheLargeFramesOfAllConnections) {
  wire::ByteBudget budget(size_t{3} << 19);  // one and a half frames
  {
    BudgetedPeer first(budget);
    EXPECT_EQ(first.Receive(), ErrorCode::kOk);
    BudgetedPeer second(budget);
    EXPECT_EQ(second.Receive(), ErrorCode::kNoAvailableHandle);
  }
  EXPECT_EQ(budget.left(), size_t{3} << 19);
  BudgetedPeer third(budget);
  EXPECT_EQ(third.Receive(), ErrorCode::kOk);
}

TEST(WireListen, ChoosesAPortAndTellsIt) {
  auto listener = wire::Listen({"127.0.0.1", 0});
  ASSERT_TRUE(listener.ok()) << listener.status();
  EXPECT_NE(listener->bound.port, 0);
  const auto connected = FrameSocket::Connect({"127.0.0.1", listener->bound.port}, SystemClock(),
                                              SystemClock().Now() + Seconds(30));
  EXPECT_TRUE(connected.ok()) << connected.status();
  close(listener->fd);
}

TEST(WireListen, SaysWhyAndWhatToDo) {
  const auto first = wire::Listen({"127.0.0.1", 0});
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = wire::Listen(first->bound);
  EXPECT_EQ(second.code(), ErrorCode::kRpcFail);
  EXPECT_NE(second.message().find(first->bound.ToString()), std::string::npos) << second.message();
  EXPECT_NE(second.message().find("choose another port"), std::string::npos) << second.message();
  close(first->fd);
}

TEST(WireConnect, FailsWhereNobodyListens) {
  const auto listener = wire::Listen({"127.0.0.1", 0});
  ASSERT_TRUE(listener.ok()) << listener.status();
  close(listener->fd);
  EXPECT_EQ(FrameSocket::Connect(listener->bound, SystemClock(), SystemClock().Now() + Seconds(30))
                .code(),
            ErrorCode::kRpcFail);
}

}  // namespace
}  // namespace mooncake

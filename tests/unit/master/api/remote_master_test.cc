// The stub against a scripted server: pooling, redial, deadlines, terms, and answers that cannot be true.
#include "master/api/remote_master.h"

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "master/api/gen-cpp/MasterRpc.h"
#include "master/api/wire.h"
#include "master/api/wire_protocol.h"
#include "master/api/wire_socket.h"
#include "transfer/base/mutex.h"

namespace mooncake {
namespace {

using wire::FrameSocket;

// Accepts connections, one after the other, and does with each what the script says. Its methods are the script's words.
class ScriptedServer {
 public:
  using Step = std::function<void(FrameSocket&)>;

  ScriptedServer() {
    auto listener = wire::Listen({"127.0.0.1", 0});
    EXPECT_TRUE(listener.ok()) << listener.status();
    listener_ = *listener;
  }
  ~ScriptedServer() {
    shutdown(listener_.fd, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    close(listener_.fd);
  }

  // One entry per connection.
  void Play(std::vector<Step> script) {
    thread_ = std::thread([this, script = std::move(script)] {
      for (const Step& step : script) {
        const int fd = accept(listener_.fd, nullptr, nullptr);
        if (fd < 0) return;
        FrameSocket socket(fd);
        step(socket);
      }
    });
  }

  const HostPort& address() const { return listener_.bound; }

 private:
  wire::ListenSocket listener_;
  std::thread thread_;
};

const Clock& TheClock() { return SystemClock(); }
TimePoint Soon() { return TheClock().Now() + Seconds(30); }

Result<std::string> ReadRequest(FrameSocket& socket) {
  ASSIGN_OR_RETURN(const ByteSpan frame,
                   socket.Receive(wire::kMaxFrameBytes, TheClock(), TheClock().Now() + Seconds(30),
                                  Seconds(30)));
  return std::string(AsText(frame));
}

void SendReply(FrameSocket& socket,
               const std::function<void(thriftgen::MasterRpc_GetStatus_result&)>& fill) {
  thriftgen::MasterRpc_GetStatus_result result;
  fill(result);
  wire::OutFrame out;
  out.protocol()->writeMessageBegin("GetStatus", apache::thrift::protocol::T_REPLY, 0);
  result.write(out.protocol().get());
  EXPECT_TRUE(socket.Send(out.bytes(), TheClock(), Soon()).ok());
}

// Reads one request and answers in `term`; false when the peer is gone.
bool AnswerStatus(FrameSocket& socket, int64_t term) {
  if (!ReadRequest(socket).ok()) return false;
  SendReply(socket, [term](auto& result) {
    result.success.term = term;
    thriftgen::ClusterStatus status;
    status.term = term;
    result.success.__set_value(status);
    result.__isset.success = true;
  });
  return true;
}

class RemoteMasterTest : public ::testing::Test {
 protected:
  std::unique_ptr<MasterApi> Remote() {
    return MakeRemoteMaster({.address = server_.address()}, TheClock());
  }
  ScriptedServer server_;
};

TEST_F(RemoteMasterTest, UsesOneConnectionForCallsInARow) {
  server_.Play({[](FrameSocket& socket) {
    while (AnswerStatus(socket, 5)) {
    }
  }});
  auto master = Remote();
  for (int i = 0; i < 3; ++i) {
    const auto status = master->GetStatus(Soon());
    ASSERT_TRUE(status.ok()) << status.status();
    EXPECT_EQ(status->term, Term{5});
  }
  master.reset();
}

TEST_F(RemoteMasterTest, ReplacesAConnectionThatTheServerClosedMeanwhile) {
  Mutex mutex;
  CondVar closed;
  bool is_closed = false;
  server_.Play({[&](FrameSocket& socket) {
                  AnswerStatus(socket, 5);
                  socket.Close();
                  MutexLock lock(mutex);
                  is_closed = true;
                  closed.NotifyAll();
                },
                [](FrameSocket& socket) { AnswerStatus(socket, 5); }});
  auto master = Remote();
  ASSERT_TRUE(master->GetStatus(Soon()).ok());
  {
    MutexLock lock(mutex);
    while (!is_closed) closed.Wait(mutex);
  }
  const auto status = master->GetStatus(Soon());
  EXPECT_TRUE(status.ok()) << status.status();
}

TEST_F(RemoteMasterTest, SendsAgainWhenAPooledConnectionDiesBeforeTheReply) {
  server_.Play({[](FrameSocket& socket) {
                  AnswerStatus(socket, 5);
                  (void)ReadRequest(socket).ok();  // and closes without a word
                },
                [](FrameSocket& socket) { AnswerStatus(socket, 5); }});
  auto master = Remote();
  ASSERT_TRUE(master->GetStatus(Soon()).ok());
  const auto status = master->GetStatus(Soon());
  EXPECT_TRUE(status.ok()) << status.status();
}

TEST_F(RemoteMasterTest, DoesNotSendAgainOnAFreshConnection) {
  std::atomic<int> requests{0};
  server_.Play({[&](FrameSocket& socket) { requests += ReadRequest(socket).ok() ? 1 : 0; },
                [&](FrameSocket& socket) { requests += ReadRequest(socket).ok() ? 1 : 0; }});
  {
    auto master = Remote();
    const auto status = master->GetStatus(Soon());
    EXPECT_EQ(status.code(), ErrorCode::kRpcFail);
    EXPECT_NE(status.message().find(server_.address().ToString()), std::string::npos)
        << status.message();
    EXPECT_NE(status.message().find("GetStatus"), std::string::npos) << status.message();
  }
  // The second step has seen nothing: no connection came, or one without a request.
  EXPECT_EQ(requests.load(), 1);
}

// kill -9 returns before the process is gone: for a moment its port takes connections that nobody will serve.
TEST_F(RemoteMasterTest, SendsAgainWhileAMasterThatAnsweredOnceGoesAway) {
  const auto close_at_once = [](FrameSocket&) {};
  const auto close_after_request = [](FrameSocket& socket) { (void)ReadRequest(socket).ok(); };
  server_.Play({[](FrameSocket& socket) { AnswerStatus(socket, 5); }, close_at_once,
                close_after_request, close_at_once,
                [](FrameSocket& socket) { AnswerStatus(socket, 6); }});
  auto master = Remote();
  ASSERT_TRUE(master->GetStatus(Soon()).ok());
  const auto status = master->GetStatus(Soon());
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(status->term, Term{6});
}

TEST_F(RemoteMasterTest, DoesNotSendAgainAfterAPartOfTheReply) {
  server_.Play({[](FrameSocket& socket) {
    AnswerStatus(socket, 5);
    (void)ReadRequest(socket).ok();
    const char part[] = {0, 0, 0};
    EXPECT_EQ(send(socket.fd(), part, sizeof part, MSG_NOSIGNAL), 3);
  }});
  auto master = Remote();
  ASSERT_TRUE(master->GetStatus(Soon()).ok());
  EXPECT_EQ(master->GetStatus(Soon()).code(), ErrorCode::kRpcFail);
}

TEST_F(RemoteMasterTest, GivesUpAtTheDeadline) {
  server_.Play({[](FrameSocket& socket) {
    while (ReadRequest(socket).ok()) {
    }
  }});
  auto master = Remote();
  const auto status = master->GetStatus(TheClock().Now() + Millis(30));
  EXPECT_EQ(status.code(), ErrorCode::kRpcTimeout);
  EXPECT_NE(status.message().find(server_.address().ToString()), std::string::npos)
      << status.message();
}

TEST_F(RemoteMasterTest, AskedAfterTheDeadlineItSendsNothing) {
  auto master = Remote();
  EXPECT_EQ(master->GetStatus(TheClock().Now() - Seconds(1)).code(), ErrorCode::kRpcTimeout);
}

TEST_F(RemoteMasterTest, RefusesAnAnswerOfAnOlderTerm) {
  server_.Play({[](FrameSocket& socket) {
    AnswerStatus(socket, 5);
    AnswerStatus(socket, 4);
    AnswerStatus(socket, 6);
  }});
  auto master = Remote();
  ASSERT_TRUE(master->GetStatus(Soon()).ok());
  EXPECT_EQ(master->GetStatus(Soon()).code(), ErrorCode::kInvalidVersion);
  EXPECT_TRUE(master->GetStatus(Soon()).ok());
}

TEST_F(RemoteMasterTest, TakesGarbageForAFailedCall) {
  server_.Play({[](FrameSocket& socket) {
                  (void)ReadRequest(socket).ok();
                  std::string bytes = "....garbage";
                  EXPECT_TRUE(socket
                                  .Send({reinterpret_cast<std::byte*>(bytes.data()), bytes.size()},
                                        TheClock(), Soon())
                                  .ok());
                },
                [](FrameSocket& socket) {
                  (void)ReadRequest(socket).ok();
                  // A value that cannot be: negative capacity.
                  SendReply(socket, [](auto& result) {
                    thriftgen::ClusterStatus status;
                    status.capacity = -1;
                    result.success.term = 1;
                    result.success.__set_value(status);
                    result.__isset.success = true;
                  });
                }});
  EXPECT_EQ(Remote()->GetStatus(Soon()).code(), ErrorCode::kRpcFail);
  EXPECT_EQ(Remote()->GetStatus(Soon()).code(), ErrorCode::kRpcFail);
}

TEST_F(RemoteMasterTest, PassesOnWhatTheMasterRefused) {
  server_.Play({[](FrameSocket& socket) {
    (void)ReadRequest(socket).ok();
    SendReply(socket, [](auto& result) {
      result.success.status =
          wire::Encode(Status(ErrorCode::kUnavailableInCurrentStatus, "stopping"));
      result.success.term = 1;
      result.__isset.success = true;
    });
  }});
  EXPECT_EQ(Remote()->GetStatus(Soon()).status(),
            Status(ErrorCode::kUnavailableInCurrentStatus, "stopping"));
}

TEST_F(RemoteMasterTest, ABatchThatFailsAsAWholeFailsForEachEntry) {
  server_.Play({[](FrameSocket&) {}});
  const std::vector<ObjectName> names = {{"t", "a"}, {"t", "b"}};
  const auto answers = Remote()->BatchStat(names, Soon());
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].code(), ErrorCode::kRpcFail);
  EXPECT_EQ(answers[1].code(), ErrorCode::kRpcFail);
}

TEST_F(RemoteMasterTest, RefusesABatchBeyondTheLimitByItself) {
  const std::vector<ObjectName> names(kMaxBatch + 1, ObjectName{"t", "k"});
  const auto answers = Remote()->BatchStat(names, Soon());
  ASSERT_EQ(answers.size(), names.size());
  EXPECT_EQ(answers.front().code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(answers.back().code(), ErrorCode::kInvalidParams);
}

TEST(RemoteMaster, NamesTheAddressWhenNobodyListens) {
  const auto listener = wire::Listen({"127.0.0.1", 0});
  ASSERT_TRUE(listener.ok()) << listener.status();
  close(listener->fd);
  const auto status = MakeRemoteMaster({.address = listener->bound}, TheClock())->GetStatus(Soon());
  EXPECT_EQ(status.code(), ErrorCode::kRpcFail);
  EXPECT_NE(status.message().find(listener->bound.ToString()), std::string::npos)
      << status.message();
}

TEST(RemoteMaster, UsesIPv6AndNames) {
  for (const char* host : {"::1", "localhost"}) {
    auto listener = wire::Listen({host, 0});
    if (!listener.ok()) GTEST_SKIP() << "no " << host << " here: " << listener.status();
    std::thread server([fd = listener->fd] {
      FrameSocket socket(accept(fd, nullptr, nullptr));
      AnswerStatus(socket, 1);
    });
    const auto status =
        MakeRemoteMaster({.address = listener->bound}, TheClock())->GetStatus(Soon());
    server.join();
    EXPECT_TRUE(status.ok()) << host << ": " << status.status();
    close(listener->fd);
  }
}

}  // namespace
}  // namespace mooncake

// The RPC server against clients that are slow, silent, many, or hostile; and its stop.
#include "master/server/thrift_server.h"

#include <sys/socket.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "master/api/remote_master.h"
#include "master/api/wire_limits.h"
#include "master/api/wire_socket.h"
#include "master/server/call_names.h"
#include "tests/support/null_master.h"
#include "tests/support/process.h"
#include "transfer/base/mutex.h"

namespace mooncake {
namespace {

using std::string_literals::operator""s;
using wire::FrameSocket;

const Clock& TheClock() { return SystemClock(); }
TimePoint Soon() { return TheClock().Now() + Seconds(30); }

// Answers GetStatus; can be made to wait there.
class TinyMaster final : public testing::NullMaster {
 public:
  Result<ClusterStatus> GetStatus(TimePoint) override {
    MutexLock lock(mutex_);
    ++inside_;
    changed_.NotifyAll();
    while (held_) changed_.Wait(mutex_);
    ClusterStatus status;
    status.version = "tiny";
    return status;
  }
  Result<ListReply> ListObjects(const ListArgs&, TimePoint) override {
    // More than a frame holds.
    ListReply reply;
    reply.entries.resize(kMaxListLimit);
    for (ListEntry& entry : reply.entries) {
      entry.key.assign(2 * kMaxKeyBytes, 'k');
      entry.is_prefix = true;
    }
    return reply;
  }
  std::vector<Status> BatchRemove(std::span<const ObjectName> names, bool, TimePoint) override {
    std::vector<Status> out;
    for (const ObjectName& name : names) out.emplace_back(ErrorCode::kObjectNotFound, name.key);
    return out;
  }

  void Hold(bool held) {
    MutexLock lock(mutex_);
    held_ = held;
    changed_.NotifyAll();
  }
  void AwaitCalls(int count) {
    MutexLock lock(mutex_);
    while (inside_ < count) changed_.Wait(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool held_ MC_GUARDED_BY(mutex_) = false;
  int inside_ MC_GUARDED_BY(mutex_) = 0;
};

class ThriftServerTest : public ::testing::Test {
 protected:
  ThriftServerTest() { Start({}); }
  ~ThriftServerTest() override { master_.Hold(false); }

  void Start(ThriftServerOptions options) {
    server_.reset();
    options.address = {"127.0.0.1", 0};
    auto server = ThriftServer::Start(
        options, master_, [] { return Term{3}; }, TheClock());
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = std::move(server).value();
  }
  std::unique_ptr<MasterApi> Remote() {
    return MakeRemoteMaster({.address = server_->address()}, TheClock());
  }
  FrameSocket Connected() {
    auto socket = FrameSocket::Connect(server_->address(), TheClock(), Soon());
    EXPECT_TRUE(socket.ok()) << socket.status();
    return std::move(socket).value();
  }
  static void SendRaw(FrameSocket& socket, const std::string& bytes) {
    ASSERT_EQ(send(socket.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // The server's words, or "" when it closed without any.
  static std::string Answer(FrameSocket& socket) {
    const auto reply = socket.Receive(wire::kMaxFrameBytes, TheClock(), Soon(), Seconds(30));
    return reply.ok() ? std::string(AsText(*reply)) : "";
  }
  void ExpectServing() {
    const auto status = Remote()->GetStatus(Soon());
    EXPECT_TRUE(status.ok()) << status.status();
  }
  void AwaitConnections(size_t count) {
    while (server_->connections() != count) std::this_thread::yield();
  }

  TinyMaster master_;
  std::unique_ptr<ThriftServer> server_;
};

// A call as bytes: version word and type, name, sequence number, then `arguments`.
std::string Call(const std::string& name, const std::string& arguments) {
  std::string body = "\x80\x01\x00\x01"s;
  body += "\0\0\0"s + static_cast<char>(name.size()) + name + "\0\0\0\0"s + arguments;
  return "\0\0"s + static_cast<char>(body.size() >> 8) + static_cast<char>(body.size()) + body;
}

TEST_F(ThriftServerTest, AnswersACall) {
  const auto status = Remote()->GetStatus(Soon());
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(status->version, "tiny");
}

TEST_F(ThriftServerTest, CountsHowLongEachCallTook) {
  const auto latencies = std::make_unique<CallLatencies>();
  ASSERT_NO_FATAL_FAILURE(Start({.latencies = latencies.get()}));
  const auto remote = Remote();
  EXPECT_TRUE(remote->GetStatus(Soon()).ok());
  const ObjectName name{"t", "k"};
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(remote->BatchGetReplicaList({&name, 1}, Soon())[0].ok());
  FrameSocket socket = Connected();
  SendRaw(socket, Call("NoSuchCall", "\0"s));
  EXPECT_NE(Answer(socket), "");
  const auto counted = [&](MasterCall call) {
    const auto& counts = (*latencies)[static_cast<size_t>(call)].counts;
    return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  };
  EXPECT_EQ(counted(MasterCall::kGetStatus), 1u);
  EXPECT_EQ(counted(MasterCall::kGetReplicaList), 2u);
  EXPECT_EQ(counted(MasterCall::kPing), 0u);
  server_.reset();
}

// A call without a name would be missing in the metrics and in `mooncake-admin top`.
TEST(CallNamesTest, EveryCallOfTheProtocolHasOne) {
  std::ifstream file(testing::SourcePath("master/api/idl/master.thrift"));
  ASSERT_TRUE(file);
  size_t calls = 0;
  std::string line;
  while (std::getline(file, line) && line != "service MasterRpc {") {
  }
  while (std::getline(file, line) && line != "}") {
    const size_t end = line.find("(1:");
    if (end == std::string::npos) continue;
    const size_t begin = line.rfind(' ', end) + 1;
    EXPECT_TRUE(CallOfRpc(line.substr(begin, end - begin)).has_value()) << line;
    ++calls;
  }
  EXPECT_EQ(calls, kMasterCalls);
}

TEST_F(ThriftServerTest, PassesOnAnErrorOfTheMaster) {
  EXPECT_EQ(Remote()->GetClients(Soon()).status(), Status(ErrorCode::kNotSupported, "NullMaster"));
}

TEST_F(ThriftServerTest, AnswersMalformedEntriesByThemselves) {
  const std::vector<ObjectName> names = {
      {"t", "a"}, {"t", ""}, {"t", "b"}, {"t", std::string(kMaxKeyBytes + 1, 'x')}};
  const auto answers = Remote()->BatchRemove(names, false, Soon());
  ASSERT_EQ(answers.size(), 4u);
  EXPECT_EQ(answers[0], Status(ErrorCode::kObjectNotFound, "a"));
  EXPECT_EQ(answers[1].code(), ErrorCode::kInvalidKey);
  EXPECT_EQ(answers[2], Status(ErrorCode::kObjectNotFound, "b"));
  EXPECT_EQ(answers[3].code(), ErrorCode::kInvalidKey);
}

TEST_F(ThriftServerTest, AnswersALargestBatchOfLongestKeys) {
  // 64 MiB of keys: several requests on the wire.
  const std::vector<ObjectName> names(kMaxBatch, ObjectName{"t", std::string(kMaxKeyBytes, 'x')});
  const auto answers = Remote()->BatchRemove(names, false, Soon());
  ASSERT_EQ(answers.size(), kMaxBatch);
  EXPECT_EQ(answers.front().code(), ErrorCode::kObjectNotFound);
  EXPECT_EQ(answers.back().code(), ErrorCode::kObjectNotFound);
}

TEST_F(ThriftServerTest, SaysThatAnAnswerIsTooLong) {
  auto master = Remote();
  const auto list = master->ListObjects({}, Soon());
  EXPECT_EQ(list.code(), ErrorCode::kRpcFail);
  EXPECT_NE(list.message().find("ask for less"), std::string::npos) << list.message();
  EXPECT_TRUE(master->GetStatus(Soon()).ok());
}

TEST_F(ThriftServerTest, AnswersAnUnknownCallWithAnError) {
  FrameSocket socket = Connected();
  SendRaw(socket, Call("Nonsense", "\0"s));
  EXPECT_NE(Answer(socket).find("Nonsense"), std::string::npos);
}

TEST_F(ThriftServerTest, RefusesHostileBytesAndServesOn) {
  const std::string list_of_2g =
      Call("BatchPutStart", "\x0c\x00\x01\x0f\x00\x02\x0c\x7f\xff\xff\xff"s);
  const std::string negative_list =
      Call("BatchPutStart", "\x0c\x00\x01\x0f\x00\x02\x0c\xff\xff\xff\xff"s);
  const std::string negative_string =
      Call("BatchStat", "\x0c\x00\x01\x0f\x00\x02\x0c\0\0\0\1\x0b\x00\x01\x80\0\0\0"s);
  const std::string cut_short = Call("BatchStat", "\x0c\x00\x01\x0f"s);
  for (const std::string& bytes : {list_of_2g, negative_list, negative_string, cut_short}) {
    FrameSocket socket = Connected();
    SendRaw(socket, bytes);
    EXPECT_NE(Answer(socket).find("malformed request"), std::string::npos);
    // Nothing that follows on this connection would be believed.
    EXPECT_EQ(Answer(socket), "");
  }
  ExpectServing();
}

TEST_F(ThriftServerTest, ClosesOnFramesThatAreNoCall) {
  for (const std::string& bytes :
       {"\x7f\xff\xff\xff"s, "\xff\xff\xff\xff"s, "GET / HTTP/1.0\r\n\r\n"s}) {
    FrameSocket socket = Connected();
    SendRaw(socket, bytes);
    EXPECT_EQ(Answer(socket), "");
  }
  FrameSocket socket = Connected();
  SendRaw(socket, "\0\0\0\0"s);  // an empty frame
  EXPECT_NE(Answer(socket).find("malformed request"), std::string::npos);
  ExpectServing();
}

TEST_F(ThriftServerTest, SilentAndHalfFinishedPeersHinderNobody) {
  FrameSocket silent = Connected();
  FrameSocket half = Connected();
  SendRaw(half, "\0\0\1\0half"s);
  AwaitConnections(2);
  ExpectServing();
  server_->Stop();
  EXPECT_EQ(Answer(silent), "");
  EXPECT_EQ(Answer(half), "");
}

TEST_F(ThriftServerTest, TellsAConnectionBeyondTheLimitAndRecovers) {
  Start({.max_connections = 1});
  auto first = Remote();
  ASSERT_TRUE(first->GetStatus(Soon()).ok());
  const auto refused = Remote()->GetStatus(Soon());
  EXPECT_EQ(refused.code(), ErrorCode::kRpcFail);
  EXPECT_NE(refused.message().find("max_connections"), std::string::npos) << refused.message();
  EXPECT_EQ(server_->refused(), 1u);
  first.reset();
  AwaitConnections(0);
  ExpectServing();
}

TEST_F(ThriftServerTest, ClosesIdleConnectionsWhenAsked) {
  Start({.idle_timeout = Millis(20)});
  FrameSocket idle = Connected();
  EXPECT_EQ(Answer(idle), "");
  ExpectServing();
}

TEST_F(ThriftServerTest, LetsARequestInProgressFinishWhenItStops) {
  master_.Hold(true);
  Status got(ErrorCode::kInternal, "never answered");
  auto master = Remote();
  std::thread caller([&] { got = master->GetStatus(Soon()).status(); });
  master_.AwaitCalls(1);
  std::thread stopper([&] { server_->Stop(); });
  master_.Hold(false);
  caller.join();
  stopper.join();
  EXPECT_EQ(got, Status::Ok());
  EXPECT_EQ(server_->connections(), 0u);
}

TEST_F(ThriftServerTest, StopsTwiceAndRefusesAfterwards) {
  server_->Stop();
  server_->Stop();
  EXPECT_EQ(server_->connections(), 0u);
}

TEST_F(ThriftServerTest, ServesManyThreadsAtOnce) {
  auto master = Remote();
  std::vector<std::thread> threads;
  std::atomic<int> ok{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) ok += master->GetStatus(Soon()).ok() ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ok.load(), 400);
}

TEST(ThriftServer, CannotStartOnAPortInUse) {
  TinyMaster master;
  const auto term = [] { return Term{1}; };
  const auto first = ThriftServer::Start({.address = {"127.0.0.1", 0}}, master, term, TheClock());
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second =
      ThriftServer::Start({.address = (*first)->address()}, master, term, TheClock());
  EXPECT_EQ(second.code(), ErrorCode::kRpcFail);
  EXPECT_NE(second.message().find("in use"), std::string::npos) << second.message();
}

}  // namespace
}  // namespace mooncake

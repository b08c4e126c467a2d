// libcurl against servers that misbehave.
#include "transfer/coord/http_post.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "transfer/base/check.h"
#include "transfer/base/unique_fd.h"

namespace mooncake {
namespace {

using ::testing::HasSubstr;

// Takes one connection, reads a request to its end, and says what the test wants.
class OneAnswer {
 public:
  explicit OneAnswer(std::function<void(int)> answer)
      : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    socklen_t length = sizeof(address);
    MC_CHECK(::bind(listener_.get(), any, length) == 0 && ::listen(listener_.get(), 1) == 0 &&
             ::getsockname(listener_.get(), any, &length) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, answer = std::move(answer)] {
      const UniqueFd connection(::accept(listener_.get(), nullptr, nullptr));
      if (!connection.valid()) return;
      ReadRequest(connection.get());
      answer(connection.get());
    });
  }
  ~OneAnswer() { thread_.join(); }

  std::string Url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/v3/kv/range"; }
  // After the reply.
  const std::string& request() const { return request_; }

  static void Say(int connection, const std::string& text) {
    (void)!::send(connection, text.data(), text.size(), MSG_NOSIGNAL);
  }
  // Until the other side has had enough.
  static void Wait(int connection) {
    char byte = 0;
    while (::read(connection, &byte, 1) > 0) continue;
  }

 private:
  void ReadRequest(int connection) {
    char buffer[4096];
    while (request_.find("\r\n\r\n") == std::string::npos || !request_.ends_with("}")) {
      const ssize_t n = ::read(connection, buffer, sizeof(buffer));
      if (n <= 0) return;
      request_.append(buffer, static_cast<size_t>(n));
    }
  }

  UniqueFd listener_;
  uint16_t port_ = 0;
  std::string request_;
  std::thread thread_;
};

Result<HttpReply> Ask(const std::string& url, Duration timeout = Seconds(20)) {
  return PostByCurl(
      {.url = url, .body = R"({"key":"a2V5"})", .timeout = timeout, .max_reply_bytes = 1000});
}

TEST(HttpPost, CarriesTheBodyAndGivesStatusAndReply) {
  OneAnswer server([](int connection) {
    OneAnswer::Say(connection, "HTTP/1.1 418 Teapot\r\nContent-Length: 5\r\n\r\nhello");
  });
  const auto reply = Ask(server.Url());
  ASSERT_TRUE(reply.ok()) << reply.message();
  EXPECT_EQ(reply->status, 418);
  EXPECT_EQ(reply->body, "hello");
  EXPECT_THAT(server.request(), ::testing::StartsWith("POST /v3/kv/range HTTP/1.1\r\n"));
  EXPECT_THAT(server.request(), HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(server.request(), ::testing::EndsWith("\r\n\r\n{\"key\":\"a2V5\"}"));
}

TEST(HttpPost, DoesNotFollowARedirection) {
  OneAnswer server([](int connection) {
    OneAnswer::Say(
        connection,
        "HTTP/1.1 307 Elsewhere\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n");
  });
  const auto reply = Ask(server.Url());
  ASSERT_TRUE(reply.ok()) << reply.message();
  EXPECT_EQ(reply->status, 307);
}

TEST(HttpPost, ASilentServerCostsTheTimeoutOnly) {
  OneAnswer server([](int connection) { OneAnswer::Wait(connection); });
  EXPECT_EQ(Ask(server.Url(), Millis(50)).code(), ErrorCode::kRpcTimeout);
}

TEST(HttpPost, AReplyThatNeverEndsCostsTheTimeoutOnly) {
  OneAnswer server([](int connection) {
    OneAnswer::Say(connection, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell");
    OneAnswer::Wait(connection);
  });
  EXPECT_EQ(Ask(server.Url(), Millis(50)).code(), ErrorCode::kRpcTimeout);
}

TEST(HttpPost, HalfAReplyIsNone) {
  OneAnswer server([](int connection) {
    OneAnswer::Say(connection, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell");
  });
  EXPECT_EQ(Ask(server.Url()).code(), ErrorCode::kRpcFail);
}

TEST(HttpPost, AReplyBeyondTheBoundIsCutOff) {
  for (const char* framing : {"Content-Length: 1000000000000", "Transfer-Encoding: chunked"}) {
    OneAnswer server([framing](int connection) {
      OneAnswer::Say(connection, std::string("HTTP/1.1 200 OK\r\n") + framing + "\r\n\r\n");
      const std::string piece = "400\r\n" + std::string(1024, 'x') + "\r\n";
      while (::send(connection, piece.data(), piece.size(), MSG_NOSIGNAL) > 0) continue;
    });
    const auto reply = Ask(server.Url());
    EXPECT_EQ(reply.code(), ErrorCode::kRpcFail) << framing;
    EXPECT_THAT(reply.message(), HasSubstr("more than 1000 bytes")) << framing;
  }
}

TEST(HttpPost, AnswersThatAreNotHttpAreNone) {
  for (const char* words : {"", "SSH-2.0-OpenSSH_9.2\r\n\r\n", "\x16\x03\x01"}) {
    OneAnswer server([words](int connection) { OneAnswer::Say(connection, words); });
    EXPECT_EQ(Ask(server.Url()).code(), ErrorCode::kRpcFail) << words;
  }
}

TEST(HttpPost, NobodyThereOrAnotherSchemeIsAnErrorAtOnce) {
  EXPECT_EQ(Ask("http://127.0.0.1:1/").code(), ErrorCode::kRpcFail);
  EXPECT_EQ(Ask("file:///etc/passwd").code(), ErrorCode::kRpcFail);
  EXPECT_EQ(Ask("").code(), ErrorCode::kRpcFail);
}

}  // namespace
}  // namespace mooncake

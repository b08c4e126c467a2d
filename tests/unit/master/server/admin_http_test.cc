// The HTTP pages, asked over loopback.
#include "master/server/admin_http.h"

#include <sys/socket.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "master/api/wire_socket.h"
#include "tests/support/memory_quota_policies.h"
#include "tests/support/memory_state_store.h"
#include "tests/support/wait.h"
#include "transfer/base/manual_clock.h"

namespace mooncake {
namespace {

// One server for all tests: stopping it takes a second.
struct World {
  World() {
    service =
        std::move(MasterService::Create({.term = Term{7}, .seed = 1, .background = false}, clock))
            .value();
    auto started = AdminHttp::Start({"127.0.0.1", 0}, *service, [] {
      return ConnectionNumbers{5, 6};
    });
    EXPECT_TRUE(started.ok()) << started.status();
    http = std::move(started).value();
  }
  ManualClock clock;
  std::unique_ptr<MasterService> service;
  std::unique_ptr<AdminHttp> http;
};

// The whole answer, status line and all.
std::string AskAt(const HostPort& address, const std::string& path, const std::string& method,
                  const std::string& body = "") {
  const Clock& clock = SystemClock();
  auto socket = wire::FrameSocket::Connect(address, clock, clock.Now() + Seconds(30));
  EXPECT_TRUE(socket.ok()) << socket.status();
  const std::string request = method + " " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: " +
                              std::to_string(body.size()) + "\r\n\r\n" + body;
  EXPECT_EQ(send(socket->fd(), request.data(), request.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(request.size()));
  std::string answer;
  std::array<char, 4096> bytes{};
  for (;;) {
    const ssize_t got = recv(socket->fd(), bytes.data(), bytes.size(), 0);
    if (got == 0 || (got < 0 && errno != EAGAIN)) return answer;
    if (got > 0) answer.append(bytes.data(), static_cast<size_t>(got));
  }
}

class AdminHttpTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { world_ = new World; }
  static void TearDownTestSuite() {
    delete world_;
    world_ = nullptr;
  }

  std::string Ask(const std::string& path, const std::string& method = "GET") {
    return AskAt(address(), path, method);
  }

  static MasterService& service() { return *world_->service; }
  static const HostPort& address() { return world_->http->address(); }

 private:
  static World* world_;
};
World* AdminHttpTest::world_ = nullptr;

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(AdminHttpTest, ConnectionsThatSayNothingDoNotBlockIt) {
  const Clock& clock = SystemClock();
  std::vector<wire::FrameSocket> silent;
  for (int i = 0; i < 16; ++i) {
    auto socket = wire::FrameSocket::Connect(address(), clock, clock.Now() + Seconds(30));
    ASSERT_TRUE(socket.ok()) << socket.status();
    silent.push_back(std::move(*socket));
  }
  EXPECT_TRUE(Contains(Ask("/health"), "HTTP/1.1 200"));
  // It answered while it still had the others, not because it gave them up.
  for (const auto& socket : silent) {
    char byte = 0;
    EXPECT_LT(recv(socket.fd(), &byte, 1, MSG_DONTWAIT | MSG_PEEK), 0);
  }
}

TEST_F(AdminHttpTest, AnswersItsPages) {
  const ClientId node{1, 2};
  ASSERT_TRUE(service().Ping(node, "n", kNever).ok());
  ASSERT_EQ(service().MountSegment(node,
                                   {.id = {3, 4},
                                    .name = "seg\"1",
                                    .size = 1 << 20,
                                    .epoch = AccessEpoch{1},
                                    .owner = node,
                                    .host_id = "h",
                                    .protocol = "tcp",
                                    .endpoint = "h:1"},
                                   kNever),
            Status::Ok());
  const std::string health = Ask("/health");
  EXPECT_TRUE(Contains(health, "HTTP/1.1 200") && Contains(health, "application/json") &&
              Contains(health, "\"service_ready\": true"))
      << health;
  EXPECT_TRUE(Contains(Ask("/ready"), "HTTP/1.1 200"));
  EXPECT_TRUE(Contains(Ask("/metrics"), "master_rpc_connections 5\n"));
  EXPECT_TRUE(Contains(Ask("/metrics"), "segment=\"seg\\\"1\"}"));
  EXPECT_TRUE(Contains(Ask("/metrics/summary"), "segments=1"));
  EXPECT_TRUE(Contains(Ask("/get_all_segments"), "\r\n\r\nseg\"1\n"));
  EXPECT_TRUE(Contains(Ask("/get_segments_detail"), "\"segment_name\": \"seg\\\"1\""));
}

TEST_F(AdminHttpTest, HealthAndMetricsTellOfTheStorageOfAMasterThatHasOne) {
  EXPECT_FALSE(Contains(Ask("/health"), "\"log\""));
  EXPECT_FALSE(Contains(Ask("/metrics"), "master_log_"));
  auto disk = std::make_shared<testing::MemoryDisk>();
  MasterServiceOptions options;
  options.background = false;
  options.core.durability = core::Durability::kAsync;
  options.log.retry_every = Millis(1);
  auto durable = MasterService::Create(options, SystemClock(),
                                       std::make_unique<testing::MemoryStateStore>(disk));
  ASSERT_TRUE(durable.ok()) << durable.message();
  auto http = AdminHttp::Start({"127.0.0.1", 0}, **durable, [] { return ConnectionNumbers{}; });
  ASSERT_TRUE(http.ok()) << http.message();
  const auto ask = [&](const std::string& path) { return AskAt((*http)->address(), path, "GET"); };
  EXPECT_TRUE(Contains(ask("/health"), "\"status\": \"ok\"")) << ask("/health");

  disk->SetFull(true);
  const ClientId node{1, 2};
  ASSERT_TRUE((*durable)->Ping(node, "n", kNever).ok());
  const SegmentDescriptor segment{.id = {3, 4},
                                  .name = "s",
                                  .size = 1 << 20,
                                  .epoch = AccessEpoch{1},
                                  .owner = node,
                                  .host_id = "h",
                                  .protocol = "tcp",
                                  .endpoint = "h:1",
                                  .local_socket = ""};
  ASSERT_EQ((*durable)->MountSegment(node, segment, kNever), Status::Ok());
  EXPECT_TRUE(testing::Eventually([&] { return Contains(ask("/health"), "no space left"); }));
  EXPECT_TRUE(Contains(ask("/health"), "\"status\": \"degraded\""));
  EXPECT_TRUE(Contains(ask("/health"), "HTTP/1.1 200"));
  EXPECT_TRUE(Contains(ask("/metrics"), "master_log_failing 1\n"));
  EXPECT_TRUE(Contains(ask("/metrics"), "master_log_waiting_records 1\n"));

  disk->SetFull(false);
  ASSERT_TRUE((*durable)->TakeSnapshot(kNever).ok());
  const std::string metrics = ask("/metrics");
  for (const char* line :
       {"master_snapshot_success_total 1\n", "master_snapshot_fail_total 0\n",
        "master_snapshot_duration_ms_bucket{le=\"+Inf\"} 1\n",
        "master_snapshot_duration_ms_count 1\n", "master_log_durable_sequence 1\n",
        "master_log_commits_total 1\n", "master_log_failing 0\n", "master_log_held_bytes 0\n",
        "# HELP master_log_held_bytes ", "master_take_snapshot_requests_total 1\n"}) {
    EXPECT_TRUE(Contains(metrics, line)) << line << metrics;
  }
  EXPECT_TRUE(Contains(ask("/health"), "\"status\": \"ok\"")) << ask("/health");
}

TEST_F(AdminHttpTest, RefusesWhatItHasNot) {
  EXPECT_TRUE(Contains(Ask("/nothing"), "HTTP/1.1 404"));
  EXPECT_TRUE(Contains(Ask("/metrics", "POST"), "HTTP/1.1 405"));
  EXPECT_TRUE(Contains(Ask("/health", "HEAD"), "HTTP/1.1 200"));
}

TEST_F(AdminHttpTest, SaysWhyAPortCannotBeHad) {
  const auto second = AdminHttp::Start(address(), service(), [] { return ConnectionNumbers{}; });
  EXPECT_EQ(second.code(), ErrorCode::kRpcFail);
  EXPECT_TRUE(Contains(second.message(), "in use")) << second.message();
}

TEST(AdminHttpTestOfQuotas, QuotasAreSetAndReadOverHttp) {
  ManualClock clock;
  MasterServiceOptions options;
  options.background = false;
  options.core.multi_tenants = true;
  auto service = MasterService::Create(
      options, clock, nullptr,
      std::make_unique<testing::MemoryQuotaPolicyStore>(std::make_shared<testing::PolicyPlace>()));
  ASSERT_TRUE(service.ok()) << service.status();
  auto http = AdminHttp::Start({"127.0.0.1", 0}, **service, [] { return ConnectionNumbers{}; });
  ASSERT_TRUE(http.ok()) << http.status();
  const HostPort address = (*http)->address();
  const std::string path = "/api/v1/tenant_quotas?tenant_id=t";
  const std::string body = "{\"requested_quota_bytes\": 4096}";
  EXPECT_TRUE(Contains(AskAt(address, path, "GET"), "HTTP/1.1 404 Not Found"));
  EXPECT_TRUE(Contains(AskAt(address, path, "PUT", body), "HTTP/1.1 200"));
  EXPECT_TRUE(Contains(AskAt(address, path, "GET"), "\"requested_quota_bytes\":4096"));
  EXPECT_TRUE(Contains(AskAt(address, path, "PUT", "{"), "HTTP/1.1 400 Bad Request"));
  EXPECT_TRUE(Contains(AskAt(address, path, "PUT", std::string(100000, ' ')), "HTTP/1.1 400"));
  EXPECT_TRUE(Contains(AskAt(address, path, "DELETE"), "HTTP/1.1 200"));
  EXPECT_TRUE(Contains(AskAt(address, path, "PATCH"), "HTTP/1.1 405"));
}

TEST_F(AdminHttpTest, AMasterWithoutQuotasSaysSo) {
  EXPECT_TRUE(Contains(Ask("/api/v1/tenant_quotas"), "HTTP/1.1 409 Conflict"));
}

}  // namespace
}  // namespace mooncake

// A master with quotas: what is kept before it counts, what happens when it cannot be kept, and the pages for scripts.
#include <memory>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "master/server/master_service.h"
#include "master/server/metrics_text.h"
#include "master/server/quota_http.h"
#include "tests/support/memory_quota_policies.h"
#include "transfer/base/manual_clock.h"

namespace mooncake {
namespace {

using testing::MemoryQuotaPolicyStore;
using testing::PolicyPlace;

constexpr ClientId kNode{1, 2};

class QuotaService : public ::testing::Test {
 protected:
  Result<std::unique_ptr<MasterService>> Start() {
    MasterServiceOptions options;
    options.term = Term{++term_};
    options.seed = 1;
    options.background = false;
    options.core.multi_tenants = true;
    return MasterService::Create(options, clock_, nullptr,
                                 std::make_unique<MemoryQuotaPolicyStore>(place_));
  }
  MasterService& master() {
    if (master_ == nullptr) {
      master_ = std::move(Start()).value();
      EXPECT_EQ(master_->MountSegment(kNode,
                                      {.id = {3, 4},
                                       .name = "s",
                                       .size = 1 << 20,
                                       .epoch = AccessEpoch{1},
                                       .owner = kNode,
                                       .host_id = "h",
                                       .protocol = "tcp",
                                       .endpoint = "h:1"},
                                      kNever),
                Status::Ok());
    }
    return *master_;
  }
  ErrorCode Write(const std::string& tenant, uint64_t size) {
    const PutStartArgs args[] = {{.client = kNode, .name = {tenant, "k"}, .size = size}};
    return master().BatchPutStart(args, kNever)[0].code();
  }
  nlohmann::json Http(const std::string& method, const std::string& query, int status,
                      const std::string& body = "") {
    const QuotaAnswer answer = AnswerQuotas(master(), method, query, body);
    EXPECT_EQ(answer.status, status) << method << " " << query << ": " << answer.body;
    return nlohmann::json::parse(answer.body);
  }

  ManualClock clock_;
  std::shared_ptr<PolicyPlace> place_ = std::make_shared<PolicyPlace>();
  uint64_t term_ = 0;
  std::unique_ptr<MasterService> master_;
};

TEST_F(QuotaService, WhatWasSetIsThereAfterARestart) {
  ASSERT_TRUE(master().SetQuota("t", 1000, kNever).ok());
  ASSERT_TRUE(master().SetQuota("u", 2000, kNever).ok());
  ASSERT_TRUE(master().DeleteQuota("u", kNever).ok());
  master_.reset();
  const auto list = master().ListQuotas("", 10, kNever);
  ASSERT_TRUE(list.ok());
  ASSERT_EQ(list->quotas.size(), 1u);
  EXPECT_EQ(list->quotas[0].tenant, "t");
  EXPECT_EQ(list->quotas[0].requested, 1000u);
}

TEST_F(QuotaService, WhatCannotBeKeptChangesNothing) {
  ASSERT_TRUE(master().SetQuota("t", 1000, kNever).ok());
  place_->during_save = [] { return Status(ErrorCode::kPersistentFail, "disk full"); };
  EXPECT_EQ(master().SetQuota("t", 2000, kNever).code(), ErrorCode::kPersistentFail);
  EXPECT_EQ(master().GetQuota("t", kNever)->requested, 1000u);
  EXPECT_EQ(master().SetQuota("new", 1, kNever).code(), ErrorCode::kPersistentFail);
  EXPECT_EQ(Write("new", 1), ErrorCode::kTenantNotRegistered);
  EXPECT_EQ(master().DeleteQuota("t", kNever).code(), ErrorCode::kPersistentFail);
  EXPECT_EQ(Write("t", 100), ErrorCode::kOk) << "admission is open again";
}

TEST_F(QuotaService, IsClosedWhileItsDeletionIsBeingKept) {
  ASSERT_TRUE(master().SetQuota("t", 1000, kNever).ok());
  ErrorCode seen = ErrorCode::kOk;
  place_->during_save = [&] {
    seen = Write("t", 100);
    return Status::Ok();
  };
  ASSERT_TRUE(master().DeleteQuota("t", kNever).ok());
  EXPECT_EQ(seen, ErrorCode::kTenantNotRegistered);
}

TEST_F(QuotaService, NobodyWaitsForAStorageThatHangs) {
  std::thread other;
  ErrorCode change = ErrorCode::kOk;
  ErrorCode read = ErrorCode::kInternal;
  place_->during_save = [&] {
    other = std::thread([&] {
      change = master().SetQuota("u", 1, kNever).code();
      read = master().GetQuota("t", kNever).code();
    });
    other.join();
    return Status::Ok();
  };
  ASSERT_TRUE(master().SetQuota("t", 1000, kNever).ok());
  EXPECT_EQ(change, ErrorCode::kUnavailableInCurrentStatus);
  EXPECT_EQ(read, ErrorCode::kTenantNotRegistered) << "not set yet, but answered";
}

TEST_F(QuotaService, AMasterDoesNotStartWithoutKnowingThem) {
  place_->SetFault({ErrorCode::kPersistentFail, "no such file"});
  const auto started = Start();
  EXPECT_EQ(started.code(), ErrorCode::kPersistentFail);
  EXPECT_NE(started.status().message().find("quotas of tenants"), std::string::npos);
}

TEST_F(QuotaService, TheModeAndItsStoreGoTogether) {
  MasterServiceOptions options;
  options.background = false;
  options.core.multi_tenants = true;
  EXPECT_EQ(MasterService::Create(options, clock_).code(), ErrorCode::kInvalidParams);
}

TEST_F(QuotaService, ThePagesAnswerAsDocumented) {
  EXPECT_EQ(Http("GET", "", 200)["data"].size(), 0u);
  const auto set = Http("PUT", "tenant_id=t%2F1", 200, R"({"requested_quota_bytes": 4096})");
  EXPECT_EQ(set["success"], true);
  EXPECT_EQ(set["data"]["tenant_id"], "t/1");
  EXPECT_EQ(set["data"]["requested_quota_bytes"], 4096);
  EXPECT_EQ(set["data"]["effective_quota_bytes"], 4096);
  EXPECT_EQ(set["data"]["charged_bytes"], 0);
  EXPECT_EQ(set["data"]["admission_closed"], false);
  EXPECT_EQ(set["data"]["over_quota"], false);
  EXPECT_EQ(set["data"]["has_explicit_policy"], true);
  EXPECT_EQ(Http("GET", "tenant_id=t%2F1", 200)["data"], set["data"]);
  EXPECT_EQ(Http("GET", "", 200)["data"].size(), 1u);
  EXPECT_EQ(Write("t/1", 1000), ErrorCode::kOk);
  const auto refused = Http("DELETE", "tenant_id=t%2F1", 409);
  EXPECT_EQ(refused["success"], false);
  EXPECT_EQ(refused["error_code"], -1702);
  EXPECT_EQ(Http("GET", "tenant_id=nobody", 404)["error_code"], -1701);
  EXPECT_EQ(Http("DELETE", "tenant_id=nobody", 404)["error_code"], -1701);
  ASSERT_TRUE(master().SetQuota("empty", 5, kNever).ok());
  EXPECT_EQ(Http("DELETE", "tenant_id=empty", 200)["data"]["requested_quota_bytes"], 5);
}

TEST_F(QuotaService, ThePagesRefuseWhatMakesNoSense) {
  const std::string good = R"({"requested_quota_bytes": 1})";
  for (const char* query :
       {"", "tenant_id=", "tenant_id=%4", "tenant_id=%zz", "tenant_id=a&tenant_id=b", "tenant=a"}) {
    Http("PUT", query, 400, good);
  }
  Http("PUT", "tenant_id=" + std::string(300, 'x'), 400, good);
  for (const char* body :
       {"", "{", "[]", "7", "{}", R"({"requested_quota_bytes": 0})",
        R"({"requested_quota_bytes": -1})", R"({"requested_quota_bytes": 1.5})",
        R"({"requested_quota_bytes": "1"})", R"({"requested_quota_bytes": 9223372036854775808})",
        R"({"requested_quota_bytes": 99999999999999999999999})"}) {
    Http("PUT", "tenant_id=t", 400, body);
  }
  Http("PUT", "tenant_id=t", 400, good + std::string(kMaxQuotaBody, ' '));
  Http("POST", "tenant_id=t", 405, good);
  Http("DELETE", "", 400);
  place_->during_save = [] { return Status(ErrorCode::kPersistentFail, "disk full"); };
  EXPECT_EQ(Http("PUT", "tenant_id=t", 500, good)["success"], false);
  EXPECT_EQ(Http("GET", "", 200)["data"].size(), 0u);
}

TEST_F(QuotaService, MetricsTellOfEachTenant) {
  ASSERT_TRUE(master().SetQuota("t\"1", 8192, kNever).ok());
  ASSERT_EQ(Write("t\"1", 1000), ErrorCode::kOk);
  ASSERT_EQ(Write("u", 1000), ErrorCode::kTenantNotRegistered);
  const std::string text = MetricsText(master(), {});
  const auto says = [&](const std::string& line) {
    return text.find("\n" + line + "\n") != std::string::npos;
  };
  EXPECT_TRUE(says(R"(mooncake_tenant_quota_requested_bytes{tenant_id="t\"1"} 8192)")) << text;
  EXPECT_TRUE(says(R"(mooncake_tenant_quota_charged_bytes{tenant_id="t\"1"} 1088)")) << text;
  EXPECT_TRUE(says("mooncake_tenant_quota_effective_bytes_sum 8192"));
  EXPECT_TRUE(says("mooncake_tenant_quota_allocatable_capacity_bytes 1048576"));
  EXPECT_TRUE(says("mooncake_tenant_quota_unregistered_reject_total 1"));
}

TEST_F(QuotaService, NoTenantsNameSpoilsTheMetricsOfAll) {
  for (const char* name : {"a b", "a\nb", "a\xff"})
    ASSERT_TRUE(master().SetQuota(name, 8192, kNever).ok());
  const std::string text = MetricsText(master(), {});
  for (const char* label : {"a b", R"(a\\x0ab)", R"(a\\xff)"}) {
    const std::string series =
        std::string("\nmooncake_tenant_quota_requested_bytes{tenant_id=\"") + label + "\"} 8192\n";
    const size_t found = text.find(series);
    ASSERT_NE(found, std::string::npos) << series << text;
    EXPECT_EQ(text.find(series, found + 1), std::string::npos) << label;
  }
  EXPECT_EQ(text.find('\xff'), std::string::npos);
}

}  // namespace
}  // namespace mooncake

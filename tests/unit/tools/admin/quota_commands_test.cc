// quota list, get, set, delete, on a master that answers what the test wants.
#include <sstream>
#include <utility>

#include <gtest/gtest.h>

#include "tests/support/null_master.h"
#include "tools/admin/command_line.h"
#include "tools/admin/json_view.h"
#include "transfer/base/manual_clock.h"

namespace mooncake::admin {
namespace {

struct Books {
  std::vector<TenantQuota> quotas;
  Status refusal;
  size_t page = kMaxListLimit;
  int changes = 0;
};

class Bookkeeper final : public testing::NullMaster {
 public:
  explicit Bookkeeper(Books& books) : books_(books) {}
  Result<TenantQuota> GetQuota(const std::string& tenant, TimePoint) override {
    if (!books_.refusal.ok()) return books_.refusal;
    for (const TenantQuota& quota : books_.quotas) {
      if (quota.tenant == tenant) return quota;
    }
    return {ErrorCode::kTenantNotRegistered, "tenant '" + tenant + "' has no quota"};
  }
  Result<TenantQuota> SetQuota(const std::string& tenant, uint64_t bytes, TimePoint) override {
    if (!books_.refusal.ok()) return books_.refusal;
    ++books_.changes;
    books_.quotas.push_back({.tenant = tenant, .requested = bytes, .effective = bytes});
    return books_.quotas.back();
  }
  Result<TenantQuota> DeleteQuota(const std::string& tenant, TimePoint deadline) override {
    ++books_.changes;
    return GetQuota(tenant, deadline);
  }
  Result<QuotaList> ListQuotas(const std::string& after, uint32_t, TimePoint) override {
    if (!books_.refusal.ok()) return books_.refusal;
    QuotaList list;
    for (const TenantQuota& quota : books_.quotas) {
      if (quota.tenant <= after) continue;
      if (list.quotas.size() == books_.page) {
        list.truncated = true;
        break;
      }
      list.quotas.push_back(quota);
    }
    return list;
  }

 private:
  Books& books_;
};

class QuotaCommands : public ::testing::Test {
 protected:
  QuotaCommands() {
    books_.quotas = {
        {.tenant = "alpha", .requested = 1 << 30, .effective = 1 << 30, .charged = 1 << 29},
        {.tenant = "beta", .requested = 100, .effective = 50, .charged = 60, .rejected = 7},
        {.tenant = "gone\x1b", .charged = 4096, .objects = 1, .admission_closed = true}};
  }
  ExitStatus Run(const std::vector<std::string>& arguments) {
    out_.str("");
    err_.str("");
    std::istringstream in(answer_);
    const Connector connector{.client = {}, .master = [&](const HostPort&) {
                                return std::make_unique<Bookkeeper>(books_);
                              }};
    return RunLine(arguments, {},
                   {.out = out_,
                    .err = err_,
                    .in = in,
                    .can_ask = !answer_.empty(),
                    .progress = false,
                    .width = 100},
                   connector, clock_);
  }
  bool Says(const std::string& text) const { return out_.str().find(text) != std::string::npos; }

  ManualClock clock_;
  Books books_;
  std::string answer_;  // to questions; empty: nobody is there to ask
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(QuotaCommands, ListShowsEachTenantAndHowItStands) {
  books_.page = 2;
  EXPECT_EQ(Run({"quota", "list"}), ExitStatus::kOk);
  EXPECT_TRUE(Says("50.0%") && Says("alpha") && Says("over: writes wait") && Says("no quota"))
      << out_.str();
  EXPECT_FALSE(Says("\x1b"));
  EXPECT_EQ(Run({"quota", "list", "--json"}), ExitStatus::kOk);
  const Json quotas = Json::parse(out_.str())["quotas"];
  ASSERT_EQ(quotas.size(), 3u);
  EXPECT_EQ(quotas[1]["rejected"], 7);
  EXPECT_EQ(quotas[1]["over_quota"], true);
  EXPECT_EQ(quotas[2]["has_policy"], false);
}

TEST_F(QuotaCommands, AnEmptyListSaysWhatToDo) {
  books_.quotas.clear();
  EXPECT_EQ(Run({"quota", "list"}), ExitStatus::kOk);
  EXPECT_NE(err_.str().find("quota set"), std::string::npos);
}

TEST_F(QuotaCommands, SetTakesHumanSizes) {
  EXPECT_EQ(Run({"quota", "set", "new", "200G", "--json"}), ExitStatus::kOk);
  EXPECT_EQ(Json::parse(out_.str())["requested"], uint64_t{200} << 30);
  EXPECT_EQ(Run({"quota", "get", "new"}), ExitStatus::kOk);
  EXPECT_TRUE(Says("200 GiB")) << out_.str();
}

TEST_F(QuotaCommands, WhatMakesNoSenseIsAUsageError) {
  EXPECT_EQ(Run({"quota", "set", "t", "lots"}), ExitStatus::kUsage);
  EXPECT_EQ(Run({"quota", "set", "t"}), ExitStatus::kUsage);
  EXPECT_EQ(Run({"quota"}), ExitStatus::kUsage);
  EXPECT_EQ(Run({"quota", "get"}), ExitStatus::kUsage);
}

TEST_F(QuotaCommands, RefusalsAreToldWithTheirCause) {
  EXPECT_EQ(Run({"quota", "get", "nobody"}), ExitStatus::kFailed);
  EXPECT_NE(err_.str().find("has no quota"), std::string::npos);
  books_.refusal = {ErrorCode::kUnavailableInCurrentMode, "start it with --enable_multi_tenants"};
  EXPECT_EQ(Run({"quota", "list"}), ExitStatus::kFailed);
  EXPECT_NE(err_.str().find("--enable_multi_tenants"), std::string::npos);
}

TEST_F(QuotaCommands, DeleteTellsWhatThereWas) {
  EXPECT_EQ(Run({"quota", "delete", "alpha", "--yes"}), ExitStatus::kOk);
  EXPECT_TRUE(Says("1 GiB")) << out_.str();
}

TEST_F(QuotaCommands, WhatStopsWritesOrEvictsIsAskedFor) {
  for (const std::vector<std::string>& act :
       {std::vector<std::string>{"quota", "delete", "alpha"}, {"quota", "set", "alpha", "1M"}}) {
    EXPECT_EQ(Run(act), ExitStatus::kUsage) << "nobody is there to ask";
    EXPECT_NE(err_.str().find("--yes"), std::string::npos) << err_.str();
    for (const std::string no : {"n\n", "\n", "what?\n"}) {
      answer_ = no;
      EXPECT_EQ(Run(act), ExitStatus::kFailed);
      EXPECT_NE(err_.str().find("512 MiB"), std::string::npos) << err_.str();
    }
    auto look = act;
    look.push_back("--dry-run");
    EXPECT_EQ(Run(look), ExitStatus::kOk);
    EXPECT_TRUE(Says("512 MiB") && Says("nothing was changed")) << out_.str();
    EXPECT_EQ(books_.changes, 0);
    answer_ = "y\n";
    EXPECT_EQ(Run(act), ExitStatus::kOk);
    EXPECT_EQ(std::exchange(books_.changes, 0), 1);
    answer_.clear();
  }
}

TEST_F(QuotaCommands, WhatGivesMoreIsNotAskedFor) {
  EXPECT_EQ(Run({"quota", "set", "alpha", "2G", "--dry-run", "--json"}), ExitStatus::kOk);
  EXPECT_EQ(Json::parse(out_.str())["dry_run"], true);
  EXPECT_EQ(books_.changes, 0);
  EXPECT_EQ(Run({"quota", "set", "alpha", "2G"}), ExitStatus::kOk);
  EXPECT_EQ(books_.changes, 1);
}

}  // namespace
}  // namespace mooncake::admin

#include "tools/admin/command_line.h"

#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "transfer/base/manual_clock.h"

namespace mooncake::admin {
namespace {

// A store that cannot be reached: what got through to it is remembered.
class Line : public ::testing::Test {
 protected:
  ExitStatus Run(const std::vector<std::string>& arguments) {
    out_.str("");
    err_.str("");
    std::istringstream in;
    const Connector connector{
        .client = [&](const ClientOptions& options) -> Result<std::unique_ptr<Client>> {
          asked_ = options;
          return Status(ErrorCode::kRpcFail, "nobody at " + options.master);
        },
        .master = {}};
    return RunLine(arguments, {.master = "env:1"}, {.out = out_, .err = err_, .in = in}, connector,
                   clock_);
  }
  ManualClock clock_;
  ClientOptions asked_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(Line, HelpNamesEveryCommandAndTheExitStatuses) {
  EXPECT_EQ(Run({"--help"}), ExitStatus::kOk);
  for (const char* word :
       {"status", "segments", "clients", "health", "snapshot", "ls", "stat", "exists", "mv", "get",
        "put", "rm", "top", "config", "pin", "unpin", "Exit status"}) {
    EXPECT_NE(out_.str().find(word), std::string::npos) << word;
  }
  for (const char* command :
       {"status", "segments", "clients", "health", "top", "config", "snapshot", "quota", "ls",
        "stat", "exists", "mv", "pin", "unpin", "get", "put", "rm", "completion"}) {
    EXPECT_EQ(Run({command, "--help"}), ExitStatus::kOk);
    EXPECT_NE(out_.str().find("Example"), std::string::npos) << command;
  }
  EXPECT_EQ(Run({"rm", "--help"}), ExitStatus::kOk);
  EXPECT_NE(out_.str().find("SEARCHED"), std::string::npos);
  EXPECT_EQ(Run({"--version"}), ExitStatus::kOk);
}

// A shell that starts reads it, whatever its environment says of the store.
TEST_F(Line, CompletionNeedsNoStoreAndNoOptions) {
  EXPECT_EQ(Run({"--master=nowhere", "completion", "bash"}), ExitStatus::kOk);
  EXPECT_NE(out_.str().find("complete -F"), std::string::npos);
  EXPECT_EQ(Run({"completion", "fish"}), ExitStatus::kUsage);
}

TEST_F(Line, MistakesAreJsonForWhoAskedForIt) {
  for (const std::vector<std::string>& mistake : std::vector<std::vector<std::string>>{
           {"--json", "frobnicate"}, {"get", "--json"}, {"--json", "--master=nowhere", "status"}}) {
    EXPECT_EQ(Run(mistake), ExitStatus::kUsage) << mistake[0];
    const auto json = nlohmann::json::parse(out_.str(), nullptr, false);
    ASSERT_TRUE(json.is_object()) << out_.str();
    EXPECT_FALSE(json["error"]["message"].get<std::string>().empty());
    EXPECT_FALSE(err_.str().empty());
  }
  Run({"frobnicate"});
  EXPECT_EQ(out_.str(), "");
}

TEST_F(Line, MistakesAreUsageErrors) {
  const std::vector<std::vector<std::string>> mistakes = {{},
                                                          {"frobnicate"},
                                                          {"ls", "--frobnicate"},
                                                          {"get"},
                                                          {"get", "a", "b"},
                                                          {"mv", "a"},
                                                          {"stat"},
                                                          {"rm"},
                                                          {"put", "k", "f", "--replicas=0"},
                                                          {"put", "k", "f", "--replicas=17"},
                                                          {"ls", "--limit=0"},
                                                          {"rm", "--regex", "", "--yes"},
                                                          {"rm", "--regex", "x"},
                                                          {"get", ""},
                                                          {"get", std::string(4097, 'k')},
                                                          {"--timeout=never", "ls"},
                                                          {"status", "extra"},
                                                          {"snapshot"},
                                                          {"snapshot", "list", "extra"},
                                                          {"snapshot", "verify", "a", "b"}};
  for (const auto& mistake : mistakes) {
    EXPECT_EQ(Run(mistake), ExitStatus::kUsage) << (mistake.empty() ? "" : mistake[0]);
    EXPECT_EQ(out_.str(), "");
    EXPECT_NE(err_.str(), "");
  }
}

TEST_F(Line, OptionsMayStandBeforeAndBehindTheCommand) {
  EXPECT_EQ(Run({"--master=h:1", "--tenant", "t", "ls"}), ExitStatus::kUnreachable);
  EXPECT_EQ(asked_.master, "h:1");
  EXPECT_EQ(asked_.tenant, "t");
  EXPECT_EQ(Run({"ls", "--master", "h:2", "--timeout=3s"}), ExitStatus::kUnreachable);
  EXPECT_EQ(asked_.master, "h:2");
  EXPECT_EQ(asked_.timeout, Seconds(3));
  EXPECT_EQ(Run({"ls"}), ExitStatus::kUnreachable);
  EXPECT_EQ(asked_.master, "env:1");
}

TEST_F(Line, OddKeysReachTheCommandAsTheyAre) {
  for (const char* key : {"[a,b]", "[]", "ls", "a b", "\x1fq", "--", "-x"}) {
    EXPECT_EQ(Run({"get", "--", key}), ExitStatus::kUnreachable) << key;
    EXPECT_NE(err_.str().find("get '"), std::string::npos) << err_.str();
  }
  Run({"get", "[a,b]"});
  EXPECT_NE(err_.str().find("get '[a,b]'"), std::string::npos) << err_.str();
}

TEST_F(Line, AnErrorIsAlsoJsonIfAsked) {
  EXPECT_EQ(Run({"--json", "ls"}), ExitStatus::kUnreachable);
  EXPECT_NE(out_.str().find(R"("code":"RPC_FAIL")"), std::string::npos) << out_.str();
  EXPECT_NE(err_.str().find("nobody at env:1"), std::string::npos);
}

}  // namespace
}  // namespace mooncake::admin

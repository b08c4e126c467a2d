// snapshot and health, on a master that answers what the test wants.
#include <algorithm>
#include <optional>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/support/null_master.h"
#include "tools/admin/command_line.h"
#include "tools/admin/json_view.h"
#include "transfer/base/manual_clock.h"

namespace mooncake::admin {
namespace {

struct Answers {
  std::optional<Status> refusal;  // to every question about durability
  std::vector<SnapshotDescriptor> snapshots;
  SnapshotVerdict verdict{100, 0};
  DurabilityStatus durability;
  std::vector<SegmentInfo> segments;
  std::vector<std::string> verified;
};

class Scripted final : public testing::NullMaster {
 public:
  explicit Scripted(Answers& answers) : answers_(answers) {}
  Result<ClusterStatus> GetStatus(TimePoint) override {
    ClusterStatus status;
    status.uptime = Seconds(61);
    return status;
  }
  Result<std::vector<SegmentInfo>> GetSegments(std::span<const SegmentId>, TimePoint) override {
    return answers_.segments;
  }
  Result<SnapshotDescriptor> TakeSnapshot(TimePoint) override {
    if (answers_.refusal) return *answers_.refusal;
    return answers_.snapshots.front();
  }
  Result<std::vector<SnapshotDescriptor>> ListSnapshots(TimePoint) override {
    if (answers_.refusal) return *answers_.refusal;
    return answers_.snapshots;
  }
  Result<SnapshotVerdict> VerifySnapshot(const std::string& id, TimePoint) override {
    answers_.verified.push_back(id);
    return answers_.verdict;
  }
  Result<DurabilityStatus> GetDurability(TimePoint) override {
    if (answers_.refusal) return *answers_.refusal;
    return answers_.durability;
  }

 private:
  Answers& answers_;
};

class DurabilityCommands : public ::testing::Test {
 protected:
  DurabilityCommands() {
    answers_.snapshots = {{.id = "20260301_170405_123",
                           .records = 1234,
                           .bytes = 4096,
                           .begun_ms = clock_.WallNow().ns / 1'000'000 - 61'000,
                           .term = Term{7},
                           .from = 10,
                           .until = 20,
                           .trouble = ""},
                          {.id = "20260301_160000_000",
                           .records = 0,
                           .bytes = 17,
                           .begun_ms = 0,
                           .term = {},
                           .from = 0,
                           .until = 0,
                           .trouble = "the footer is damaged\x1b[31m"}};
    SegmentInfo segment;
    segment.status = SegmentStatus::kOk;
    answers_.segments = {segment};
  }
  ExitStatus Run(const std::vector<std::string>& arguments, bool terminal = false) {
    out_.str("");
    err_.str("");
    std::istringstream in;
    const Connector connector{.client = {}, .master = [&](const HostPort&) {
                                return std::make_unique<Scripted>(answers_);
                              }};
    return RunLine(arguments, {},
                   {.out = out_,
                    .err = err_,
                    .in = in,
                    .can_ask = false,
                    .progress = terminal,
                    .width = terminal ? 80 : 0},
                   connector, clock_);
  }

  ManualClock clock_;
  Answers answers_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(DurabilityCommands, ListShowsWhatThereIsAndWhatIsWrongWithIt) {
  EXPECT_EQ(Run({"snapshot", "list"}, true), ExitStatus::kOk);
  EXPECT_NE(out_.str().find("1m1s ago"), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("1,234"), std::string::npos) << out_.str();
  std::istringstream lines(out_.str());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 90u) << line;
  EXPECT_EQ(out_.str().find('\x1b'), std::string::npos);

  EXPECT_EQ(Run({"--json", "snapshot", "list"}), ExitStatus::kOk);
  const Json list = Json::parse(out_.str())["snapshots"];
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["usable"], true);
  EXPECT_EQ(list[0]["log_until"], 20);
  EXPECT_EQ(list[1]["usable"], false);
}

TEST_F(DurabilityCommands, NoSnapshotIsNoErrorOfTheList) {
  answers_.snapshots.clear();
  EXPECT_EQ(Run({"snapshot", "list"}), ExitStatus::kOk);
  EXPECT_EQ(out_.str(), "");
  EXPECT_NE(err_.str().find("snapshot now"), std::string::npos);
  EXPECT_EQ(Run({"snapshot", "verify"}), ExitStatus::kFailed);
}

TEST_F(DurabilityCommands, NowTellsWhatWasTakenAndWaitsVisiblyOnATerminal) {
  EXPECT_EQ(Run({"snapshot", "now"}), ExitStatus::kOk);
  EXPECT_EQ(out_.str(), "20260301_170405_123: 1,234 records, 4 KiB, in 0ms\n");
  EXPECT_EQ(err_.str(), "");
  Run({"snapshot", "now"}, true);
  EXPECT_NE(err_.str().find("taking a snapshot"), std::string::npos);
  EXPECT_TRUE(err_.str().ends_with("\r\033[K"));
}

TEST_F(DurabilityCommands, VerifyReadsOneOrAllAndFailsOnDamage) {
  EXPECT_EQ(Run({"snapshot", "verify", "20260301_170405_123"}), ExitStatus::kOk);
  EXPECT_EQ(answers_.verified, std::vector<std::string>{"20260301_170405_123"});
  EXPECT_EQ(Run({"snapshot", "verify"}), ExitStatus::kFailed) << "one has no footer";
  answers_.verdict.damaged = 3;
  EXPECT_EQ(Run({"--json", "snapshot", "verify", "20260301_170405_123"}), ExitStatus::kFailed);
  const Json verified = Json::parse(out_.str())["snapshots"][0];
  EXPECT_EQ(verified["ok"], false);
  EXPECT_EQ(verified["damaged"], 3);
}

TEST_F(DurabilityCommands, IdsAreCheckedAndLookedUp) {
  for (const char* id : {"../lock", "x", ""}) {
    const ExitStatus status = Run({"snapshot", "verify", "--", id});
    EXPECT_EQ(status, *id == '\0' ? ExitStatus::kFailed : ExitStatus::kUsage) << id;
  }
  EXPECT_EQ(Run({"snapshot", "verify", "1"}), ExitStatus::kFailed);
  EXPECT_NE(err_.str().find("snapshot list"), std::string::npos) << err_.str();
}

TEST_F(DurabilityCommands, AMasterThatKeepsNothingIsHealthyAndHasNoSnapshots) {
  answers_.refusal = Status(ErrorCode::kUnavailableInCurrentMode, "start it with --state_dir");
  for (const char* command : {"list", "now", "verify"}) {
    EXPECT_EQ(Run({"snapshot", command}), ExitStatus::kFailed);
    EXPECT_NE(err_.str().find("--state_dir"), std::string::npos);
  }
  EXPECT_EQ(Run({"health"}), ExitStatus::kOk);
  EXPECT_EQ(out_.str(),
            "OK: master up 1m1s, 1 segment mounted, nothing is kept over a restart (no "
            "--state_dir)\n");
  EXPECT_EQ(Run({"health", "--json"}), ExitStatus::kOk);
  EXPECT_TRUE(Json::parse(out_.str())["durability"].is_null());
}

TEST_F(DurabilityCommands, HealthNamesEveryReason) {
  answers_.durability.log_durable = 1234;
  answers_.durability.snapshot_age = Seconds(5);
  EXPECT_EQ(Run({"health"}), ExitStatus::kOk);
  EXPECT_EQ(out_.str(),
            "OK: master up 1m1s, 1 segment mounted, log safe up to 1,234, last snapshot 5s ago\n");

  answers_.durability.log_trouble = "no space left";
  answers_.durability.snapshot_trouble = "none\nat all";
  answers_.segments[0].status = SegmentStatus::kUndefined;
  EXPECT_EQ(Run({"health"}), ExitStatus::kFailed);
  EXPECT_TRUE(out_.str().starts_with("NOT OK: 1 segment not mounted")) << out_.str();
  EXPECT_NE(out_.str().find("no space left"), std::string::npos) << out_.str();
  EXPECT_NE(out_.str().find("the last snapshot failed"), std::string::npos) << out_.str();
  const std::string text = out_.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << "one line";
  EXPECT_EQ(Run({"--json", "health"}), ExitStatus::kFailed);
  EXPECT_EQ(Json::parse(out_.str())["reasons"].size(), 4u);

  answers_.refusal = Status(ErrorCode::kRpcFail, "gone");
  EXPECT_EQ(Run({"health"}), ExitStatus::kUnreachable);
}

TEST_F(DurabilityCommands, HelpHasAnExample) {
  for (const std::vector<std::string>& line : {std::vector<std::string>{"snapshot", "--help"},
                                               {"snapshot", "now", "--help"},
                                               {"snapshot", "verify", "--help"},
                                               {"health", "--help"}}) {
    EXPECT_EQ(Run(line), ExitStatus::kOk);
    EXPECT_NE(out_.str().find("Example"), std::string::npos) << out_.str();
  }
  EXPECT_EQ(Run({"snapshot"}), ExitStatus::kUsage);
  EXPECT_EQ(Run({"snapshot", "later"}), ExitStatus::kUsage);
}

}  // namespace
}  // namespace mooncake::admin

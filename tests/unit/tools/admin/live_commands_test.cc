// top, config, pin and unpin, on a master that answers what the test wants.
#include <sstream>

#include <gtest/gtest.h>

#include "tests/support/null_master.h"
#include "tools/admin/command_line.h"
#include "tools/admin/json_view.h"
#include "transfer/base/manual_clock.h"

namespace mooncake::admin {
namespace {

struct Script {
  std::vector<ConfigValue> config = {{"rpc_port", "50051", true}, {"state_dir", "/s\x1b", false}};
  std::vector<Result<uint64_t>> gets;  // keys looked up at each look; the last one stays
  size_t looks = 0;
  std::vector<SetPinArgs> pins;
};

class LiveMaster final : public testing::NullMaster {
 public:
  explicit LiveMaster(Script& script) : script_(script) {}
  Result<std::vector<ConfigValue>> GetConfig(TimePoint) override { return script_.config; }
  Result<Activity> GetActivity(TimePoint) override {
    const auto& gets = script_.gets[std::min(script_.looks++, script_.gets.size() - 1)];
    if (!gets.ok()) return gets.status();
    Activity activity;
    activity.calls = {{"BatchGetReplicaList", *gets, *gets, 0, {}}};
    return activity;
  }
  Result<ClusterStatus> GetStatus(TimePoint) override {
    ClusterStatus status;
    status.uptime = Seconds(10);
    return status;
  }
  Result<std::vector<SegmentInfo>> GetSegments(std::span<const SegmentId>, TimePoint) override {
    return std::vector<SegmentInfo>(1);
  }
  Result<QuotaList> ListQuotas(const std::string&, uint32_t, TimePoint) override {
    return Status(ErrorCode::kUnavailableInCurrentMode, "no quotas");
  }
  std::vector<Status> BatchSetPin(std::span<const SetPinArgs> args, TimePoint) override {
    std::vector<Status> answers;
    for (const SetPinArgs& entry : args) {
      script_.pins.push_back(entry);
      answers.push_back(entry.name.key == "none" ? Status(ErrorCode::kObjectNotFound, "none")
                                                 : Status::Ok());
    }
    return answers;
  }

 private:
  Script& script_;
};

class LiveCommands : public ::testing::Test {
 protected:
  ExitStatus Run(const std::vector<std::string>& arguments) {
    out_.str("");
    err_.str("");
    std::istringstream in;
    const Connector connector{.client = {}, .master = [&](const HostPort&) {
                                return std::make_unique<LiveMaster>(script_);
                              }};
    return RunLine(arguments, {}, {.out = out_, .err = err_, .in = in}, connector, clock_);
  }
  bool Says(const std::string& text) const { return out_.str().find(text) != std::string::npos; }

  ManualClock clock_;
  Script script_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(LiveCommands, ConfigShowsWhatTheMasterRunsWith) {
  EXPECT_EQ(Run({"config"}), ExitStatus::kOk);
  EXPECT_TRUE(Says("rpc_port") && Says("default") && Says("operator")) << out_.str();
  EXPECT_FALSE(Says("\x1b"));
  EXPECT_EQ(Run({"config", "--changed", "--json"}), ExitStatus::kOk);
  const Json options = Json::parse(out_.str())["options"];
  ASSERT_EQ(options.size(), 1u);
  EXPECT_EQ(options[0]["name"], "state_dir");
  EXPECT_EQ(Run({"config", "rpc_port"}), ExitStatus::kOk);
  EXPECT_FALSE(Says("state_dir"));
}

TEST_F(LiveCommands, ConfigRefusesWhatIsNotThere) {
  EXPECT_EQ(Run({"config", "rpc_prot"}), ExitStatus::kFailed);
  EXPECT_NE(err_.str().find("rpc_prot"), std::string::npos);
  script_.config.clear();
  EXPECT_EQ(Run({"config"}), ExitStatus::kFailed);
  EXPECT_NE(err_.str().find("within another program"), std::string::npos);
}

TEST_F(LiveCommands, PinIsSoftUnlessToldOtherwise) {
  EXPECT_EQ(Run({"pin", "a", "--ttl=12h", "--tenant=t"}), ExitStatus::kOk);
  EXPECT_EQ(Run({"pin", "a"}), ExitStatus::kOk);
  EXPECT_EQ(Run({"pin", "--hard", "a"}), ExitStatus::kOk);
  EXPECT_EQ(Run({"unpin", "a"}), ExitStatus::kOk);
  ASSERT_EQ(script_.pins.size(), 4u);
  EXPECT_EQ(script_.pins[0].name, (ObjectName{"t", "a"}));
  EXPECT_EQ(script_.pins[0].soft_ttl, Seconds(12 * 3600));
  EXPECT_EQ(script_.pins[0].hard, std::nullopt);
  EXPECT_EQ(script_.pins[1].soft, SoftPinAction::kEnable);
  EXPECT_EQ(script_.pins[1].soft_ttl, std::nullopt);
  EXPECT_EQ(script_.pins[2].soft, SoftPinAction::kPreserve);
  EXPECT_EQ(script_.pins[2].hard, true);
  EXPECT_EQ(script_.pins[3].soft, SoftPinAction::kDisable);
  EXPECT_EQ(script_.pins[3].hard, false);
}

TEST_F(LiveCommands, PinNamesTheKeysThatItCouldNotPin) {
  EXPECT_EQ(Run({"pin", "a", "none", "--json"}), ExitStatus::kFailed);
  const Json objects = Json::parse(out_.str())["objects"];
  EXPECT_EQ(objects[0]["done"], true);
  EXPECT_EQ(objects[1]["done"], false);
  EXPECT_NE(err_.str().find("none"), std::string::npos);
  EXPECT_EQ(Run({"pin"}), ExitStatus::kUsage);
  EXPECT_EQ(Run({"pin", "a", "--ttl=soon"}), ExitStatus::kUsage);
  EXPECT_EQ(Run({"pin", "a", "--ttl=0"}), ExitStatus::kUsage);
  EXPECT_EQ(Run({"pin", "--ttl=", "a"}), ExitStatus::kUsage);
  EXPECT_NE(err_.str().find("must not be empty"), std::string::npos) << err_.str();
  EXPECT_EQ(Run({"rm", "--segment", "", "a"}), ExitStatus::kUsage) << "it would be all of it";
  EXPECT_EQ(Run({"rm", "--tenant", "", "a"}), ExitStatus::kUsage);
  EXPECT_EQ(Run({"pin", "a", "--ttl=1h", "--hard"}), ExitStatus::kUsage);
}

TEST_F(LiveCommands, TopBeginsWithTheAveragesSinceTheStart) {
  script_.gets = {uint64_t{70}};
  EXPECT_EQ(Run({"top", "--count=1", "--json"}), ExitStatus::kOk);
  EXPECT_EQ(Json::parse(out_.str())["gets_per_second"], 7);
}

TEST_F(LiveCommands, TopGoesOnWhileTheMasterIsAway) {
  script_.gets = {uint64_t{70}, Status(ErrorCode::kRpcFail, "nobody there"), uint64_t{90}};
  EXPECT_EQ(Run({"top", "--count=3", "--interval=100ms"}), ExitStatus::kOk);
  EXPECT_NE(err_.str().find("nobody there"), std::string::npos);
  EXPECT_EQ(script_.looks, 3u);
  script_.looks = 1;
  EXPECT_EQ(Run({"top", "--count=3"}), ExitStatus::kUnreachable);
  EXPECT_EQ(Run({"top", "--interval=often"}), ExitStatus::kUsage);
  EXPECT_EQ(Run({"top", "--count=-1"}), ExitStatus::kUsage);
  EXPECT_EQ(Run({"top", "--count=1", "--rows=-1"}), ExitStatus::kUsage);
}

}  // namespace
}  // namespace mooncake::admin

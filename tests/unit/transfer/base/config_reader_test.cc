// Options: command line over file over default, errors that name the cause, and help that tells all.
#include "transfer/base/config_reader.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mooncake {
namespace {

struct Options {
  std::string host = "0.0.0.0";
  bool report = true;
  uint16_t port = 50051;
  uint32_t count = 16;
  double ratio = 0.05;
  uint64_t size = uint64_t{4} << 20;
  Duration ttl = Seconds(10);
  std::string strategy = "random";
};

class ConfigReaderTest : public ::testing::Test {
 protected:
  ConfigReaderTest() {
    reader_.Section("Network");
    reader_.Add("rpc_host", &options_.host, "Where to listen.");
    reader_.Add("rpc_port", &options_.port, "Which port.");
    reader_.AddAlias("port", "rpc_port");
    reader_.Section("Rest");
    reader_.Add("report", &options_.report, "Whether to report.");
    reader_.Add("count", &options_.count, "How many.");
    reader_.Add("ratio", &options_.ratio, "Which share.");
    reader_.AddSize("pool_size", &options_.size, "How large.");
    reader_.AddDuration("ttl", &options_.ttl, Millis(1), "How long.");
    reader_.AddChoice("strategy", &options_.strategy, {"random", "first"}, "How to choose.");
    reader_.AddIgnored("threads", "there is one for each");
  }
  ~ConfigReaderTest() override {
    for (const std::string& path : files_) std::remove(path.c_str());
  }

  Result<ConfigOutcome> Read(std::vector<std::string> arguments) {
    std::vector<const char*> argv = {"program"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    return reader_.Read(static_cast<int>(argv.size()), argv.data());
  }
  // The message of a refusal.
  std::string Refused(std::vector<std::string> arguments) {
    const auto outcome = Read(std::move(arguments));
    EXPECT_EQ(outcome.code(), ErrorCode::kInvalidParams);
    return outcome.message();
  }
  std::string File(const std::string& suffix, const std::string& text) {
    const std::string path = ::testing::TempDir() + "config_reader_test_" +
                             std::to_string(getpid()) + "_" + std::to_string(files_.size()) +
                             suffix;
    std::ofstream(path) << text;
    files_.push_back(path);
    return path;
  }

  Options options_;
  ConfigReader reader_{"program", "Does things."};
  std::vector<std::string> files_;
};

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(ConfigReaderTest, KeepsDefaults) {
  ASSERT_TRUE(Read({}).ok());
  EXPECT_EQ(options_.port, 50051);
  EXPECT_FALSE(reader_.IsSet("rpc_port"));
}

TEST_F(ConfigReaderTest, TakesEachKindOfValue) {
  ASSERT_TRUE(Read({"--rpc_host=h", "--rpc_port=1", "--report=false", "--count=7", "--ratio=0.5",
                    "--pool_size=64KiB", "--ttl=2m", "--strategy=first"})
                  .ok());
  EXPECT_EQ(options_.host, "h");
  EXPECT_EQ(options_.port, 1);
  EXPECT_FALSE(options_.report);
  EXPECT_EQ(options_.count, 7u);
  EXPECT_EQ(options_.ratio, 0.5);
  EXPECT_EQ(options_.size, uint64_t{64} << 10);
  EXPECT_EQ(options_.ttl, Seconds(120));
  EXPECT_EQ(options_.strategy, "first");
  EXPECT_TRUE(reader_.IsSet("rpc_port"));
}

TEST_F(ConfigReaderTest, TakesTheUsualSpellings) {
  ASSERT_TRUE(Read({"-rpc_port", "2", "--noreport", "--rpc-host", "h", "--ttl", "1500"}).ok());
  EXPECT_EQ(options_.port, 2);
  EXPECT_FALSE(options_.report);
  EXPECT_EQ(options_.host, "h");
  EXPECT_EQ(options_.ttl, Millis(1500));
  ASSERT_TRUE(Read({"--report", "--port=3", "--port=4"}).ok());
  EXPECT_TRUE(options_.report);
  EXPECT_EQ(options_.port, 4);
}

TEST_F(ConfigReaderTest, ReadsJson) {
  ASSERT_TRUE(
      Read({"--config_path=" + File(".json", R"({"rpc_port": 9, "report": false, "ratio": 0.25,
                                                        "ttl": "3s", "pool_size": 1024, "rpc_host": "h"})")})
          .ok());
  EXPECT_EQ(options_.port, 9);
  EXPECT_FALSE(options_.report);
  EXPECT_EQ(options_.ratio, 0.25);
  EXPECT_EQ(options_.ttl, Seconds(3));
  EXPECT_EQ(options_.size, 1024u);
  EXPECT_EQ(options_.host, "h");
}

TEST_F(ConfigReaderTest, ReadsYaml) {
  ASSERT_TRUE(
      Read({"--config_path", File(".yaml", "# comment\nport: 9\nreport: no\nttl: 3s\n")}).ok());
  EXPECT_EQ(options_.port, 9);
  EXPECT_FALSE(options_.report);
  EXPECT_EQ(options_.ttl, Seconds(3));
  ASSERT_TRUE(Read({"--config_path=" + File(".yml", "")}).ok());
}

TEST_F(ConfigReaderTest, CommandLineWinsOverFileWhateverTheOrder) {
  const std::string file = File(".json", R"({"rpc_port": 9, "count": 1})");
  // Also when it repeats the default.
  ASSERT_TRUE(Read({"--rpc_port=50051", "--config_path=" + file}).ok());
  EXPECT_EQ(options_.port, 50051);
  EXPECT_EQ(options_.count, 1u);
}

TEST_F(ConfigReaderTest, RefusesUnknownNamesAndSuggests) {
  EXPECT_TRUE(Contains(Refused({"--rpc_prot=1"}), "did you mean 'rpc_port'?"));
  EXPECT_TRUE(Contains(Refused({"--zzzzzzzz=1"}), "--help"));
  const std::string file = File(".json", R"({"rpc_prot": 9})");
  const std::string message = Refused({"--config_path=" + file});
  EXPECT_TRUE(Contains(message, file)) << message;
  EXPECT_TRUE(Contains(message, "did you mean 'rpc_port'?")) << message;
}

TEST_F(ConfigReaderTest, RefusesBadValuesAndNamesTheOption) {
  for (const char* bad :
       {"--rpc_port=x", "--rpc_port=-1", "--rpc_port=65536", "--rpc_port=", "--report=maybe",
        "--count=1.5", "--ratio=nan", "--pool_size=1XB", "--ttl=soon", "--strategy=best"}) {
    const std::string argument = bad;
    const std::string message = Refused({argument});
    EXPECT_TRUE(Contains(message, argument.substr(2, argument.find('=') - 2))) << message;
  }
}

TEST_F(ConfigReaderTest, RefusesWhatIsNoOption) {
  EXPECT_TRUE(Contains(Refused({"start"}), "'start'"));
  EXPECT_TRUE(Contains(Refused({"--rpc_port"}), "needs a value"));
  EXPECT_TRUE(Contains(Refused({"--norpc_port"}), "no option"));
  EXPECT_TRUE(Contains(Refused({"--noreport=true"}), "takes no value"));
}

TEST_F(ConfigReaderTest, RefusesBadFiles) {
  EXPECT_TRUE(Contains(Refused({"--config_path=/nonexistent/x.json"}), "No such file"));
  EXPECT_TRUE(Contains(Refused({"--config_path=/tmp/x.ini"}), ".yaml"));
  EXPECT_TRUE(Contains(Refused({"--config_path=" + File(".json", "{")}), ".json"));
  EXPECT_TRUE(Contains(Refused({"--config_path=" + File(".json", "[1]")}), "object"));
  EXPECT_TRUE(Contains(Refused({"--config_path=" + File(".json", R"({"rpc_port": {"a": 1}})")}),
                       "rpc_port"));
  EXPECT_TRUE(
      Contains(Refused({"--config_path=" + File(".json", R"({"rpc_port": null})")}), "rpc_port"));
  EXPECT_TRUE(Contains(Refused({"--config_path=" + File(".yaml", "a: [")}), ".yaml"));
  EXPECT_TRUE(Contains(Refused({"--config_path=" + File(".yaml", "- 1")}), "map"));
  EXPECT_TRUE(
      Contains(Refused({"--config_path=" + File(".yaml", "config_path: x")}), "config_path"));
}

TEST_F(ConfigReaderTest, WarnsAboutNamesWithoutEffect) {
  ASSERT_TRUE(Read({"--threads=4"}).ok());
  ASSERT_EQ(reader_.warnings().size(), 1u);
  EXPECT_TRUE(Contains(reader_.warnings()[0], "there is one for each"));
}

TEST_F(ConfigReaderTest, AsksForHelpAndVersion) {
  EXPECT_EQ(*Read({"--rpc_port=1", "--help"}), ConfigOutcome::kHelp);
  EXPECT_EQ(options_.port, 50051);
  EXPECT_EQ(*Read({"-h"}), ConfigOutcome::kHelp);
  EXPECT_EQ(*Read({"--version"}), ConfigOutcome::kVersion);
}

TEST_F(ConfigReaderTest, HelpTellsNameDefaultAndUnitOfEach) {
  const std::string help = reader_.Help();
  for (const char* part :
       {"Usage: program", "Does things.", "Network:", "--rpc_host=TEXT  (default: 0.0.0.0)",
        "--rpc_port=PORT  (default: 50051)", "Also: port.", "--report  (default: true)",
        "--count=NUMBER  (default: 16)", "--ratio=NUMBER  (default: 0.05)",
        "--pool_size=SIZE  (default: 4 MiB)", "KiB", "--ttl=DURATION  (default: 10s)",
        "a bare number is in ms", "--strategy=WORD  (default: random)", "random, first", "threads",
        "--config_path", "--version", "--help"}) {
    EXPECT_TRUE(Contains(help, part)) << part << "\n" << help;
  }
}

}  // namespace
}  // namespace mooncake

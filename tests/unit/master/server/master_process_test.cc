// The program: starts, says so, stops by a signal on any thread, and says why when it cannot start.
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "master/api/remote_master.h"
#include "master/api/wire_socket.h"
#include "tests/support/process.h"
#include "transfer/base/clock.h"
#include "transfer/base/units.h"

namespace mooncake {
namespace {

using testing::Process;

// Runs, on a port of its own.
struct Master {
  Process process;
  std::string ready;  // its line

  Result<HostPort> address() const { return ParseHostPort(testing::Field(ready, "rpc_address")); }
  uint64_t term() const { return std::stoull(testing::Field(ready, "term")); }
};

std::vector<std::string> Command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), testing::ProgramPath("mooncake-master"));
  return arguments;
}

Master Started(std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"--rpc_address=127.0.0.1", "--rpc_port=0",
                                        "--metrics_port=0"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  Process process({.command = Command(arguments)});
  auto line = process.WaitForLine("ready rpc_address");
  EXPECT_TRUE(line.ok()) << line.status();
  return {std::move(process), line.value_or("")};
}

// Runs to its end, which is to be `status`; what it said on stderr.
std::string Refused(std::vector<std::string> arguments, int status) {
  const testing::RunResult result = testing::Run({.command = Command(std::move(arguments))});
  EXPECT_EQ(result.ended.exit_status, status) << result.ended.ToString() << "\n" << result.err;
  return result.err;
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(MasterProcess, ServesWhereItSaysAndStopsOnSigterm) {
  Master master = Started();
  const auto address = master.address();
  ASSERT_TRUE(address.ok()) << address.status();
  const auto remote = MakeRemoteMaster({.address = *address}, SystemClock());
  const auto status = remote->GetStatus(SystemClock().Now() + Seconds(30));
  EXPECT_TRUE(status.ok()) << status.status();
  // `remote` keeps an idle connection, which must not hold it up.
  const auto ended = master.process.Terminate();
  ASSERT_TRUE(ended.has_value());
  EXPECT_TRUE(ended->ok()) << ended->ToString() << "\n" << master.process.Errors();
}

TEST(MasterProcess, StopsWhicheverThreadGetsTheSignal) {
  size_t threads = 1;
  for (size_t i = 0; i < threads; ++i) {
    Master master = Started();
    const std::vector<pid_t> ids = master.process.Threads();
    threads = ids.size();
    ASSERT_LT(i, threads);
    master.process.SignalThread(ids[i], i % 2 == 0 ? SIGTERM : SIGINT);
    const auto ended = master.process.Wait();
    ASSERT_TRUE(ended.has_value());
    EXPECT_TRUE(ended->ok()) << "thread " << i << ": " << ended->ToString();
  }
  EXPECT_GT(threads, 2u);
}

TEST(MasterProcess, NewTermAtEachStart) {
  Master first = Started();
  first.process.Kill();
  const Master second = Started();
  EXPECT_GT(second.term(), first.term());
}

TEST(MasterProcess, CannotStartOnABusyRpcPort) {
  const auto busy = wire::Listen({"127.0.0.1", 0});
  ASSERT_TRUE(busy.ok()) << busy.status();
  const std::string said =
      Refused({"--rpc_address=127.0.0.1", "--rpc_port=" + std::to_string(busy->bound.port),
               "--metrics_port=0"},
              1);
  for (const char* part : {"cannot start", "--rpc_port", "choose another port"}) {
    EXPECT_TRUE(Contains(said, part)) << said;
  }
  close(busy->fd);
}

TEST(MasterProcess, CannotStartOnABusyMetricsPort) {
  const auto busy = wire::Listen({"127.0.0.1", 0});
  ASSERT_TRUE(busy.ok()) << busy.status();
  const std::string said =
      Refused({"--rpc_address=127.0.0.1", "--rpc_port=0", "--metrics_host=127.0.0.1",
               "--metrics_port=" + std::to_string(busy->bound.port)},
              1);
  EXPECT_TRUE(Contains(said, "--metrics_port=0 turns it off")) << said;
  EXPECT_FALSE(Contains(said, "ready rpc_address")) << said;
  close(busy->fd);
}

TEST(MasterProcess, WrongOptionsExitWithTwo) {
  for (const char* argument :
       {"--no_such_option=1", "--client_ttl=soon", "--eviction_high_watermark_ratio=7",
        "--put_start_release_timeout_sec=1s", "--allocation_strategy=best", "positional"}) {
    const std::string said = Refused({argument}, 2);
    EXPECT_TRUE(Contains(said, "mooncake-master: ")) << argument << "\n" << said;
  }
}

TEST(MasterProcess, HelpAndVersionExitWithZero) {
  const auto help = testing::Run({.command = Command({"--help"})});
  EXPECT_TRUE(help.ended.ok()) << help.ended.ToString();
  EXPECT_TRUE(Contains(help.out, "--rpc_port=PORT  (default: 50051)")) << help.out;
  const auto version = testing::Run({.command = Command({"--version"})});
  EXPECT_TRUE(version.ended.ok()) << version.ended.ToString();
  EXPECT_TRUE(version.out.starts_with("mooncake-master ")) << version.out;
}

// The defaults that a program's --help names.
std::map<std::string, std::string> DefaultsOf(const std::string& program) {
  std::map<std::string, std::string> defaults;
  const auto help = testing::Run({.command = {testing::ProgramPath(program), "--help"}});
  static const std::regex kLine(R"(\n  --(\w+)(=\w+)?  \(default: ([^\n]*)\))");
  for (std::sregex_iterator it(help.out.begin(), help.out.end(), kLine), end; it != end; ++it) {
    if ((*it)[3] != "none") defaults[(*it)[1]] = (*it)[3];
  }
  return defaults;
}

// F107: what the help calls the defaults is what runs. The READMEs name no other numbers.
TEST(MasterProcess, TheDefaultsOfTheHelpAreThoseInForce) {
  const auto defaults = DefaultsOf("mooncake-master");
  EXPECT_GT(defaults.size(), 30u);
  EXPECT_EQ(defaults.at("durability"), "async") << "as README.md says";
  const auto lease = ParseDuration(defaults.at("default_kv_lease_ttl"), Seconds(1));
  const auto ttl = ParseDuration(defaults.at("client_ttl"), Seconds(1));
  ASSERT_TRUE(lease.ok() && ttl.ok());
  const Master master = Started();
  const auto remote = MakeRemoteMaster({.address = *master.address()}, SystemClock());
  const auto soon = [] { return SystemClock().Now() + Seconds(30); };
  EXPECT_EQ(remote->Ping(ClientId{1, 2}, "test", soon())->client_ttl, *ttl);
  const PutStartArgs start{.client = {1, 2}, .name = {kDefaultTenant, "k"}};
  const auto put = remote->BatchPutStart({&start, 1}, soon())[0];
  ASSERT_TRUE(put.ok()) << put.status();
  const PutEndArgs end{{1, 2}, start.name, put->put_id, std::nullopt};
  ASSERT_EQ(remote->BatchPutEnd({&end, 1}, soon())[0], Status::Ok());
  EXPECT_EQ(remote->BatchGetReplicaList({&start.name, 1}, soon())[0]->lease, *lease);
}

// F107: each is accepted as it is printed.
TEST(MasterProcess, TheDefaultsOfTheHelpCanBeSaidToTheProgram) {
  for (const char* program : {"mooncake-master", "mooncake-storenode"}) {
    std::vector<std::string> command = {testing::ProgramPath(program)};
    for (const auto& [name, value] : DefaultsOf(program))
      command.push_back("--" + name + "=" + value);
    EXPECT_GT(command.size(), 8u);
    // None of them is wrong (status 2); the last one cannot be had.
    const std::string address =
        std::string(program) == "mooncake-master" ? "rpc_address" : "listen";
    command.push_back("--" + address + "=203.0.113.1" + (address == "listen" ? ":0" : ""));
    if (address == "listen") command.push_back("--master_wait=0ms");
    const testing::RunResult run = testing::Run({.command = command});
    EXPECT_EQ(run.ended.exit_status, 1) << program << ": " << run.err;
  }
}

TEST(MasterProcess, ReadsAConfigurationFile) {
  const testing::TempFolder folder;
  std::ofstream(folder / "master.yaml") << "client_live_ttl_sec: 33\nrpc_thread_num: 4\n";
  const Master master = Started({"--config_path=" + (folder / "master.yaml")});
  const auto address = master.address();
  ASSERT_TRUE(address.ok()) << address.status();
  const auto ping = MakeRemoteMaster({.address = *address}, SystemClock())
                        ->Ping(ClientId{1, 2}, "test", SystemClock().Now() + Seconds(30));
  ASSERT_TRUE(ping.ok()) << ping.status();
  EXPECT_EQ(ping->client_ttl, Seconds(33));
  EXPECT_TRUE(Contains(master.process.Errors(), "rpc_thread_num")) << master.process.Errors();
}

}  // namespace
}  // namespace mooncake

// Whoever cannot start says so: non-zero, soon, one line with cause and cure on stderr, and nothing left behind.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/integration/cluster/cluster_fixture.h"

namespace mooncake::testing {
namespace {

struct Refusal {
  std::string what;
  std::vector<std::string> command;
  std::string named;  // has to occur in the message
};

// Log lines of glog start with a level and a date; the last line is the message.
void ExpectRefused(const Refusal& refusal) {
  SCOPED_TRACE(refusal.what);
  std::vector<std::string> command = refusal.command;
  command[0] = ProgramPath(command[0]);
  const RunResult run = testing::Run({.command = std::move(command)}, Seconds(15));
  EXPECT_EQ(run.ended.signal, 0) << "it hung or crashed: " << run.err;
  EXPECT_GT(run.ended.exit_status, 0) << run.out << run.err;
  ASSERT_FALSE(run.err.empty());
  EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
  EXPECT_NE(run.err.find(refusal.named), std::string::npos) << run.err;
}

TEST(Refusal, BadOptions) {
  const std::string node = "mooncake-storenode";
  const std::string master = "mooncake-master";
  const std::string admin = "mooncake-admin";
  const std::string mount = "mount.mooncake";
  TempFolder folder;
  const Refusal refusals[] = {
      {"unknown flag", {master, "--rpc_prot=1"}, "rpc_port"},
      {"port out of range", {master, "--rpc_port=65536"}, "rpc_port"},
      {"not a number", {master, "--rpc_port=x"}, "rpc_port"},
      {"not an address",
       {master, "--rpc_address=no.such.host.invalid", "--rpc_port=0", "--metrics_port=0"},
       "no.such.host.invalid"},
      {"address of another machine",
       {master, "--rpc_address=192.0.2.1", "--rpc_port=0", "--metrics_port=0"},
       "192.0.2.1"},
      {"watermark",
       {master, "--eviction_high_watermark_ratio=1.5"},
       "eviction_high_watermark_ratio"},
      {"no such file", {master, "--config_path=" + folder / "none.yaml"}, "none.yaml"},
      {"size", {node, "--segment_size=1XB"}, "segment_size"},
      {"size of nothing", {node, "--segment_size=0"}, "segment_size"},
      {"master without port", {node, "--master=localhost"}, "localhost"},
      {"protocol", {node, "--protocol=carrier-pigeon"}, "carrier-pigeon"},
      {"no master",
       {node, "--master=127.0.0.1:1", "--master_wait=200ms", "--segment_size=1MiB"},
       "127.0.0.1:1"},
      {"admin: no command", {admin}, "--help"},
      {"admin: unknown command", {admin, "frobnicate"}, "--help"},
      {"admin: no master", {admin, "--master=127.0.0.1:1", "status"}, "127.0.0.1:1"},
      {"admin: master without port", {admin, "--master=localhost", "status"}, "--master"},
      {"mount: no such folder", {mount, folder / "none"}, "none"},
      {"mount: a file", {mount, "/etc/passwd"}, "/etc/passwd"},
      {"mount: unknown option", {mount, folder.path(), "-o", "sise=1GiB"}, "sise"},
      {"mount: no master",
       {mount, folder.path(), "-o", "master=127.0.0.1:1,timeout=500ms"},
       "127.0.0.1:1"},
      {"mount: no folder named", {mount}, "directory"},
  };
  for (const Refusal& refusal : refusals) ExpectRefused(refusal);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// The limit keeps the rest of the machine out of it.
TEST(Refusal, MemoryThatCannotBeHad) {
  ClusterProcess cluster;
  const std::string node = ProgramPath("mooncake-storenode") + " --master=" + cluster.address() +
                           " --segment_size=60TiB --listen=127.0.0.1:0";
  const RunResult run =
      testing::Run({.command = {"/bin/sh", "-c", "ulimit -v 4000000; exec " + node}}, Seconds(15));
  EXPECT_EQ(run.ended.signal, 0) << run.err;
  EXPECT_GT(run.ended.exit_status, 0) << run.err;
  EXPECT_NE(run.err.find("TiB"), std::string::npos) << run.err;
  EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
}

TEST(Refusal, AddressOfTheMasterIsWrongInTheEnvironment) {
  const RunResult run = testing::Run({.command = {ProgramPath("mooncake-admin"), "status"},
                                      .environment = {{"MOONCAKE_MASTER", "nonsense"}}});
  EXPECT_EQ(run.ended.exit_status, 2);
  EXPECT_NE(run.err.find("MOONCAKE_MASTER"), std::string::npos) << run.err;
}

TEST(Refusal, APortThatIsBusy) {
  ClusterProcess cluster;
  const std::string port = cluster.address().substr(cluster.address().rfind(':') + 1);
  ExpectRefused(
      {"master",
       {"mooncake-master", "--rpc_address=127.0.0.1", "--rpc_port=" + port, "--metrics_port=0"},
       port});
  ExpectRefused({"master's HTTP",
                 {"mooncake-master", "--rpc_address=127.0.0.1", "--rpc_port=0",
                  "--metrics_host=127.0.0.1", "--metrics_port=" + port},
                 port});
  ExpectRefused({"node",
                 {"mooncake-storenode", "--master=" + cluster.address(), "--segment_size=1MiB",
                  "--listen=127.0.0.1:" + port},
                 port});
  TempFolder folder;
  ExpectRefused({"embedded mount",
                 {"mount.mooncake", folder.path(), "-o", "size=1MiB,rpc_port=" + port},
                 port});
}

TEST(Refusal, TheNameOfALivingNode) {
  ClusterProcess cluster;
  cluster.StartNode({.name = "a"});
  auto client = cluster.Connect();
  ASSERT_TRUE(client->Put("k", AsBytes("v")).ok());
  const RunResult run =
      testing::Run({.command = {ProgramPath("mooncake-storenode"), "--master=" + cluster.address(),
                                "--name=a", "--segment_size=1MiB", "--listen=127.0.0.1:0"}},
                   Seconds(20));
  EXPECT_EQ(run.ended.signal, 0) << run.err;
  EXPECT_GT(run.ended.exit_status, 0) << run.err;
  std::string value;
  EXPECT_TRUE(client->Get("k", &value).ok()) << "the living node lost its keys";
}

TEST(Refusal, AMountOverALiveOneLeavesItAlone) {
  TempFolder folder;
  ClusterProcess cluster;
  cluster.StartNode({.name = "a"});
  auto mount = cluster.Mount({.folder = folder / "m"});
  std::ofstream(*mount / "f") << "still here";
  ExpectRefused({"bad master",
                 {"mount.mooncake", mount->folder(), "-o", "master=127.0.0.1:1,timeout=500ms"},
                 ""});
  std::ifstream file(*mount / "f");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "still here");
}

TEST(Refusal, HelpAndVersionOfEveryProgram) {
  for (const char* program :
       {"mooncake-master", "mooncake-storenode", "mooncake-admin", "mount.mooncake"}) {
    for (const char* flag : {"--help", "--version"}) {
      const RunResult run = testing::Run({.command = {ProgramPath(program), flag}});
      EXPECT_TRUE(run.ended.ok()) << program << " " << flag << ": " << run.ended.ToString();
      EXPECT_FALSE(run.out.empty()) << program << " " << flag;
      EXPECT_TRUE(run.err.empty()) << run.err;
    }
  }
}

}  // namespace
}  // namespace mooncake::testing

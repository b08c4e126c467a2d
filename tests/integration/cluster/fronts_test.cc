// Three front doors, one store: mount, C++ client and mooncake-admin see the same keys, on one host, between hosts, and with
// the store inside the mount.
#include <filesystem>
#include <fstream>

#include "tests/integration/cluster/cluster_fixture.h"
#include "tests/support/netns.h"

namespace mooncake::testing {
namespace {

std::string Slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void Spill(const std::string& path, const std::string& value) {
  std::ofstream file(path, std::ios::binary);
  file << value;
  file.close();
  EXPECT_TRUE(file.good()) << path;
}

RunResult Shell(const std::string& script, const std::string& net_namespace = "") {
  return testing::Run({.command = {"/bin/sh", "-c", script}, .net_namespace = net_namespace});
}

std::string Got(Client& client, const std::string& key) {
  std::string value;
  const Status status = client.Get(key, &value);
  EXPECT_TRUE(status.ok()) << key << ": " << status;
  return value;
}

// Each door writes, every other one reads; each removes what another one wrote.
void AllDoorsAgree(ClusterProcess& cluster, Client& client, const MountProcess& mount) {
  const std::string by_client = ValueFor("d/client", 1, 300000);
  const std::string by_mount = ValueFor("d/mount", 1, 5 * kMiB);
  const std::string by_admin = ValueFor("d/admin", 1, 70000);
  ASSERT_TRUE(client.Put("d/client", AsBytes(by_client)).ok());
  Spill(mount / "d/mount", by_mount);
  ASSERT_TRUE(cluster.Admin({"put", "d/admin", "-"}, by_admin).ended.ok());

  EXPECT_EQ(Got(client, "d/mount"), by_mount);
  EXPECT_EQ(Got(client, "d/admin"), by_admin);
  EXPECT_EQ(Slurp(mount / "d/client"), by_client);
  EXPECT_EQ(Slurp(mount / "d/admin"), by_admin);
  EXPECT_EQ(cluster.Admin({"get", "d/client"}).out, by_client);
  EXPECT_EQ(cluster.Admin({"get", "d/mount"}).out, by_mount);

  EXPECT_EQ(cluster.Admin({"ls", "d/"}).out, "d/admin\nd/client\nd/mount\n");
  EXPECT_EQ(Shell("ls " + mount / "d").out, "admin\nclient\nmount\n");

  EXPECT_TRUE(client.Remove("d/mount", true).ok());
  EXPECT_TRUE(cluster.Admin({"rm", "--force", "d/client"}).ended.ok());
  EXPECT_TRUE(std::filesystem::remove(mount / "d/admin"));
  EXPECT_EQ(cluster.Admin({"exists", "d/client", "d/mount", "d/admin"}).out,
            "no   d/client\nno   d/mount\nno   d/admin\n");
  EXPECT_NE(Shell("cat " + mount / "d/mount").ended.exit_status, 0);
}

TEST(Fronts, SeeTheSameKeysOnOneHost) {
  TempFolder folder;
  ClusterProcess cluster;
  cluster.StartNode({.name = "a", .size = kGiB});
  cluster.StartNode({.name = "b", .size = kGiB});
  auto client = cluster.Connect();
  // Names are asked for each time: the doors agree at every moment, not a second later.
  auto mount =
      cluster.Mount({.folder = folder / "m", .options = {"entry_timeout=0s", "attr_timeout=0s"}});
  AllDoorsAgree(cluster, *client, *mount);
  const RunResult copy = Shell("cp -r /usr/share/common-licenses " +
                               *mount / "l && diff -r /usr/share/common-licenses " + *mount / "l");
  EXPECT_TRUE(copy.ended.ok()) << copy.err << copy.out;
  EXPECT_EQ(Got(*client, "l/Apache-2.0"), Slurp("/usr/share/common-licenses/Apache-2.0"));
  const auto ended = mount->Unmount();
  ASSERT_TRUE(ended) << "the mount's process outlives its mount";
  EXPECT_TRUE(ended->ok()) << ended->ToString();
}

TEST(Fronts, SeeTheSameKeysBetweenTwoHosts) {
  auto net = NetworkPair::Create();
  if (!net.ok()) GTEST_SKIP() << net.message();
  TempFolder folder;
  const std::string storage = (*net)->name(0);
  MasterSpec master;
  master.host = (*net)->address(0);
  master.net_namespace = storage;
  ClusterProcess cluster(master);
  cluster.StartNode({.name = "a",
                     .size = 256 * kMiB,
                     .listen_host = (*net)->address(0),
                     .net_namespace = storage});
  auto mount = cluster.Mount({.folder = folder / "m",
                              .options = {"entry_timeout=0s", "attr_timeout=0s"},
                              .net_namespace = (*net)->name(1)});
  (*net)->RunIn(1, [&] {
    auto client = cluster.Connect();
    AllDoorsAgree(cluster, *client, *mount);
  });
  const RunResult copy = Shell("cp -r /usr/share/common-licenses " +
                               *mount / "l && diff -r /usr/share/common-licenses " + *mount / "l");
  EXPECT_TRUE(copy.ended.ok()) << copy.err << copy.out;
}

TEST(Fronts, AStoreInsideAMountIsReachedFromOutside) {
  TempFolder folder;
  std::filesystem::create_directories(folder / "m");
  Process process(
      {.command = {ProgramPath("mount.mooncake"), folder / "m", "-f", "-o", "size=64MiB,nohuge"}});
  const auto ready = process.WaitForLine("ready ");
  ASSERT_TRUE(ready.ok()) << ready.message();
  const size_t at = ready->find("RPC at ");
  ASSERT_NE(at, std::string::npos) << *ready;
  const std::string address = ready->substr(at + 7, ready->find('"', at) - at - 7);

  Spill(folder / "m/file", "from the mount");
  const auto admin = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {ProgramPath("mooncake-admin"), "--master=" + address});
    return testing::Run({.command = std::move(arguments)});
  };
  EXPECT_EQ(admin({"get", "file"}).out, "from the mount");
  EXPECT_NE(admin({"status"}).out.find("capacity            64 MiB"), std::string::npos)
      << admin({"status"}).out;
  ClientOptions options;
  options.master = address;
  auto client = Client::Connect(options);
  ASSERT_TRUE(client.ok()) << client.message();
  ASSERT_TRUE((*client)->Put("key", AsBytes("from a client")).ok());
  EXPECT_EQ(Slurp(folder / "m/key"), "from a client");
  EXPECT_TRUE(Shell("umount " + folder / "m").ended.ok());
  const auto ended = process.Wait();
  ASSERT_TRUE(ended);
  EXPECT_TRUE(ended->ok()) << ended->ToString() << process.Errors();
}

}  // namespace
}  // namespace mooncake::testing

// Frozen is harder than dead: SIGSTOP, and SIGCONT later. Bounds are deadlines of the calls, not stop watches.
#include <thread>

#include "tests/integration/cluster/cluster_fixture.h"
#include "tests/support/netns.h"

namespace mooncake::testing {
namespace {

std::string FrozenKey(int i) { return "key/" + std::to_string(i); }

TEST(Frozen, ANodeDelaysItsOwnKeysOnly) {
  ClusterProcess cluster(QuickMaster());
  cluster.StartNode({.name = "a"});
  cluster.StartNode({.name = "b"});
  auto client = cluster.Connect(OverTcp(Seconds(5)));
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(client
                    ->Put(FrozenKey(i), AsBytes(ValueFor(FrozenKey(i), 1, 50000)),
                          On(i % 2 == 0 ? "a" : "b"))
                    .ok());
  }
  cluster.node("b").Stop();
  // One thread is stuck at the frozen node while the other works.
  std::thread stuck([&] {
    for (int i = 1; i < 8; i += 2) {
      std::string value;
      const Status status = client->Get(FrozenKey(i), &value, Seconds(1));
      ExpectRightOrError(FrozenKey(i), status, value);
    }
  });
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 40; i += 2) {
      std::string value;
      const Status status = client->Get(FrozenKey(i), &value, Seconds(1));
      EXPECT_TRUE(status.ok()) << status;
      EXPECT_EQ(VersionOf(FrozenKey(i), value), 1u);
    }
  }
  stuck.join();
  // A batch answers for each key by itself.
  std::vector<std::string> buffers(40, std::string(50000, '\0'));
  std::vector<GetItem> items;
  for (int i = 0; i < 40; ++i) {
    items.push_back(
        {FrozenKey(i), {reinterpret_cast<std::byte*>(buffers[i].data()), buffers[i].size()}});
  }
  const auto results = client->BatchGet(items, Seconds(2));
  for (int i = 0; i < 40; i += 2) {
    EXPECT_TRUE(results[i].ok()) << results[i].message();
    EXPECT_EQ(VersionOf(FrozenKey(i), buffers[i]), 1u);
  }
  // Writing goes on elsewhere.
  EXPECT_TRUE(Eventually(
      [&] { return client->Put("fresh", AsBytes("x"), On("a", WriteMode::kReplace)).ok(); }));
}

TEST(Frozen, ANodeThatWakesAfterItsExpiryServesNothingOld) {
  ClusterProcess cluster(QuickMaster());
  cluster.StartNode({.name = "a", .size = 32 * kMiB});
  auto shared = cluster.Connect();
  auto remote = cluster.Connect(OverTcp(Seconds(2)));
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(shared->Put(FrozenKey(i), AsBytes(ValueFor(FrozenKey(i), 1, 100000))).ok());
  }
  cluster.node("a").Stop();
  EXPECT_TRUE(Eventually([&] { return StatusOf(*shared).segment_count == 0; }));
  for (Client* client : {shared.get(), remote.get()}) {
    std::string value;
    EXPECT_EQ(client->Get(FrozenKey(1), &value).code(), ErrorCode::kObjectNotFound);
  }
  cluster.node("a").Continue();
  EXPECT_TRUE(cluster.WaitForSegments(1));
  ASSERT_TRUE(cluster.WaitForService());
  for (int i = 0; i < 50; ++i) {
    const std::string key = "new/" + std::to_string(i);
    const auto put = shared->Put(key, AsBytes(ValueFor(key, 2, 100000)));
    ASSERT_TRUE(put.ok()) << put.message();
  }
  for (Client* client : {shared.get(), remote.get()}) {
    for (int i = 0; i < 50; ++i) {
      std::string value;
      EXPECT_EQ(client->Get(FrozenKey(i), &value).code(), ErrorCode::kObjectNotFound);
      const std::string key = "new/" + std::to_string(i);
      EXPECT_TRUE(client->Get(key, &value).ok());
      EXPECT_EQ(VersionOf(key, value), 2u);
    }
  }
}

TEST(Frozen, AWriterThatWakesTooLateChangesNothing) {
  ClusterProcess cluster(QuickMaster());
  cluster.StartNode({.name = "a", .size = 64 * kMiB});
  auto client = cluster.Connect();
  cluster.node("a").Stop();
  Process late(
      {.command = {ProgramPath("mooncake-admin"), "--master=" + cluster.address(), "put", "k", "-"},
       .input = ValueFor("k", 1, 10 * kMiB)});
  ASSERT_TRUE(Eventually([&] { return StatusOf(*client).processing_count == 1; }));
  late.Stop();
  cluster.node("a").Continue();

  // A younger write may take its place once it is old enough, whatever the node of it is doing.
  const std::string value = ValueFor("k", 2, 30 * kMiB);
  EXPECT_TRUE(Eventually([&] { return client->Put("k", AsBytes(value)).ok(); }));
  late.Continue();
  const auto ended = late.Wait();
  ASSERT_TRUE(ended) << "the late writer hangs";
  EXPECT_NE(ended->exit_status, 0) << "two writers of a new key cannot both succeed";
  std::string stored;
  ASSERT_TRUE(client->Get("k", &stored).ok());
  EXPECT_EQ(VersionOf("k", stored), 2u);
  EXPECT_TRUE(Eventually([&] { return StatusOf(*client).processing_count == 0; }));
}

TEST(Frozen, AMasterThatIsSilentCostsADeadlineAndNoData) {
  ClusterProcess cluster(QuickMaster());
  cluster.StartNode({.name = "a"});
  auto client = cluster.Connect(OverTcp(Seconds(1)));
  ASSERT_TRUE(client->Put("k", AsBytes(ValueFor("k", 1, 1000))).ok());
  cluster.master().Stop();
  std::string value;
  for (int i = 0; i < 3; ++i) {
    const Status status = client->Get("k", &value);
    ExpectRightOrError("k", status, value);
  }
  EXPECT_EQ(client->Put("other", AsBytes("x")).code(), ErrorCode::kRpcTimeout);
  const RunResult admin = cluster.Admin({"--timeout=500ms", "status"});
  EXPECT_EQ(admin.ended.exit_status, 3) << admin.err;
  cluster.master().Continue();
  // It may have let its node go; then the key is gone, and the node is back.
  EXPECT_TRUE(cluster.WaitForService());
  ExpectRightOrError("k", client->Get("k", &value), value);
}

TEST(Frozen, ANetworkThatSwallowsPacketsIsBoundedAndHeals) {
  auto net = NetworkPair::Create();
  if (!net.ok()) GTEST_SKIP() << net.message();
  MasterSpec master = QuickMaster();
  master.host = (*net)->address(0);
  master.net_namespace = (*net)->name(0);
  ClusterProcess cluster(master);
  cluster.StartNode(
      {.name = "a", .listen_host = (*net)->address(0), .net_namespace = (*net)->name(0)});
  (*net)->RunIn(1, [&] {
    auto client = cluster.Connect(OverTcp(Seconds(1)));
    ASSERT_TRUE(client->Put("k", AsBytes(ValueFor("k", 1, 1000))).ok());
    (*net)->Cut();
    std::string value;
    for (int i = 0; i < 3; ++i) ExpectRightOrError("k", client->Get("k", &value), value);
    EXPECT_FALSE(client->Put("other", AsBytes("x")).ok());
    (*net)->Mend();
    EXPECT_TRUE(Eventually([&] { return client->Get("k", &value).ok(); }));
    EXPECT_EQ(VersionOf("k", value), 1u);
    EXPECT_TRUE(Eventually([&] { return client->Put("other", AsBytes("x"), Replacing()).ok(); }));
  });
}

}  // namespace
}  // namespace mooncake::testing

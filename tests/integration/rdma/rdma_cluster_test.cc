// A cluster of real processes over real verbs: master, nodes with --protocol=rdma, clients of this process.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "client/client_factory.h"
#include "client/store_client.h"
#include "master/api/remote_master.h"
#include "tests/integration/rdma/rdma_node.h"
#include "tests/support/cluster_process.h"
#include "tests/support/wait.h"
#include "transfer/base/executor.h"
#include "transfer/base/units.h"
#include "transfer/engine/transfer_engine.h"
#include "transfer/transport/transport_factory.h"

namespace mooncake::testing {
namespace {

NodeSpec RdmaNodeSpec(const std::string& name, const std::string& host = kRdmaAddress) {
  return {.name = name,
          .size = 64 * kMiB,
          .flags = {},
          .listen_host = host,
          .net_namespace = {},
          .protocol = "rdma"};
}

// One that shares no memory with the nodes, as if it were on another host; its engine is kept for its counters.
struct CountedClient {
  CountedClient(const ClusterProcess& cluster, bool rdma) {
    auto transports = MakeTransports({.shared_memory = false, .rdma = rdma}, SystemClock());
    MC_CHECK(transports.ok()) << transports.message();
    auto made = TransferEngine::Create(std::move(transports).value(), MakeThreadPool("transfer", 4),
                                       SystemClock(), {});
    MC_CHECK(made.ok()) << made.message();
    engine = std::move(made).value();
    const auto address = ParseHostPort(cluster.address());
    auto connected = internal::MakeClient(
        {.timeout = Seconds(60)},
        {.master = MakeRemoteMaster({.address = *address}, SystemClock()), .engine = engine},
        SystemClock());
    MC_CHECK(connected.ok()) << connected.message();
    client = std::move(connected).value();
  }
  TransferCounters::PerTransport Counters(const std::string& transport) const {
    for (const auto& counters : engine->counters().transports) {
      if (counters.name == transport) return counters;
    }
    return {};
  }
  Client* operator->() const { return client.get(); }

  std::shared_ptr<TransferEngine> engine;
  std::unique_ptr<Client> client;
};

TEST(RdmaCluster, PutAndGetGoOverRdmaAndNothingElse) {
  ClusterProcess cluster;
  cluster.StartNode(RdmaNodeSpec("a"));
  ASSERT_TRUE(cluster.WaitForService());
  const CountedClient client(cluster, /*rdma=*/true);
  std::vector<std::byte> buffer(8 * kMiB);
  ASSERT_TRUE(client->RegisterMemory(buffer).ok());
  for (const size_t size : {size_t{1}, size_t{4096}, size_t{1} << 20, size_t{3 * kMiB + 77}}) {
    const std::string key = "k" + std::to_string(size);
    const std::string value = ValueFor(key, 1, size);
    ASSERT_EQ(client->Put(key, AsBytes(value)).status(), Status::Ok());
    const auto got = client->GetInto(key, buffer);
    ASSERT_TRUE(got.ok()) << got.message();
    EXPECT_EQ(AsText(MutableByteSpan(buffer).first(*got)), value);
  }
  const auto rdma = client.Counters("rdma");
  EXPECT_GE(rdma.slices_read, 4u);
  EXPECT_GE(rdma.slices_written, 4u);
  EXPECT_EQ(rdma.failures, 0u);
  EXPECT_EQ(client.Counters("tcp").connects, 0u);
  ASSERT_TRUE(client->UnregisterMemory(buffer.data()).ok());
}

TEST(RdmaCluster, ClientsWithAndWithoutRdmaSeeTheSame) {
  ClusterProcess cluster;
  cluster.StartNode(RdmaNodeSpec("a"));
  cluster.StartNode({.name = "t"});
  ASSERT_TRUE(cluster.WaitForSegments(2));
  ASSERT_TRUE(cluster.WaitForService());
  ClientOptions options;
  options.use_shared_memory = false;
  options.protocol = "rdma";
  const auto rdma = cluster.Connect(options);
  const CountedClient tcp(cluster, /*rdma=*/false);
  PutOptions both;
  both.config.replica_num = 2;
  const std::string value = ValueFor("x", 1, 300'000);
  ASSERT_EQ(rdma->Put("x", AsBytes(value), both).status(), Status::Ok());
  std::string got;
  ASSERT_TRUE(tcp->Get("x", &got).ok());
  EXPECT_EQ(got, value);
  PutOptions replace = both;
  replace.mode = WriteMode::kReplace;
  const std::string next = ValueFor("x", 2, 200'000);
  ASSERT_EQ(tcp->Put("x", AsBytes(next), replace).status(), Status::Ok());
  ASSERT_TRUE(rdma->Get("x", &got).ok());
  EXPECT_EQ(got, next) << "no old value from a cached replica list";
  EXPECT_GT(tcp.Counters("tcp").bytes_read, 0u);
}

// P1 and P3 over RDMA: what is read is whole and right, or there is an error.
TEST(RdmaCluster, ANodeKilledUnderLoadCostsItsReplicasOnly) {
  ClusterProcess cluster({.flags = {"--client_ttl=2s", "--default_kv_lease_ttl=1s"}});
  cluster.StartNode(RdmaNodeSpec("a"));
  cluster.StartNode(RdmaNodeSpec("b"));
  ASSERT_TRUE(cluster.WaitForSegments(2));
  ASSERT_TRUE(cluster.WaitForService());
  const CountedClient client(cluster, /*rdma=*/true);
  PutOptions both;
  both.config.replica_num = 2;
  for (int i = 0; i < 8; ++i) {
    const std::string key = "k" + std::to_string(i);
    ASSERT_EQ(client->Put(key, AsBytes(ValueFor(key, 1, 500'000)), both).status(), Status::Ok());
  }
  std::atomic<bool> stop{false};
  std::atomic<int> reads{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      std::string got;
      for (int i = t; !stop; ++i) {
        const std::string key = "k" + std::to_string(i % 8);
        const Status status = client->Get(key, &got);
        if (status.ok() && !VersionOf(key, got)) ++wrong;
        ++reads;
      }
    });
  }
  EXPECT_TRUE(Eventually([&] { return reads > 10; }, Seconds(60)));
  cluster.node("a").Kill();
  const int at_kill = reads;
  EXPECT_TRUE(Eventually([&] { return reads > at_kill + 40; }, Seconds(60)));
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  for (int i = 0; i < 8; ++i) {
    const std::string key = "k" + std::to_string(i);
    std::string got;
    ASSERT_TRUE(client->Get(key, &got).ok());
    EXPECT_EQ(got, ValueFor(key, 1, 500'000));
  }
}

// A new term: nodes advance the epoch and register their memory anew, under the feet of a client with old keys.
TEST(RdmaCluster, AMasterThatRestartsLeavesNobodyWithOldKeys) {
  ClusterProcess cluster;
  cluster.StartNode(RdmaNodeSpec("a"));
  ASSERT_TRUE(cluster.WaitForService());
  const CountedClient client(cluster, /*rdma=*/true);
  ASSERT_EQ(client->Put("before", AsBytes(ValueFor("before", 1, 100'000))).status(), Status::Ok());
  cluster.RestartMaster();
  ASSERT_TRUE(cluster.WaitForSegments(1, Seconds(60)));
  const std::string value = ValueFor("after", 1, 100'000);
  EXPECT_TRUE(Eventually([&] { return client->Put("after", AsBytes(value)).ok(); }, Seconds(60)));
  std::string got;
  ASSERT_TRUE(client->Get("after", &got).ok());
  EXPECT_EQ(got, value);
}

void Shell(const std::string& command) {
  const RunResult run = Run({.command = {"/bin/bash", "-c", command}});
  ASSERT_TRUE(run.ended.ok()) << command << ": " << run.err;
}

RunResult StartRdmaNode(const std::string& master, const std::string& listen) {
  return Run({.command = {ProgramPath("mooncake-storenode"), "--master=" + master,
                          "--segment_size=16MiB", "--protocol=rdma", "--listen=" + listen}},
             Seconds(30));
}

TEST(RdmaCluster, ANodeOnAnAddressWithoutADeviceDoesNotStart) {
  Shell("ip link add e0 type dummy && ip addr add 10.78.0.1/24 dev e0 && ip link set e0 up");
  const ClusterProcess cluster;
  const RunResult run = StartRdmaNode(cluster.address(), "10.78.0.1:0");
  EXPECT_EQ(run.ended.exit_status, 1);
  EXPECT_NE(run.err.find("an address of an RDMA device's interface"), std::string::npos) << run.err;
}

TEST(RdmaCluster, ANodeThatFindsNoDeviceDoesNotStart) {
  const ClusterProcess cluster;
  const RunResult run =
      testing::Run({.command = {"/usr/bin/unshare", "--mount", "/bin/bash", "-c",
                                "mount -t tmpfs none /dev/infiniband && exec \"$@\"", "node",
                                ProgramPath("mooncake-storenode"), "--master=" + cluster.address(),
                                "--segment_size=16MiB", "--protocol=rdma",
                                "--listen=" + std::string(kRdmaAddress) + ":0"}},
                   Seconds(30));
  EXPECT_EQ(run.ended.exit_status, 1);
  EXPECT_NE(run.err.find("no RDMA device"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace mooncake::testing

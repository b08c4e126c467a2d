// kill -9 of each part in turn: what was acknowledged is read whole or not at all, nothing is left behind, and parts that come
// back find their place by themselves. Field reports F001, F040, F043, F044, F046, F057, F066.
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/integration/cluster/cluster_fixture.h"

namespace mooncake::testing {
namespace {

std::string KeyOf(int i) { return "key/" + std::to_string(i); }

TEST(Crash, AKilledWriterLeavesTheOldValueAndNoSpaceTaken) {
  ClusterProcess cluster(QuickMaster());
  cluster.StartNode({.name = "a", .size = 64 * kMiB});
  auto client = cluster.Connect();
  ASSERT_TRUE(client->Put("k", AsBytes(ValueFor("k", 1, 100000))).ok());
  const uint64_t used = StatusOf(*client).used;

  // The writer hangs in the middle of its transfer, because the node is frozen.
  cluster.node("a").Stop();
  Process writer({.command = {ProgramPath("mooncake-admin"), "--master=" + cluster.address(), "put",
                              "k", "-", "--replace"},
                  .input = ValueFor("k", 2, 20 * kMiB)});
  ASSERT_TRUE(Eventually([&] { return StatusOf(*client).processing_count == 1; }));
  writer.Kill();
  cluster.node("a").Continue();

  std::string value;
  ASSERT_TRUE(client->Get("k", &value).ok());
  EXPECT_EQ(VersionOf("k", value), 1u);
  EXPECT_TRUE(Eventually([&] {
    return StatusOf(*client).processing_count == 0 && StatusOf(*client).used == used;
  })) << "still in progress: "
      << StatusOf(*client).processing_count << ", used " << StatusOf(*client).used << " not "
      << used;
  ASSERT_TRUE(client->Put("k", AsBytes(ValueFor("k", 3, 30 * kMiB)), Replacing()).ok());
  ASSERT_TRUE(client->Get("k", &value).ok());
  EXPECT_EQ(VersionOf("k", value), 3u);
}

TEST(Crash, WithASecondReplicaADeadNodeIsNotNoticed) {
  ClusterProcess cluster(QuickMaster());
  cluster.StartNode({.name = "a"});
  cluster.StartNode({.name = "b"});
  for (const bool shared : {true, false}) {
    ClientOptions options;
    options.use_shared_memory = shared;
    auto client = cluster.Connect(options);
    PutOptions twice = Replacing();
    twice.config.replica_num = 2;
    for (int i = 0; i < 50; ++i) {
      const auto put = client->Put(KeyOf(i), AsBytes(ValueFor(KeyOf(i), 1, 10000)), twice);
      ASSERT_TRUE(put.ok()) << put.message();
      ASSERT_EQ(put->replicas, 2u);
    }
    cluster.node("b").Kill();
    for (int i = 0; i < 50; ++i) {
      std::string value;
      const Status status = client->Get(KeyOf(i), &value);
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_EQ(VersionOf(KeyOf(i), value), 1u);
    }
    cluster.StartNode({.name = "b"});
  }
}

TEST(Crash, KeysOfADeadNodeBecomeMissingAndCostOneTimeoutTogether) {
  ClusterProcess cluster(QuickMaster());
  cluster.StartNode({.name = "a"});
  cluster.StartNode({.name = "b"});
  auto client = cluster.Connect(OverTcp(Seconds(2)));
  for (int i = 0; i < 200; ++i) {
    const std::string key = KeyOf(i);
    ASSERT_TRUE(client->Put(key, AsBytes(ValueFor(key, 1, 5000)), On(i % 2 == 0 ? "a" : "b")).ok());
  }
  cluster.node("b").Kill();
  const TimePoint start = SystemClock().Now();
  for (int i = 0; i < 200; ++i) {
    std::string value;
    const Status status = client->Get(KeyOf(i), &value);
    ExpectRightOrError(KeyOf(i), status, value);
    EXPECT_EQ(status.ok(), i % 2 == 0) << KeyOf(i) << ": " << status;
  }
  // 100 dead keys with a time-out of 2 s each would take 200 s (F046).
  EXPECT_LT(SystemClock().Now() - start, Seconds(20));

  // In the end existence and readability say the same (F043).
  EXPECT_TRUE(Eventually([&] { return client->ExistKey(KeyOf(1)).value_or(true) == false; }));
  for (int i = 0; i < 200; ++i) {
    std::string value;
    const auto exists = client->ExistKey(KeyOf(i));
    ASSERT_TRUE(exists.ok()) << exists.message();
    EXPECT_EQ(*exists, i % 2 == 0) << KeyOf(i);
    EXPECT_EQ(client->Get(KeyOf(i), &value).code(),
              *exists ? ErrorCode::kOk : ErrorCode::kObjectNotFound);
  }
}

TEST(Crash, ANodeThatComesBackUnderItsNameHasNothingOfItsOldLife) {
  ClusterProcess cluster(QuickMaster());
  cluster.StartNode({.name = "n1", .size = 64 * kMiB});
  auto client = cluster.Connect();
  for (int i = 0; i < 300; ++i)
    ASSERT_TRUE(client->Put(KeyOf(i), AsBytes(ValueFor(KeyOf(i), 1, 20000))).ok());
  cluster.node("n1").Kill();
  cluster.StartNode({.name = "n1", .size = 48 * kMiB});
  for (int i = 0; i < 300; i += 3) {
    ASSERT_TRUE(client->Put(KeyOf(i), AsBytes(ValueFor(KeyOf(i), 2, 20000)), Replacing()).ok())
        << i;
  }
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 300; ++i) {
      std::string value;
      const Status status = client->Get(KeyOf(i), &value);
      if (i % 3 == 0) {
        ASSERT_TRUE(status.ok()) << status;
        EXPECT_EQ(VersionOf(KeyOf(i), value), 2u);
      } else {
        EXPECT_EQ(status.code(), ErrorCode::kObjectNotFound) << status;
      }
    }
  }
  const auto segments = client->master().GetSegments({}, In(Seconds(10)));
  ASSERT_TRUE(segments.ok());
  ASSERT_EQ(segments->size(), 1u);
  EXPECT_EQ((*segments)[0].descriptor.name, "n1");
  EXPECT_EQ((*segments)[0].descriptor.size, 48 * kMiB);
}

TEST(Crash, AMasterThatComesBackGetsItsNodesAndClientsBack) {
  ClusterProcess cluster(QuickMaster());
  cluster.StartNode({.name = "a"});
  cluster.StartNode({.name = "b"});
  auto client = cluster.Connect();
  auto remote = cluster.Connect(OverTcp(Seconds(3)));
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(client->Put(KeyOf(i), AsBytes(ValueFor(KeyOf(i), 1, 50000))).ok());
  }
  // Readers with cached replica lists, through it all (F044, F066).
  std::atomic<bool> done{false};
  std::atomic<int> good{0};
  const auto read = [&](Client& reader) {
    for (int i = 0; !done; i = (i + 1) % 100) {
      std::string value;
      const Status status = reader.Get(KeyOf(i), &value, Millis(500));
      ExpectRightOrError(KeyOf(i), status, value);
      if (status.ok()) ++good;
    }
  };
  std::thread here([&] { read(*client); });
  std::thread there([&] { read(*remote); });
  EXPECT_TRUE(Eventually([&] { return good > 200; }));

  cluster.RestartMaster();
  EXPECT_TRUE(cluster.WaitForSegments(2));
  // The new master gives the same memory to other keys.
  for (int i = 0; i < 100; ++i) {
    const std::string key = "new/" + std::to_string(i);
    EXPECT_TRUE(Eventually([&] {
      return client->Put(key, AsBytes(ValueFor(key, 1, 300000)), Replacing()).ok();
    })) << key;
  }
  done = true;
  here.join();
  there.join();
  for (Client* reader : {client.get(), remote.get()}) {
    for (int i = 0; i < 100; ++i) {
      const std::string key = "new/" + std::to_string(i);
      std::string value;
      const Status status = reader->Get(key, &value);
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_EQ(VersionOf(key, value), 1u);
    }
  }
}

TEST(Crash, AMountThatWasKilledIsReplacedByANewOneOverIt) {
  TempFolder folder;
  ClusterProcess cluster(QuickMaster());
  cluster.StartNode({.name = "a"});
  auto client = cluster.Connect();
  auto mount = cluster.Mount({.folder = folder / "m", .options = {"no_auto_unmount"}});
  const std::string value = ValueFor("whole", 1, 200000);
  std::ofstream(*mount / "whole", std::ios::binary) << value;
  const int half = ::open((*mount / "half").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  ASSERT_GE(half, 0);
  ASSERT_EQ(::write(half, value.data(), value.size()), static_cast<ssize_t>(value.size()));

  mount->process().Kill();
  ::close(half);
  EXPECT_EQ(::access((folder / "m/whole").c_str(), R_OK), -1);
  EXPECT_EQ(errno, ENOTCONN);

  auto again = cluster.Mount({.folder = folder / "m"});
  std::ifstream file(*again / "whole", std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), value);
  EXPECT_FALSE(std::filesystem::exists(*again / "half"));
  EXPECT_EQ(client->ExistKey("half").value_or(true), false);
  std::string stored;
  EXPECT_TRUE(client->Get("whole", &stored).ok());
  EXPECT_EQ(stored, value);
  mount.reset();
}

}  // namespace
}  // namespace mooncake::testing

// Two writers of one key, and the protocol used wrongly. Field reports F036, F039, F041.
#include <atomic>
#include <thread>

#include "tests/integration/cluster/cluster_fixture.h"

namespace mooncake::testing {
namespace {

TEST(Writers, TheProtocolUsedWronglyGetsDefiniteAnswers) {
  ClusterProcess cluster;
  cluster.StartNode({.name = "a"});
  auto client = cluster.Connect();
  MasterApi& master = client->master();
  const ObjectName name{kDefaultTenant, "k"};
  const ClientId first{1, 1};
  const ClientId second{2, 2};
  PutStartArgs args;
  args.client = first;
  args.name = name;
  args.size = 0;
  const auto started = master.BatchPutStart({&args, 1}, In(Seconds(5)));
  ASSERT_TRUE(started[0].ok()) << started[0].message();
  args.client = second;
  EXPECT_EQ(master.BatchPutStart({&args, 1}, In(Seconds(5)))[0].code(),
            ErrorCode::kObjectAlreadyExists);

  const auto end = [&](const ClientId& who, PutId put) {
    const PutEndArgs end_args{.client = who, .name = name, .put_id = put, .attributes = {}};
    return master.BatchPutEnd({&end_args, 1}, In(Seconds(5)))[0];
  };
  const auto revoke = [&](const ClientId& who, PutId put) {
    const PutRevokeArgs revoke_args{.client = who, .name = name, .put_id = put, .settled = true};
    return master.BatchPutRevoke({&revoke_args, 1}, In(Seconds(5)))[0];
  };
  const PutId put = started[0]->put_id;
  EXPECT_FALSE(end(second, PutId{put.value + 1}).ok());
  EXPECT_FALSE(end(second, kNoPut).ok());
  EXPECT_TRUE(end(first, put).ok());
  EXPECT_TRUE(end(first, put).ok()) << "repeating an End that succeeded is no error";
  EXPECT_FALSE(revoke(first, put).ok()) << "what is complete cannot be revoked";
  EXPECT_EQ(client->ExistKey("k").value_or(false), true);
  EXPECT_TRUE(cluster.master().Running());
}

TEST(Writers, OfOneNewKeyExactlyOneWins) {
  ClusterProcess cluster;
  cluster.StartNode({.name = "a", .size = 256 * kMiB});
  auto a = cluster.Connect();
  auto b = cluster.Connect(OverTcp());
  for (int i = 0; i < 100; ++i) {
    const std::string key = "k" + std::to_string(i);
    std::atomic<int> winners{0};
    const auto write = [&](Client& client, uint64_t version) {
      const auto put = client.Put(key, AsBytes(ValueFor(key, version, 50000 * version)));
      if (put.ok()) {
        ++winners;
      } else {
        EXPECT_EQ(put.code(), ErrorCode::kObjectAlreadyExists) << put.message();
      }
    };
    std::thread other([&] { write(*b, 2); });
    write(*a, 1);
    other.join();
    EXPECT_EQ(winners, 1) << key;
    std::string value;
    ASSERT_TRUE(a->Get(key, &value).ok());
    EXPECT_TRUE(VersionOf(key, value)) << "a mix under " << key;
  }
}

// Readers see one whole version or another while a key is replaced as fast as it goes.
TEST(Writers, ThatReplaceAKeyNeverShowAMix) {
  ClusterProcess cluster({.flags = {"--default_kv_lease_ttl=200ms"}});
  cluster.StartNode({.name = "a", .size = 256 * kMiB});
  auto writer = cluster.Connect();
  auto shared = cluster.Connect();
  auto remote = cluster.Connect(OverTcp());
  ASSERT_TRUE(writer->Put("k", AsBytes(ValueFor("k", 1, 1000))).ok());
  std::atomic<uint64_t> committed{1};
  std::atomic<bool> done{false};
  const auto read = [&](Client& client) {
    while (!done) {
      const uint64_t before = committed;
      std::string value;
      const Status status = client.Get("k", &value);
      ASSERT_TRUE(status.ok()) << status;
      const auto version = VersionOf("k", value);
      ASSERT_TRUE(version) << "a mix";
      EXPECT_GE(*version, before) << "older than what was acknowledged before the read began";
    }
  };
  std::thread here([&] { read(*shared); });
  std::thread there([&] { read(*remote); });
  for (uint64_t version = 2; version <= 200; ++version) {
    const auto put = writer->Put(
        "k", AsBytes(ValueFor("k", version, 1000 + version * 977 % 300000)), Replacing());
    EXPECT_TRUE(put.ok()) << put.message();
    if (put.ok()) committed = version;
  }
  done = true;
  here.join();
  there.join();
}

TEST(Writers, EmptyAndMissingAreDifferentThings) {
  ClusterProcess cluster;
  cluster.StartNode({.name = "a"});
  auto client = cluster.Connect();
  ASSERT_TRUE(client->Put("empty", {}).ok());
  std::string value = "old";
  EXPECT_TRUE(client->Get("empty", &value).ok());
  EXPECT_EQ(value, "");
  EXPECT_EQ(client->Get("missing", &value).code(), ErrorCode::kObjectNotFound);
  EXPECT_EQ(cluster.Admin({"get", "empty"}).ended.exit_status, 0);
  EXPECT_EQ(cluster.Admin({"get", "missing"}).ended.exit_status, 1);
}

}  // namespace
}  // namespace mooncake::testing

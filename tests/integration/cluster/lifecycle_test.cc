// Starting, stopping and coming back of real processes. Field reports F085, F091, F104.
#include <csignal>
#include <set>

#include "tests/integration/cluster/cluster_fixture.h"

namespace mooncake::testing {
namespace {

std::vector<SegmentInfo> Segments(Client& client) {
  auto segments = client.master().GetSegments({}, In(Seconds(10)));
  EXPECT_TRUE(segments.ok()) << segments.message();
  return segments.value_or({});
}

TEST(Lifecycle, SixteenNodesStartedAtOnceHaveSixteenEndpoints) {
  ClusterProcess cluster;
  std::vector<std::unique_ptr<Process>> nodes;
  for (int i = 0; i < 16; ++i) {
    nodes.push_back(std::make_unique<Process>(
        ProcessOptions{.command = {ProgramPath("mooncake-storenode"),
                                   "--master=" + cluster.address(), "--name=n" + std::to_string(i),
                                   "--segment_size=8MiB", "--listen=127.0.0.1:0"}}));
  }
  for (auto& node : nodes) {
    const auto ready = node->WaitForLine("ready ");
    ASSERT_TRUE(ready.ok()) << ready.message();
  }
  auto client = cluster.Connect(OverTcp());
  auto other = cluster.Connect();
  std::set<std::string> endpoints;
  for (const SegmentInfo& segment : Segments(*client))
    endpoints.insert(segment.descriptor.endpoint);
  EXPECT_EQ(endpoints.size(), 16u);
  for (int i = 0; i < 16; ++i) {
    const std::string key = "k" + std::to_string(i);
    const auto put =
        client->Put(key, AsBytes(ValueFor(key, 1, 100000)), On("n" + std::to_string(i)));
    ASSERT_TRUE(put.ok()) << put.message();
    std::string value;
    ASSERT_TRUE(other->Get(key, &value).ok());
    EXPECT_EQ(VersionOf(key, value), 1u);
  }
  for (const SegmentInfo& segment : Segments(*client))
    EXPECT_EQ(segment.object_count, 1u) << segment.descriptor.name;
}

TEST(Lifecycle, WhatWasStoredInTheFirstMomentOfANodeStays) {
  ClusterProcess cluster;
  cluster.StartNode({.name = "a"});
  auto client = cluster.Connect();
  ASSERT_TRUE(client->Put("k", AsBytes("value")).ok());
  const AccessEpoch epoch = Segments(*client).at(0).descriptor.epoch;
  // Longer than the pause between two heartbeats.
  EXPECT_FALSE(
      Eventually([&] { return Segments(*client).at(0).descriptor.epoch != epoch; }, Seconds(3)));
  std::string value;
  EXPECT_TRUE(client->Get("k", &value).ok());
  EXPECT_EQ(value, "value");
}

TEST(Lifecycle, ANodeThatIsStoppedTakesItsKeysAndLeavesAtOnce) {
  ClusterProcess cluster;  // with its long client_ttl: leaving does not wait for it
  cluster.StartNode({.name = "a"});
  cluster.StartNode({.name = "b"});
  auto client = cluster.Connect();
  ASSERT_TRUE(client->Put("on-a", AsBytes("x"), On("a")).ok());
  ASSERT_TRUE(client->Put("on-b", AsBytes("y"), On("b")).ok());
  const auto ended = cluster.node("a").Terminate();
  ASSERT_TRUE(ended);
  EXPECT_TRUE(ended->ok()) << ended->ToString();
  ASSERT_EQ(Segments(*client).size(), 1u);
  EXPECT_EQ(client->ExistKey("on-a").value_or(true), false);
  EXPECT_EQ(client->ExistKey("on-b").value_or(false), true);
  // Unreadable at once, cleaned up in slices.
  EXPECT_TRUE(Eventually([&] { return StatusOf(*client).object_count == 1; }));
}

TEST(Lifecycle, AMasterWithSlabsStoresValuesOfAllSizes) {
  ClusterProcess cluster({.flags = {"--memory_allocator=cachelib"}});
  cluster.StartNode({.name = "a", .size = 64 * kMiB});
  auto client = cluster.Connect();
  for (const size_t size : {size_t{0}, size_t{1}, size_t{4000}, 1 * kMiB, 4 * kMiB, 9 * kMiB + 5}) {
    const std::string key = "k" + std::to_string(size);
    const std::string value = ValueFor(key, 1, size);
    const auto put = client->Put(key, AsBytes(value));
    ASSERT_TRUE(put.ok()) << size << ": " << put.message();
    std::string got;
    ASSERT_EQ(client->Get(key, &got), Status::Ok()) << size;
    EXPECT_TRUE(got == value) << size;
  }
}

TEST(Lifecycle, ANodeWithAGraceServesReadsAndTakesNothingNewUntilItsEnd) {
  ClusterProcess cluster;
  Process& leaving = cluster.StartNode({.name = "a", .flags = {"--unmount_grace=2s"}});
  auto client = cluster.Connect();
  ASSERT_TRUE(client->Put("on-a", AsBytes("x"), On("a")).ok());
  cluster.StartNode({.name = "b"});
  leaving.Signal(SIGTERM);
  ASSERT_TRUE(Eventually([&] {
    const auto segments = Segments(*client);
    return segments.size() == 2 && segments[0].status == SegmentStatus::kGracefullyUnmounting;
  }));
  ASSERT_TRUE(client->Put("new", AsBytes("y"), On("a")).ok());
  std::string value;
  EXPECT_EQ(client->Get("on-a", &value), Status::Ok());
  const auto ended = leaving.Wait();
  ASSERT_TRUE(ended);
  EXPECT_TRUE(ended->ok()) << ended->ToString();
  EXPECT_EQ(Segments(*client).size(), 1u);
  EXPECT_EQ(client->ExistKey("on-a").value_or(true), false);
  EXPECT_EQ(client->Get("new", &value), Status::Ok());
}

// A signal to one thread in particular, each in turn (F104).
TEST(Lifecycle, SigtermToAnyThreadStopsANode) {
  ClusterProcess cluster;
  size_t threads = 1;
  for (size_t i = 0; i < threads; ++i) {
    Process& node = cluster.StartNode({.name = "a", .size = 8 * kMiB});
    const std::vector<pid_t> ids = node.Threads();
    threads = std::max(threads, ids.size());
    ASSERT_GE(ids.size(), 1u);
    node.SignalThread(ids[std::min(i, ids.size() - 1)], i % 2 == 0 ? SIGTERM : SIGINT);
    const auto ended = node.Wait();
    ASSERT_TRUE(ended) << "thread " << i << " of " << ids.size();
    EXPECT_TRUE(ended->ok()) << "thread " << i << ": " << ended->ToString();
  }
  EXPECT_GE(threads, 2u);
}

TEST(Lifecycle, SigtermToAnyThreadStopsAMaster) {
  size_t threads = 1;
  for (size_t i = 0; i < threads; ++i) {
    ClusterProcess cluster;
    cluster.StartNode({.name = "a", .size = 8 * kMiB});
    auto client = cluster.Connect();  // an open connection must not hold it up
    const std::vector<pid_t> ids = cluster.master().Threads();
    threads = std::max(threads, ids.size());
    cluster.master().SignalThread(ids[std::min(i, ids.size() - 1)], SIGTERM);
    const auto ended = cluster.master().Wait();
    ASSERT_TRUE(ended) << "thread " << i << " of " << ids.size();
    EXPECT_TRUE(ended->ok()) << "thread " << i << ": " << ended->ToString();
  }
  EXPECT_GE(threads, 2u);
}

TEST(Lifecycle, SigtermToAnyThreadStopsAMount) {
  TempFolder folder;
  ClusterProcess cluster;
  cluster.StartNode({.name = "a"});
  size_t threads = 1;
  for (size_t i = 0; i < threads; ++i) {
    auto mount = cluster.Mount({.folder = folder / "m", .options = {"threads=2"}});
    const std::vector<pid_t> ids = mount->process().Threads();
    threads = std::max(threads, ids.size());
    mount->process().SignalThread(ids[std::min(i, ids.size() - 1)], SIGTERM);
    const auto ended = mount->process().Wait();
    ASSERT_TRUE(ended) << "thread " << i << " of " << ids.size();
    EXPECT_TRUE(ended->ok()) << "thread " << i << ": " << ended->ToString();
  }
}

TEST(Lifecycle, ANodeWaitsForAMasterThatIsNotThereYet) {
  ClusterProcess cluster;
  cluster.master().Kill();
  Process node(
      {.command = {ProgramPath("mooncake-storenode"), "--master=" + cluster.address(), "--name=a",
                   "--segment_size=8MiB", "--listen=127.0.0.1:0", "--master_wait=60s"}});
  ASSERT_FALSE(node.WaitForLine("ready ", Millis(300)).ok());
  ASSERT_TRUE(node.Running());
  cluster.StartMaster();
  const auto ready = node.WaitForLine("ready ");
  EXPECT_TRUE(ready.ok()) << ready.message();
  EXPECT_TRUE(cluster.WaitForService());
}

}  // namespace
}  // namespace mooncake::testing

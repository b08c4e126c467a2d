// Patterns that make other engines explode (F108): answered or refused, nobody else waits, nothing is removed by mistake.
#include <atomic>
#include <thread>

#include "tests/integration/cluster/cluster_fixture.h"

namespace mooncake::testing {
namespace {

TEST(Regex, WorstCasesStopNobodyElse) {
  ClusterProcess cluster;
  cluster.StartNode({.name = "a"});
  auto client = cluster.Connect();
  ASSERT_TRUE(client->Put("other", AsBytes("value")).ok());
  constexpr int kKeys = 100;
  std::vector<std::string> keys;
  for (int i = 0; i < kKeys; ++i)
    keys.push_back(std::string(kMaxKeyBytes - 4, 'a') + std::to_string(1000 + i));
  std::vector<PutItem> items;
  for (const std::string& key : keys) items.push_back({key, AsBytes("v")});
  for (const auto& put : client->BatchPut(items)) ASSERT_TRUE(put.ok()) << put.message();

  std::atomic<bool> done{false};
  std::atomic<int> reads{0};
  std::thread reader([&] {
    while (!done) {
      std::string value;
      // The bound of a call is its deadline.
      const Status status = client->Get("other", &value, Seconds(1));
      EXPECT_TRUE(status.ok()) << status;
      ++reads;
    }
  });
  for (const char* pattern : {"(a*)*b", "([\\s\\S]+)?x$", "(a|aa)+$", "(.*)(.*)(.*)(.*)(.*)[^1]$z",
                              "^(([a-z])+.)+[A-Z]([a-z])+$", "(?:a?){500}a{500}z"}) {
    const int before = reads;
    const RunResult run = cluster.Admin({"rm", "--regex", pattern, "--yes"});
    EXPECT_EQ(run.ended.signal, 0) << pattern;
    EXPECT_EQ(run.err.find("timeout"), std::string::npos) << pattern << run.err;
    EXPECT_TRUE(Eventually([&] { return reads > before; }));
  }
  for (const char* pattern : {"(", "[z-a]", "a{1001}", "(?<=a)b", "\\1"}) {
    const RunResult run = cluster.Admin({"rm", "--regex", pattern, "--yes"});
    EXPECT_EQ(run.ended.exit_status, 2) << pattern << ": " << run.err;
  }
  const RunResult longest =
      cluster.Admin({"rm", "--regex", std::string(kMaxPatternBytes + 1, 'a'), "--yes"});
  EXPECT_EQ(longest.ended.exit_status, 2) << longest.err;
  done = true;
  reader.join();
  EXPECT_TRUE(cluster.master().Running());
  EXPECT_EQ(StatusOf(*client).object_count, kKeys + 1u)
      << "something was removed that does not match";
}

}  // namespace
}  // namespace mooncake::testing

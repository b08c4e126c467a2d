#include "tools/bench/replay_bench.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mooncake::bench {
namespace {

using testing::HasSubstr;

ReplayReport Report() {
  Trace trace;
  trace.Add({0, 1, 0, 2, 0});
  const auto report =
      ReplayTrace(trace, {.trace = "t", .policies = {"fifo", "lru"}, .capacities = {"2", "34%"}});
  EXPECT_TRUE(report.ok()) << report.status();
  return *report;
}

TEST(ReplayBench, CapacityIsBlocksOrAShareOfTheDistinctOnes) {
  EXPECT_EQ(*ParseCapacity("9139", 10), 9139u);
  EXPECT_EQ(*ParseCapacity("5%", 182790), 9139u);
  EXPECT_EQ(*ParseCapacity("0.5%", 1000), 5u);
  EXPECT_EQ(*ParseCapacity("100%", 77), 77u);
  EXPECT_EQ(*ParseCapacity("1%", 3), 1u);
}

TEST(ReplayBench, CapacityThatMakesNoSenseIsRefused) {
  for (const char* text :
       {"", "%", "0", "0%", "-1", "101%", "5%%", "5 %", "nan%", "1e2%", "12k", "1.5"}) {
    const auto capacity = ParseCapacity(text, 100);
    ASSERT_FALSE(capacity.ok()) << text;
    EXPECT_THAT(std::string(capacity.status().message()), HasSubstr("--capacity: ")) << text;
  }
}

TEST(ReplayBench, UnknownPolicyIsRefusedWithTheKnownOnes) {
  const Status status = ValidateReplay({.policies = {"lru", "mru"}});
  EXPECT_EQ(status.code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(std::string(status.message()),
            "--policy: mru; wanted one of fifo, lru, hit_density, master:lru, master:hit_density");
}

TEST(ReplayBench, EachPolicyStandsBesideFifoLruAndBelady) {
  std::ostringstream out;
  PrintReplay(Report(), 0, out);
  EXPECT_EQ(out.str(),
            "1 requests, 5 uses of 3 blocks; block hit ratios:\n"
            "CAPACITY  OF BLOCKS    FIFO     LRU  POLICY  ITS RATIO  BELADY  CLOSED\n"
            "       2      66.7%  0.2000  0.4000  fifo       0.2000  0.4000    0.0%\n"
            "       2      66.7%  0.2000  0.4000  lru        0.4000  0.4000    0.0%\n"
            "       1      33.3%  0.0000  0.0000  fifo       0.0000  0.0000    0.0%\n"
            "       1      33.3%  0.0000  0.0000  lru        0.0000  0.0000    0.0%\n");
}

TEST(ReplayBench, JsonHasTheSame) {
  std::ostringstream out;
  PrintReplayJson(Report(), out);
  const auto json = nlohmann::json::parse(out.str());
  EXPECT_EQ(json["blocks"], 3);
  ASSERT_EQ(json["rows"].size(), 4u);
  EXPECT_EQ(json["rows"][0]["policy"], "fifo");
  EXPECT_EQ(json["rows"][0]["hit_ratio"], 0.2);
  EXPECT_EQ(json["rows"][0]["belady"], 0.4);
}

}  // namespace
}  // namespace mooncake::bench

#include "tools/bench/report.h"

#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mooncake::bench {
namespace {

Samples Of(Duration time) {
  Samples samples;
  samples.Add(time);
  return samples;
}

BenchReport Rows() {
  return {
      {{.what = "get",
        .path = "shm",
        .figure = {.bytes = 1 << 20, .samples = Of(Millis(1))},
        .limit_name = "memcpy",
        .limit = {.bytes = 1 << 20, .samples = Of(Duration(500000))},
        .latencies = Of(Millis(1))},
       {.what = "ping", .path = "rpc", .figure = {.operations = 100, .samples = Of(Millis(1))}}},
      {{.name = "bytes_per_object", .label = "bytes an object", .value = 171.3}}};
}

TEST(Report, EachFigureStandsBesideItsLimit) {
  std::ostringstream out;
  PrintTable(Rows(), 0, out);
  EXPECT_EQ(out.str(),
            "WHAT  PATH   SIZE       RATE      P50      P99  LIMIT    ITS RATE  SHARE\n"
            "get   shm   1 MiB  1.05 GB/s  1.00 ms  1.00 ms  memcpy  2.10 GB/s  50.0%\n"
            "ping  rpc       -    100 k/s        -        -                  -      -\n"
            "bytes an object: 171\n");
}

TEST(Report, JsonHasTheSame) {
  std::ostringstream out;
  PrintJson(Rows(), out);
  const auto rows = nlohmann::json::parse(out.str())["rows"];
  EXPECT_EQ(rows[0]["bytes"], 1 << 20);
  EXPECT_DOUBLE_EQ(rows[0]["share"], 0.5);
  EXPECT_DOUBLE_EQ(rows[0]["p50_s"], 0.001);
  EXPECT_DOUBLE_EQ(rows[1]["per_second"], 100000);
  EXPECT_FALSE(rows[1].contains("limit"));
  EXPECT_DOUBLE_EQ(nlohmann::json::parse(out.str())["bytes_per_object"], 171.3);
}

TEST(Report, TailsStandBesideTheirGoalAndAQuietRun) {
  BenchReport report;
  report.tails.push_back({.what = "exist",
                          .path = "rpc",
                          .during = "puts evict",
                          .quiet = Of(Duration(2000)),
                          .disturbed = Of(Duration(3000)),
                          .goal = Millis(10)});
  std::ostringstream table;
  PrintTable(report, 0, table);
  EXPECT_NE(table.str().find("< 10.0 ms"), std::string::npos) << table.str();
  EXPECT_NE(table.str().find("puts evict"), std::string::npos) << table.str();

  std::ostringstream out;
  PrintJson(report, out);
  const auto tail = nlohmann::json::parse(out.str())["tails"][0];
  EXPECT_EQ(tail["while"], "puts evict");
  EXPECT_DOUBLE_EQ(tail["goal_p999_s"], 0.01);
  EXPECT_EQ(tail["disturbed"]["calls"], 1);
  EXPECT_DOUBLE_EQ(tail["disturbed"]["p999_s"], 3e-6);
  EXPECT_DOUBLE_EQ(tail["quiet"]["max_s"], 2e-6);
}

TEST(Report, RatesAndTimesHaveThreeDigits) {
  EXPECT_EQ(FormatRate(0, false), "0.00 /s");
  EXPECT_EQ(FormatRate(999.4, false), "999 /s");
  EXPECT_EQ(FormatRate(999.6, false), "1.00 k/s");
  EXPECT_EQ(FormatRate(12345678, true), "12.3 MB/s");
  EXPECT_EQ(FormatRate(5e12, true), "5000 GB/s");
  EXPECT_EQ(FormatTime(Duration(0)), "0.00 ns");
  EXPECT_EQ(FormatTime(Duration(1234)), "1.23 us");
  EXPECT_EQ(FormatTime(Seconds(123)), "123 s");
}

}  // namespace
}  // namespace mooncake::bench

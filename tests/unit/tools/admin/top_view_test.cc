#include "tools/admin/top_view.h"

#include <sstream>

#include <gtest/gtest.h>

#include "tools/admin/table.h"

namespace mooncake::admin {
namespace {

const std::vector<uint64_t> kBounds = {10, 1000, 2000000};

TopSample At(Duration uptime, uint64_t gets, uint64_t misses) {
  TopSample sample;
  sample.at = TimePoint(Seconds(1000) + uptime);
  sample.status.term = Term{5};
  sample.status.uptime = uptime;
  sample.status.evicted_objects = gets / 10;
  sample.activity.latency_bounds_us = kBounds;
  sample.activity.calls = {{"Ping", gets / 4, gets / 4, 0, {}},
                           {"BatchGetReplicaList", gets / 2, gets, misses, {gets / 2, 0, 0, 0}}};
  sample.activity.hit_bytes = gets << 20;
  return sample;
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(LatencyBoundTest, IsTheLeastBoundWithTheShareBelowIt) {
  EXPECT_EQ(LatencyBound(kBounds, {50, 49, 1, 0}, 0.5), 10u);
  EXPECT_EQ(LatencyBound(kBounds, {49, 50, 1, 0}, 0.5), 1000u);
  EXPECT_EQ(LatencyBound(kBounds, {0, 99, 1, 0}, 0.99), 1000u);
  EXPECT_EQ(LatencyBound(kBounds, {0, 98, 0, 2}, 0.99), std::nullopt);
}

TEST(TopView, RatesAreOfTheTimeBetweenTheLooks) {
  const TopSample before = At(Seconds(10), 1000, 100);
  const TopSample now = At(Seconds(14), 5000, 500);
  const Json json = TopJson(before, now, {.master = "m:1"});
  EXPECT_EQ(json["interval_ms"], 4000);
  EXPECT_EQ(json["gets_per_second"], 1000);
  EXPECT_EQ(json["hit_ratio"], 0.9);
  EXPECT_EQ(json["get_bytes_per_second"], uint64_t{1000} << 20);
  EXPECT_EQ(json["evicted_per_second"], 100);
  ASSERT_EQ(json["calls"].size(), 2u);
  EXPECT_EQ(json["calls"][0]["name"], "BatchGetReplicaList") << "the busiest first";
  EXPECT_EQ(json["calls"][0]["p99_us"], 10);
  EXPECT_EQ(json["calls"][1]["p99_us"], nullptr);
  const std::string text = RenderTop(before, now, {.master = "m:1"});
  EXPECT_TRUE(Has(text, "hits 90.0%") && Has(text, "rates of the last 4.0s") && Has(text, "<10us"))
      << text;
}

TEST(TopView, AnotherLifeOfTheMasterBeginsAtNothing) {
  TopSample before = At(Seconds(100), 100000, 0);
  before.status.term = Term{4};
  const TopSample now = At(Seconds(2), 500, 50);
  EXPECT_EQ(TopJson(before, now, {})["gets_per_second"], 250);
}

TEST(TopView, ShowsTheFullestFirstAndNoMoreThanAsked) {
  TopSample now = At(Seconds(1), 0, 0);
  for (uint64_t i = 1; i <= 5; ++i) {
    SegmentInfo segment;
    segment.descriptor.name = "segment" + std::to_string(i);
    segment.descriptor.size = 100;
    segment.used = i;
    now.segments.push_back(segment);
    now.tenants.push_back({.tenant = "tenant" + std::to_string(i) + "\x1b", .charged = i});
  }
  const std::string text = RenderTop(TopSampleAtStart(now), now, {.rows = 2});
  EXPECT_TRUE(Has(text, "segment5") && Has(text, "segment4") && Has(text, "tenant5")) << text;
  EXPECT_FALSE(Has(text, "segment3") || Has(text, "tenant3") || Has(text, "\x1b")) << text;
  EXPECT_EQ(TopJson(TopSampleAtStart(now), now, {.rows = 0})["tenants"].size(), 5u);
}

TEST(TopView, FitsATerminalOf80By24) {
  TopSample now = At(Seconds(1), 400000000, 10000);
  now.status.used = now.status.capacity = uint64_t{1000} << 40;
  now.status.object_count = now.status.soft_pinned_count = now.status.processing_count = 10000000;
  now.status.segment_count = now.status.client_count = 1000;
  now.status.version = "0.1.0";
  for (int i = 0; i < 20; ++i) {
    now.activity.calls.push_back({"Call" + std::to_string(i), 1, 1, 0, {}});
    now.segments.emplace_back().descriptor.name = std::string(60, 's') + std::to_string(i);
    now.tenants.push_back({.tenant = std::string(60, 't') + std::to_string(i)});
  }
  const TopLayout layout{.master = "127.0.0.1:50051", .width = 80, .rows = RowsThatFit(24, 10)};
  std::istringstream text(RenderTop(At(Seconds(0), 0, 0), now, layout));
  size_t lines = 0;
  for (std::string line; std::getline(text, line); ++lines)
    EXPECT_LE(DisplayWidth(line), 80u) << line;
  EXPECT_LT(lines, 24u);
  EXPECT_EQ(RowsThatFit(1, 10), 1u);
  EXPECT_EQ(RowsThatFit(1000, 10), 10u);
}

TEST(TopView, NoInterruptionOfTheClockDividesByNothing) {
  const TopSample now = At(Seconds(1), 10, 0);
  EXPECT_EQ(TopJson(now, now, {})["gets_per_second"], 0);
  EXPECT_TRUE(Has(RenderTop(now, now, {}), "hits -"));
}

}  // namespace
}  // namespace mooncake::admin

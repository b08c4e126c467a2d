#include "tools/bench/report.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <ostream>

#include <nlohmann/json.hpp>

#include "tools/admin/table.h"
#include "transfer/base/units.h"

namespace mooncake::bench {
namespace {

// Three digits that count.
std::string Digits(double value) {
  std::array<char, 32> text{};
  const int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

std::string Share(const Row& row) {
  if (row.limit_name.empty()) return "-";
  return Digits(row.Share() * 100) + "%";
}

std::string Latency(const Row& row, double share) {
  return row.latencies.size() > 0 ? FormatTime(row.latencies.Percentile(share)) : "-";
}

double InSeconds(Duration time) { return static_cast<double>(time.count()) / 1e9; }

std::string Tail(const Samples& samples, double share) {
  return samples.size() > 0 ? FormatTime(samples.Percentile(share)) : "-";
}

void PrintTails(const BenchReport& report, size_t width, std::ostream& out) {
  admin::Table table({{.title = "WHAT", .least = 8},
                      {.title = "PATH", .least = 6},
                      {.title = "WHILE", .least = 8},
                      {.title = "CALLS", .right = true},
                      {.title = "P50", .right = true},
                      {.title = "P99", .right = true},
                      {.title = "P99.9", .right = true},
                      {.title = "MAX", .right = true},
                      {.title = "GOAL P99.9", .right = true},
                      {.title = "QUIET P50", .right = true},
                      {.title = "P99", .right = true},
                      {.title = "P99.9", .right = true},
                      {.title = "MAX", .right = true}});
  for (const TailRow& row : report.tails) {
    table.Add({row.what, row.path, row.during, std::to_string(row.disturbed.size()),
               Tail(row.disturbed, 0.5), Tail(row.disturbed, 0.99), Tail(row.disturbed, 0.999),
               Tail(row.disturbed, 1), "< " + FormatTime(row.goal), Tail(row.quiet, 0.5),
               Tail(row.quiet, 0.99), Tail(row.quiet, 0.999), Tail(row.quiet, 1)});
  }
  out << table.Render(width);
}

nlohmann::ordered_json TailJson(const Samples& samples) {
  return {{"calls", samples.size()},
          {"p50_s", InSeconds(samples.Median())},
          {"p99_s", InSeconds(samples.Percentile(0.99))},
          {"p999_s", InSeconds(samples.Percentile(0.999))},
          {"max_s", InSeconds(samples.Percentile(1))}};
}

}  // namespace

double Figure::PerSecond() const {
  return bench::PerSecond(bytes == 0 ? operations : bytes * operations, samples.Median());
}

double Row::Share() const {
  const double most = limit.PerSecond();
  return most > 0 ? figure.PerSecond() / most : 0;
}

std::string FormatRate(double per_second, bool bytes) {
  static constexpr std::array<const char*, 4> kPrefixes = {"", "k", "M", "G"};
  size_t prefix = 0;
  while (per_second >= 999.5 && prefix + 1 < kPrefixes.size()) {
    per_second /= 1000;
    ++prefix;
  }
  return Digits(per_second) + " " + kPrefixes[prefix] + (bytes ? "B/s" : "/s");
}

std::string FormatTime(Duration time) {
  auto value = static_cast<double>(time.count());
  static constexpr std::array<const char*, 4> kUnits = {"ns", "us", "ms", "s"};
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return Digits(value) + " " + kUnits[unit];
}

void PrintTable(const BenchReport& report, int width, std::ostream& out) {
  const size_t columns = width > 0 ? static_cast<size_t>(width) : 0;
  admin::Table table({{.title = "WHAT", .least = 8},
                      {.title = "PATH", .least = 6},
                      {.title = "SIZE", .right = true},
                      {.title = "RATE", .right = true},
                      {.title = "P50", .right = true},
                      {.title = "P99", .right = true},
                      {.title = "LIMIT"},
                      {.title = "ITS RATE", .right = true},
                      {.title = "SHARE", .right = true}});
  for (const Row& row : report.rows) {
    const bool bytes = row.figure.bytes > 0;
    table.Add({row.what, row.path, bytes ? FormatSize(row.figure.bytes) : "-",
               FormatRate(row.figure.PerSecond(), bytes), Latency(row, 0.5), Latency(row, 0.99),
               row.limit_name,
               row.limit_name.empty() ? "-" : FormatRate(row.limit.PerSecond(), bytes),
               Share(row)});
  }
  if (!report.rows.empty()) out << table.Render(columns);
  if (!report.tails.empty()) PrintTails(report, columns, out << "\n");
  for (const Fact& fact : report.facts) out << fact.label << ": " << Digits(fact.value) << "\n";
}

void PrintJson(const BenchReport& report, std::ostream& out) {
  nlohmann::ordered_json document;
  document["rows"] = nlohmann::ordered_json::array();
  for (const Row& row : report.rows) {
    nlohmann::ordered_json json;
    json["what"] = row.what;
    json["path"] = row.path;
    json["bytes"] = row.figure.bytes;
    json["per_second"] = row.figure.PerSecond();
    json["samples"] = row.figure.samples.size();
    if (row.latencies.size() > 0) {
      json["p50_s"] = InSeconds(row.latencies.Median());
      json["p99_s"] = InSeconds(row.latencies.Percentile(0.99));
    }
    if (!row.limit_name.empty()) {
      json["limit"] = row.limit_name;
      json["limit_per_second"] = row.limit.PerSecond();
      json["share"] = row.Share();
    }
    document["rows"].push_back(std::move(json));
  }
  for (const TailRow& row : report.tails) {
    document["tails"].push_back({{"what", row.what},
                                 {"path", row.path},
                                 {"while", row.during},
                                 {"goal_p999_s", InSeconds(row.goal)},
                                 {"disturbed", TailJson(row.disturbed)},
                                 {"quiet", TailJson(row.quiet)}});
  }
  for (const Fact& fact : report.facts) document[fact.name] = fact.value;
  out << document.dump(1) << "\n";
}

}  // namespace mooncake::bench

#include "tools/bench/replay_bench.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ostream>

#include <nlohmann/json.hpp>

#include "tools/admin/table.h"
#include "tools/bench/replay.h"
#include "tools/bench/replay_master.h"

namespace mooncake::bench {
namespace {

std::string Fixed(double value, int decimals) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

double Ratio(uint64_t hits, uint64_t uses) {
  return static_cast<double>(hits) / static_cast<double>(uses);
}

std::string Known() {
  std::string names;
  for (const std::string_view name : core::EvictionPolicyNames())
    names += (names.empty() ? "" : ", ") + std::string(name);
  return names + ", master:lru, master:hit_density";
}

uint64_t HitsOf(std::string_view policy, const Trace& trace, size_t capacity) {
  if (const auto in_master = ParseMasterPolicy(policy))
    return ReplayHitsInMaster(trace, capacity, *in_master);
  return ReplayHits(trace, capacity, *core::MakeEvictionPolicy(policy));
}

}  // namespace

Result<size_t> ParseCapacity(std::string_view text, uint64_t blocks) {
  const Status wrong(ErrorCode::kInvalidParams,
                     "--capacity: " + std::string(text) +
                         "; wanted a number of blocks, as 9139, or a share of the distinct ones, "
                         "as 5% (more than 0, up to 100%)");
  const bool percent = text.ends_with('%');
  const char* end = text.data() + text.size() - (percent ? 1 : 0);
  if (!percent) {
    size_t count = 0;
    const auto [stop, error] = std::from_chars(text.data(), end, count);
    if (error != std::errc() || stop != end || count == 0) return wrong;
    return count;
  }
  double share = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, share, std::chars_format::fixed);
  if (error != std::errc() || stop != end || !(share > 0) || share > 100) return wrong;
  const double count = std::floor(share * static_cast<double>(blocks) / 100);
  return std::max<size_t>(1, static_cast<size_t>(count));
}

Status ValidateReplay(const ReplayOptions& options) {
  for (const std::string& name : options.policies) {
    if (core::MakeEvictionPolicy(name) == nullptr && !ParseMasterPolicy(name))
      return {ErrorCode::kInvalidParams, "--policy: " + name + "; wanted one of " + Known()};
  }
  for (const std::string& text : options.capacities)
    RETURN_IF_ERROR(ParseCapacity(text, 1).status());
  return Status::Ok();
}

Result<ReplayReport> ReplayTrace(const Trace& trace, const ReplayOptions& options) {
  ReplayReport report{.trace = options.trace,
                      .requests = trace.chain_ends.size(),
                      .uses = trace.uses.size(),
                      .blocks = trace.blocks};
  for (const std::string& text : options.capacities) {
    ASSIGN_OR_RETURN(const size_t capacity, ParseCapacity(text, trace.blocks));
    ReplayRow row{.capacity = capacity,
                  .fifo = HitsOf("fifo", trace, capacity),
                  .lru = HitsOf("lru", trace, capacity),
                  .belady = BeladyHits(trace, capacity)};
    for (const std::string& policy : options.policies) {
      row.policy = policy;
      row.hits = HitsOf(policy, trace, capacity);
      report.rows.push_back(row);
    }
  }
  return report;
}

Result<ReplayReport> BenchReplay(const ReplayOptions& options) {
  RETURN_IF_ERROR(ValidateReplay(options));
  ASSIGN_OR_RETURN(const Trace trace, ReadTrace(options.trace));
  return ReplayTrace(trace, options);
}

void PrintReplay(const ReplayReport& report, int width, std::ostream& out) {
  out << report.requests << " requests, " << report.uses << " uses of " << report.blocks
      << " blocks; block hit ratios:\n";
  admin::Table table({{.title = "CAPACITY", .right = true},
                      {.title = "OF BLOCKS", .right = true},
                      {.title = "FIFO", .right = true},
                      {.title = "LRU", .right = true},
                      {.title = "POLICY"},
                      {.title = "ITS RATIO", .right = true},
                      {.title = "BELADY", .right = true},
                      {.title = "CLOSED", .right = true}});
  for (const ReplayRow& row : report.rows) {
    table.Add(
        {std::to_string(row.capacity), Fixed(100 * Ratio(row.capacity, report.blocks), 1) + "%",
         Fixed(Ratio(row.fifo, report.uses), 4), Fixed(Ratio(row.lru, report.uses), 4), row.policy,
         Fixed(Ratio(row.hits, report.uses), 4), Fixed(Ratio(row.belady, report.uses), 4),
         Fixed(100 * ShareClosed(row.lru, row.hits, row.belady), 1) + "%"});
  }
  out << table.Render(width > 0 ? static_cast<size_t>(width) : 0);
}

void PrintReplayJson(const ReplayReport& report, std::ostream& out) {
  nlohmann::ordered_json document;
  document["trace"] = report.trace;
  document["requests"] = report.requests;
  document["uses"] = report.uses;
  document["blocks"] = report.blocks;
  document["rows"] = nlohmann::ordered_json::array();
  for (const ReplayRow& row : report.rows) {
    nlohmann::ordered_json json;
    json["capacity"] = row.capacity;
    json["policy"] = row.policy;
    json["fifo"] = Ratio(row.fifo, report.uses);
    json["lru"] = Ratio(row.lru, report.uses);
    json["hit_ratio"] = Ratio(row.hits, report.uses);
    json["belady"] = Ratio(row.belady, report.uses);
    json["closed"] = ShareClosed(row.lru, row.hits, row.belady);
    document["rows"].push_back(std::move(json));
  }
  out << document.dump(1) << "\n";
}

}  // namespace mooncake::bench

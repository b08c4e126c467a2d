#include "tools/admin/top_view.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <tuple>
#include <utility>

#include "tools/admin/human.h"
#include "tools/admin/table.h"
#include "transfer/base/units.h"

namespace mooncake::admin {
namespace {

// Counters only grow, unless what answers is not what answered before.
uint64_t Since(uint64_t before, uint64_t now) { return now >= before ? now - before : now; }

struct Rates {
  double seconds = 0;
  uint64_t gets = 0;
  uint64_t hits = 0;
  uint64_t hit_bytes = 0;
  uint64_t puts = 0;
  uint64_t put_bytes = 0;
  uint64_t evicted = 0;
  uint64_t evicted_bytes = 0;
  uint64_t without_room = 0;
  std::vector<CallActivity> calls;  // of the interval, those that were made, most keys first

  uint64_t PerSecond(uint64_t count) const {
    return seconds > 0 ? static_cast<uint64_t>(static_cast<double>(count) / seconds + 0.5) : 0;
  }
};

const CallActivity* Find(const std::vector<CallActivity>& calls, const std::string& name) {
  const auto found = std::find_if(calls.begin(), calls.end(),
                                  [&](const CallActivity& call) { return call.name == name; });
  return found == calls.end() ? nullptr : &*found;
}

std::vector<CallActivity> CallsSince(const Activity& before, const Activity& now) {
  std::vector<CallActivity> calls;
  for (CallActivity call : now.calls) {
    if (const CallActivity* old = Find(before.calls, call.name)) {
      call.calls = Since(old->calls, call.calls);
      call.items = Since(old->items, call.items);
      call.failed_items = Since(old->failed_items, call.failed_items);
      for (size_t i = 0; i < std::min(old->latencies.size(), call.latencies.size()); ++i)
        call.latencies[i] = Since(old->latencies[i], call.latencies[i]);
    }
    if (call.calls > 0) calls.push_back(std::move(call));
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const CallActivity& a, const CallActivity& b) { return a.items > b.items; });
  return calls;
}

Rates RatesBetween(const TopSample& earlier, const TopSample& now) {
  const bool same = earlier.status.term == now.status.term;
  const TopSample start = TopSampleAtStart(now);
  const TopSample& before = same ? earlier : start;
  Rates rates;
  rates.seconds = std::chrono::duration<double>(now.at - before.at).count();
  rates.calls = CallsSince(before.activity, now.activity);
  if (const CallActivity* gets = Find(rates.calls, "BatchGetReplicaList")) {
    rates.gets = gets->items;
    rates.hits = gets->items - std::min(gets->items, gets->failed_items);
  }
  if (const CallActivity* puts = Find(rates.calls, "BatchPutEnd"))
    rates.puts = puts->items - std::min(puts->items, puts->failed_items);
  rates.hit_bytes = Since(before.activity.hit_bytes, now.activity.hit_bytes);
  rates.put_bytes = Since(before.activity.put_bytes, now.activity.put_bytes);
  rates.without_room = Since(before.activity.puts_without_room, now.activity.puts_without_room);
  rates.evicted = Since(before.status.evicted_objects, now.status.evicted_objects);
  rates.evicted_bytes = Since(before.status.evicted_bytes, now.status.evicted_bytes);
  return rates;
}

std::string Bytes(const Rates& rates, uint64_t bytes) {
  return FormatSize(rates.PerSecond(bytes)) + "/s";
}
std::string Count(const Rates& rates, uint64_t count) {
  return FormatCount(rates.PerSecond(count)) + "/s";
}

std::string Microseconds(uint64_t us) {
  if (us >= 1'000'000) return std::to_string(us / 1'000'000) + "s";
  return us >= 1000 ? std::to_string(us / 1000) + "ms" : std::to_string(us) + "us";
}

std::string ShownBound(const Activity& activity, const CallActivity& call, double share) {
  const bool any = std::any_of(call.latencies.begin(), call.latencies.end(),
                               [](uint64_t count) { return count > 0; });
  if (!any) return "-";
  const auto& bounds = activity.latency_bounds_us;
  if (const auto bound = LatencyBound(bounds, call.latencies, share))
    return "<" + Microseconds(*bound);
  return ">" + Microseconds(bounds.empty() ? 0 : bounds.back());
}

std::string Head(const TopSample& now, const Rates& rates, const TopLayout& layout) {
  const ClusterStatus& s = now.status;
  std::array<char, 32> seconds{};
  std::snprintf(seconds.data(), seconds.size(), "%.1fs", rates.seconds);
  std::string out = layout.master + "  version " + EscapeForDisplay(s.version) + "  term " +
                    std::to_string(s.term.value) + "  up " + FormatAge(s.uptime) +
                    "  rates of the last " + seconds.data() + "\n";
  out += "memory  " + FormatSize(s.used) + " of " + FormatSize(s.capacity) + " (" +
         FormatShare(s.used, s.capacity) + ")  " + Plural(s.segment_count, "segment") + ", " +
         Plural(s.client_count, "client") + "\n";
  out += "objects " + FormatCount(s.object_count) + "  soft-pinned " +
         FormatCount(s.soft_pinned_count) + "  being written " + FormatCount(s.processing_count) +
         "\n";
  out += "gets    " + Count(rates, rates.gets) + "  hits " + FormatShare(rates.hits, rates.gets) +
         "  " + Bytes(rates, rates.hit_bytes) + "\n";
  out += "puts    " + Count(rates, rates.puts) + "  " + Bytes(rates, rates.put_bytes) +
         "  without room " + Count(rates, rates.without_room) + "\n";
  out += "evicted " + Count(rates, rates.evicted) + "  " + Bytes(rates, rates.evicted_bytes) + "\n";
  return out;
}

// The first `rows` of `entries`, all if 0; `order` says what comes first.
template <typename T, typename Order>
std::vector<T> Foremost(std::vector<T> entries, size_t rows, Order order) {
  std::stable_sort(entries.begin(), entries.end(), order);
  if (rows > 0 && entries.size() > rows) entries.resize(rows);
  return entries;
}

std::vector<SegmentInfo> ShownSegments(const TopSample& now, size_t rows) {
  return Foremost(now.segments, rows, [](const SegmentInfo& a, const SegmentInfo& b) {
    return std::tuple(b.used, a.descriptor.name) < std::tuple(a.used, b.descriptor.name);
  });
}
std::vector<TenantQuota> ShownTenants(const TopSample& now, size_t rows) {
  return Foremost(now.tenants, rows,
                  [](const TenantQuota& a, const TenantQuota& b) { return a.charged > b.charged; });
}
std::vector<CallActivity> ShownCalls(const Rates& rates, size_t rows) {
  return Foremost(rates.calls, rows,
                  [](const CallActivity&, const CallActivity&) { return false; });
}

Table CallTable(const TopSample& now, const Rates& rates, size_t rows) {
  Table table({{.title = "CALL", .least = 12},
               {.title = "CALLS/S", .right = true},
               {.title = "KEYS/S", .right = true},
               {.title = "FAILED/S", .right = true},
               {.title = "P50", .right = true},
               {.title = "P99", .right = true}});
  for (const CallActivity& call : ShownCalls(rates, rows)) {
    table.Add({EscapeForDisplay(call.name), FormatCount(rates.PerSecond(call.calls)),
               FormatCount(rates.PerSecond(call.items)),
               FormatCount(rates.PerSecond(call.failed_items)), ShownBound(now.activity, call, 0.5),
               ShownBound(now.activity, call, 0.99)});
  }
  return table;
}

Table SegmentTable(const TopSample& now, size_t rows) {
  Table table({{.title = "SEGMENT", .least = 12},
               {.title = "USED", .right = true},
               {.title = "SIZE", .right = true},
               {.title = "USE%", .right = true},
               {.title = "REPLICAS", .right = true}});
  for (const SegmentInfo& segment : ShownSegments(now, rows)) {
    const SegmentDescriptor& d = segment.descriptor;
    table.Add({EscapeForDisplay(d.name), FormatSize(segment.used), FormatSize(d.size),
               FormatShare(segment.used, d.size), FormatCount(segment.object_count)});
  }
  return table;
}

Table TenantTable(const TopSample& now, size_t rows) {
  Table table({{.title = "TENANT", .least = 12},
               {.title = "USED", .right = true},
               {.title = "QUOTA", .right = true},
               {.title = "USE%", .right = true},
               {.title = "OBJECTS", .right = true},
               {.title = "REFUSED", .right = true}});
  for (const TenantQuota& q : ShownTenants(now, rows)) {
    table.Add({EscapeForDisplay(q.tenant), FormatSize(q.charged), FormatSize(q.effective),
               FormatShare(q.charged, q.effective), FormatCount(q.objects),
               FormatCount(q.rejected)});
  }
  return table;
}

Json CallJson(const TopSample& now, const Rates& rates, const CallActivity& call) {
  Json json;
  json["name"] = call.name;
  json["calls_per_second"] = rates.PerSecond(call.calls);
  json["keys_per_second"] = rates.PerSecond(call.items);
  json["failed_per_second"] = rates.PerSecond(call.failed_items);
  const uint64_t counted =
      std::accumulate(call.latencies.begin(), call.latencies.end(), uint64_t{0});
  for (const auto& [name, share] : {std::pair("p50_us", 0.5), std::pair("p99_us", 0.99)}) {
    const auto bound = counted == 0
                           ? std::nullopt
                           : LatencyBound(now.activity.latency_bounds_us, call.latencies, share);
    json[name] = bound ? Json(*bound) : Json(nullptr);
  }
  return json;
}

}  // namespace

TopSample TopSampleAtStart(const TopSample& now) {
  TopSample start;
  start.at = now.at - now.status.uptime;
  start.status.term = now.status.term;
  return start;
}

std::optional<uint64_t> LatencyBound(const std::vector<uint64_t>& bounds,
                                     const std::vector<uint64_t>& counts, double share) {
  const uint64_t total = std::accumulate(counts.begin(), counts.end(), uint64_t{0});
  const double wanted = share * static_cast<double>(total);
  uint64_t below = 0;
  for (size_t i = 0; i < bounds.size() && i < counts.size(); ++i) {
    below += counts[i];
    if (static_cast<double>(below) >= wanted) return bounds[i];
  }
  return std::nullopt;
}

size_t RowsThatFit(size_t lines, size_t most) {
  // The head, for each table a blank and its titles, and the line on which the cursor stays.
  constexpr size_t kOther = 6 + 3 * 2 + 1;
  return std::clamp<size_t>(lines > kOther ? (lines - kOther) / 3 : 0, 1, most);
}

std::string RenderTop(const TopSample& before, const TopSample& now, const TopLayout& layout) {
  const Rates rates = RatesBetween(before, now);
  std::string out = Head(now, rates, layout);
  for (const Table& table : {CallTable(now, rates, layout.rows), SegmentTable(now, layout.rows),
                             TenantTable(now, layout.rows)}) {
    if (!table.empty()) out += "\n" + table.Render(layout.width);
  }
  return out;
}

Json TopJson(const TopSample& before, const TopSample& now, const TopLayout& layout) {
  const Rates rates = RatesBetween(before, now);
  Json json;
  json["master"] = layout.master;
  json["interval_ms"] = static_cast<int64_t>(rates.seconds * 1000);
  json["status"] = ToJson(now.status);
  json["gets_per_second"] = rates.PerSecond(rates.gets);
  json["hit_ratio"] = rates.gets == 0
                          ? Json(nullptr)
                          : Json(static_cast<double>(rates.hits) / static_cast<double>(rates.gets));
  json["get_bytes_per_second"] = rates.PerSecond(rates.hit_bytes);
  json["puts_per_second"] = rates.PerSecond(rates.puts);
  json["put_bytes_per_second"] = rates.PerSecond(rates.put_bytes);
  json["puts_without_room_per_second"] = rates.PerSecond(rates.without_room);
  json["evicted_per_second"] = rates.PerSecond(rates.evicted);
  json["evicted_bytes_per_second"] = rates.PerSecond(rates.evicted_bytes);
  json["calls"] = Json::array();
  for (const CallActivity& call : ShownCalls(rates, layout.rows))
    json["calls"].push_back(CallJson(now, rates, call));
  json["segments"] = Json::array();
  for (const SegmentInfo& segment : ShownSegments(now, layout.rows))
    json["segments"].push_back(ToJson(segment));
  json["tenants"] = Json::array();
  for (const TenantQuota& quota : ShownTenants(now, layout.rows))
    json["tenants"].push_back(ToJson(quota));
  return json;
}

}  // namespace mooncake::admin

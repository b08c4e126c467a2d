// What a master tells of itself. See wire.h.
#include <algorithm>
#include <limits>

#include "master/api/wire.h"
#include "master/api/wire_check.h"

namespace mooncake::wire {
namespace {

constexpr uint64_t kMaxCount = std::numeric_limits<int64_t>::max();

std::vector<int64_t> Signed(const std::vector<uint64_t>& values) {
  return {values.begin(), values.end()};
}

std::vector<uint64_t> Counts(const char* what, const std::vector<int64_t>& values, size_t limit,
                             Checker& check) {
  check.Add(CheckCount(what, values.size(), limit));
  std::vector<uint64_t> out;
  if (!check.ok()) return out;
  for (const int64_t value : values) out.push_back(check.Unsigned(what, value, kMaxCount));
  return out;
}

}  // namespace

thriftgen::Activity Encode(const Activity& activity) {
  thriftgen::Activity out;
  out.latency_bounds_us = Signed(activity.latency_bounds_us);
  for (const CallActivity& call : activity.calls) {
    thriftgen::CallActivity& entry = out.calls.emplace_back();
    entry.name = call.name;
    entry.calls = static_cast<int64_t>(call.calls);
    entry.items = static_cast<int64_t>(call.items);
    entry.failed_items = static_cast<int64_t>(call.failed_items);
    entry.latencies = Signed(call.latencies);
  }
  out.put_bytes = static_cast<int64_t>(activity.put_bytes);
  out.hit_bytes = static_cast<int64_t>(activity.hit_bytes);
  out.puts_without_room = static_cast<int64_t>(activity.puts_without_room);
  return out;
}

Result<Activity> Decode(thriftgen::Activity&& in) {
  Checker check;
  Activity out;
  out.latency_bounds_us =
      Counts("latency_bounds_us", in.latency_bounds_us, kMaxLatencyBounds, check);
  if (!std::is_sorted(out.latency_bounds_us.begin(), out.latency_bounds_us.end()))
    check.Fail(ErrorCode::kInvalidParams, "latency_bounds_us is not in order");
  check.Add(CheckCount("calls", in.calls.size(), kMaxReportedCalls));
  RETURN_IF_ERROR(check.status());
  for (thriftgen::CallActivity& entry : in.calls) {
    CallActivity& call = out.calls.emplace_back();
    check.Add(CheckLength("name of a call", entry.name.size(), kMaxNameBytes));
    call.name = std::move(entry.name);
    call.calls = check.Unsigned("calls", entry.calls, kMaxCount);
    call.items = check.Unsigned("items", entry.items, kMaxCount);
    call.failed_items = check.Unsigned("failed_items", entry.failed_items, kMaxCount);
    call.latencies = Counts("latencies", entry.latencies, kMaxLatencyBounds + 1, check);
    if (!call.latencies.empty() && call.latencies.size() != out.latency_bounds_us.size() + 1)
      check.Fail(ErrorCode::kInvalidParams, "latencies and their bounds differ in number");
  }
  out.put_bytes = check.Unsigned("put_bytes", in.put_bytes, kMaxCount);
  out.hit_bytes = check.Unsigned("hit_bytes", in.hit_bytes, kMaxCount);
  out.puts_without_room = check.Unsigned("puts_without_room", in.puts_without_room, kMaxCount);
  RETURN_IF_ERROR(check.status());
  return out;
}

thriftgen::ConfigValue Encode(const ConfigValue& value) {
  thriftgen::ConfigValue out;
  out.name = value.name;
  out.value = value.value;
  out.is_default = value.is_default;
  return out;
}

Result<std::vector<ConfigValue>> Decode(thriftgen::GetConfigReply&& in) {
  RETURN_IF_ERROR(CheckCount("values", in.values.size(), kMaxConfigValues));
  std::vector<ConfigValue> out;
  for (thriftgen::ConfigValue& value : in.values) {
    RETURN_IF_ERROR(CheckLength("name of an option", value.name.size(), kMaxNameBytes));
    RETURN_IF_ERROR(CheckLength("value of an option", value.value.size(), kMaxNameBytes));
    out.push_back({std::move(value.name), std::move(value.value), value.is_default});
  }
  return out;
}

}  // namespace mooncake::wire

#include "master/server/metrics_text.h"

#include <array>
#include <string_view>

#include "master/server/call_names.h"
#include "master/server/version.h"
#include "transfer/base/units.h"

namespace mooncake {
namespace {

class TextWriter {
 public:
  void Gauge(std::string_view name, std::string_view help, uint64_t value) {
    One(name, help, "gauge", value);
  }
  void Counter(std::string_view name, std::string_view help, uint64_t value) {
    One(name, help, "counter", value);
  }
  void Header(std::string_view name, std::string_view help, std::string_view type) {
    text_.append("# HELP ")
        .append(name)
        .append(" ")
        .append(help)
        .append("\n# TYPE ")
        .append(name)
        .append(" ");
    text_.append(type).append("\n");
  }
  // `label`: name="value" pairs, or "".
  void Value(std::string_view name, const std::string& label, uint64_t value) {
    text_.append(name);
    if (!label.empty()) text_.append("{").append(label).append("}");
    text_.append(" ").append(std::to_string(value)).append("\n");
  }
  // `counts` are those up to each bound, and last those above all of them. `label` as in Value.
  template <typename Bounds, typename Counts>
  void Histogram(const std::string& name, const std::string& label, const Bounds& bounds,
                 const Counts& counts, uint64_t sum) {
    const std::string before = label.empty() ? "" : label + ",";
    uint64_t total = 0;
    for (size_t i = 0; i < bounds.size(); ++i) {
      total += counts[i];
      Value(name + "_bucket", before + "le=\"" + std::to_string(bounds[i]) + "\"", total);
    }
    total += counts.back();
    Value(name + "_bucket", before + "le=\"+Inf\"", total);
    Value(name + "_sum", label, sum);
    Value(name + "_count", label, total);
  }
  std::string Take() { return std::move(text_); }

 private:
  void One(std::string_view name, std::string_view help, std::string_view type, uint64_t value) {
    Header(name, help, type);
    Value(name, "", value);
  }
  std::string text_;
};

// Names are any bytes, and a page must be UTF-8 without two equal series: they stand here as they are printed.
std::string Label(const char* what, const std::string& name) {
  std::string out = std::string(what) + "=\"";
  for (const char c : EscapeForDisplay(name)) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out + "\"";
}

void WriteCalls(const MasterCounters& counters, TextWriter& out) {
  for (const CallName& entry : CallNames()) {
    const CallCounters& call = counters.of(entry.call);
    const std::string single = "master_" + std::string(entry.metric);
    out.Counter(single + "_requests_total", "Keys or calls asked for", call.items);
    out.Counter(single + "_failures_total", "Of these, refused or failed", call.failed_items);
    if (!entry.batch) continue;
    const std::string batch = "master_batch_" + std::string(entry.metric);
    out.Counter(batch + "_requests_total", "Calls, of one key or more", call.requests);
    out.Counter(batch + "_failures_total", "Calls of which no key succeeded", call.failures);
    out.Counter(batch + "_partial_successes_total", "Calls of which some keys succeeded",
                call.partial_successes);
    out.Counter(batch + "_items_total", "Keys in calls", call.items);
    out.Counter(batch + "_failed_items_total", "Keys that failed", call.failed_items);
  }
}

// Of those that were called: a scrape has a few hundred lines less.
void WriteLatencies(const MasterCounters& counters, TextWriter& out) {
  out.Header("master_rpc_latency_us",
             "Microseconds from the whole request of an RPC to its whole reply, both at the master",
             "histogram");
  for (const CallName& entry : CallNames()) {
    const CallLatency& latency = counters.latency_of(entry.call);
    if (latency.empty()) continue;
    out.Histogram("master_rpc_latency_us", Label("rpc_name", std::string(entry.rpc)),
                  kLatencyBoundsUs, latency.counts, latency.total_us);
  }
}

void WriteSegments(MasterService& service, TextWriter& out) {
  // Nobody waits for this; the deadline plays no part.
  const auto segments = service.GetSegments({}, kNever);
  if (!segments.ok()) return;
  out.Header("segment_total_capacity_bytes", "Size of the segment", "gauge");
  for (const SegmentInfo& s : *segments) {
    out.Value("segment_total_capacity_bytes", Label("segment", s.descriptor.name),
              s.descriptor.size);
  }
  out.Header("segment_allocated_bytes", "Bytes in use on the segment, seals and rounding included",
             "gauge");
  for (const SegmentInfo& s : *segments) {
    out.Value("segment_allocated_bytes", Label("segment", s.descriptor.name), s.used);
  }
}

struct QuotaMetric {
  const char* name;
  const char* help;
  const char* type;
  uint64_t (*value)(const TenantQuota&);
};
constexpr std::array<QuotaMetric, 8> kQuotaMetrics = {{
    {"mooncake_tenant_quota_requested_bytes", "Bytes that the tenant's policy asks for", "gauge",
     [](const TenantQuota& q) { return q.requested; }},
    {"mooncake_tenant_quota_effective_bytes", "Bytes that the capacity allows of it", "gauge",
     [](const TenantQuota& q) { return q.effective; }},
    {"mooncake_tenant_quota_charged_bytes",
     "Bytes that the tenant holds, seals and rounding included", "gauge",
     [](const TenantQuota& q) { return q.charged; }},
    {"mooncake_tenant_quota_admission_closed", "1 while the tenant may not write", "gauge",
     [](const TenantQuota& q) { return uint64_t{q.admission_closed}; }},
    {"mooncake_tenant_quota_over_quota", "1 while it holds more than it may", "gauge",
     [](const TenantQuota& q) { return uint64_t{q.over_quota()}; }},
    {"mooncake_tenant_quota_explicit_policy", "1 if it has a policy", "gauge",
     [](const TenantQuota& q) { return uint64_t{q.requested > 0}; }},
    {"mooncake_tenant_quota_reject_total", "Writes that found no room below the quota", "counter",
     [](const TenantQuota& q) { return q.rejected; }},
    {"mooncake_tenant_evict_bytes_total", "Bytes evicted within the tenant for its own writes",
     "counter", [](const TenantQuota& q) { return q.evicted_bytes; }},
}};

// Only a master with multi_tenants has these.
void WriteQuotas(MasterService& service, const core::Counters& counters, TextWriter& out) {
  // A monitor that scrapes a hundred thousand tenants wants another tool.
  const auto list = service.ListQuotas("", kMaxListLimit, kNever);
  if (!list.ok()) return;
  for (const QuotaMetric& metric : kQuotaMetrics) {
    out.Header(metric.name, metric.help, metric.type);
    for (const TenantQuota& quota : list->quotas)
      out.Value(metric.name, Label("tenant_id", quota.tenant), metric.value(quota));
  }
  uint64_t requested = 0;
  uint64_t effective = 0;
  for (const TenantQuota& quota : list->quotas) {
    requested += quota.requested;  // may wrap: so large a sum says nothing
    effective += quota.effective;
  }
  out.Gauge("mooncake_tenant_quota_allocatable_capacity_bytes",
            "Bytes of all segments, of which tenants get their shares", counters.capacity);
  out.Gauge("mooncake_tenant_quota_requested_bytes_sum", "Of all tenants listed", requested);
  out.Gauge("mooncake_tenant_quota_effective_bytes_sum", "Of all tenants listed", effective);
  out.Counter("mooncake_tenant_quota_unregistered_reject_total",
              "Writes of tenants without a quota", counters.unregistered_rejections);
}

void WriteObjects(const core::Counters& c, TextWriter& out) {
  out.Gauge("master_allocated_bytes", "Bytes in use on all segments", c.used);
  out.Gauge("master_total_capacity_bytes", "Size of all segments", c.capacity);
  out.Gauge("master_key_count", "Readable objects", c.objects);
  out.Gauge("master_soft_pin_key_count", "Of these, soft-pinned", c.soft_pinned_objects);
  out.Gauge("master_hard_pin_key_count", "Of these, hard-pinned", c.hard_pinned_objects);
  out.Gauge("master_under_replicated_key_count", "Of these, with fewer replicas than asked for",
            c.under_replicated_objects);
  out.Gauge("master_active_clients", "Clients and nodes that ping", c.clients);
  out.Gauge("master_segment_count", "Segments", c.segments);
  out.Gauge("master_quarantined_segment_count",
            "Of these, taking nothing new because clients had trouble with them",
            c.quarantined_segments);
  out.Gauge("master_processing_key_count", "Writes in progress", c.puts_in_progress);
  out.Gauge("master_detached_bytes", "Bytes of replaced or removed versions that are still leased",
            c.detached_bytes);
  out.Gauge("master_put_start_discarded_staging_size",
            "Bytes of given-up writes that are still held", c.discarded_bytes);
  out.Counter("master_put_start_discard_cnt", "Unfinished writes that a later one replaced",
              c.puts_preempted);
  out.Counter("master_put_start_release_cnt", "Unfinished writes that were given up for their age",
              c.puts_expired);
  out.Counter("master_put_start_alloc_failures_total", "Writes that found no room",
              c.placement_failures);
  out.Counter("master_put_start_partial_allocations_total",
              "Writes with fewer replicas than asked for", c.partial_placements);
  out.Counter("master_evicted_key_count", "Objects evicted", c.evicted_objects);
  out.Counter("master_evicted_size_bytes", "Bytes evicted", c.evicted_bytes);
  out.Counter("master_lost_key_count", "Objects whose last segment went away", c.lost_objects);
  out.Counter("master_segment_quarantines_total",
              "Times that a segment was put in quarantine for what clients reported",
              c.quarantines);
  out.Counter("master_expired_clients_total", "Clients and nodes that stopped to ping",
              c.expired_clients);
}

void WriteSnapshots(const SnapshotNumbers& n, TextWriter& out) {
  out.Counter("master_snapshot_success_total", "Snapshots taken since the start", n.taken);
  out.Counter("master_snapshot_fail_total", "Snapshots that could not be taken", n.failed);
  out.Header("master_snapshot_duration_ms",
             "Milliseconds from the begin of a snapshot until it was safe on the disk",
             "histogram");
  out.Histogram("master_snapshot_duration_ms", "", kSnapshotMsBounds, n.durations, n.total_ms);
  out.Gauge("master_snapshot_last_begun_ms",
            "When the last one was begun, in milliseconds since 1970; 0 = none since the start",
            static_cast<uint64_t>(n.last.footer.wall_ms));
  out.Gauge("master_snapshot_last_records", "Records in the last one", n.last.footer.records);
  out.Gauge("master_snapshot_last_bytes", "Size of the last one", n.last.bytes);
}

// Only a master with a state_dir has these.
void WriteDurability(const DurabilityNumbers& n, TextWriter& out) {
  out.Gauge("master_log_durable_sequence", "Number of the last log record that is safe on the disk",
            n.log.durable);
  out.Gauge("master_log_waiting_records", "Log records that are not safe yet", n.log.waiting);
  out.Counter("master_log_commits_total",
              "Groups of log records that were written and synchronised", n.log.commits);
  out.Counter("master_log_failures_total", "Attempts to write the log that failed", n.log.failures);
  out.Gauge("master_log_failing", "1 while the last attempt to write the log failed",
            n.log.trouble.empty() ? 0 : 1);
  out.Gauge("master_log_held_bytes",
            "Bytes of segments that are free as soon as the log is safe on the disk", n.held_bytes);
  WriteSnapshots(n.snapshots, out);
}

}  // namespace

std::string MetricsText(MasterService& service, const ConnectionNumbers& connections) {
  TextWriter out;
  const MasterCounters& counters = service.counters();
  const core::Counters core = service.core_counters();
  WriteObjects(core, out);
  WriteSegments(service, out);
  WriteQuotas(service, core, out);
  out.Header("master_value_size_bytes", "Sizes of objects for which a put was started",
             "histogram");
  out.Histogram("master_value_size_bytes", "", kValueSizeBounds, counters.value_sizes,
                counters.value_bytes);
  const CallCounters& gets = counters.of(MasterCall::kGetReplicaList);
  out.Counter("total_get_nums_", "Keys whose replicas were asked for", gets.items);
  out.Counter("valid_get_nums_", "Of these, found", gets.items - gets.failed_items);
  out.Counter("mem_cache_hit_nums_", "Replica lists handed out", gets.items - gets.failed_items);
  out.Counter("mem_cache_hit_bytes_total", "Bytes of the objects found", counters.hit_bytes);
  WriteCalls(counters, out);
  WriteLatencies(counters, out);
  out.Gauge("master_rpc_connections", "Open RPC connections", connections.open);
  out.Counter("master_rpc_connections_refused_total", "Connections beyond max_connections",
              connections.refused);
  if (const auto durability = service.durability()) WriteDurability(*durability, out);
  return out.Take();
}

std::string MetricsSummary(MasterService& service, const ConnectionNumbers& connections) {
  const core::Counters c = service.core_counters();
  const uint64_t percent = c.capacity == 0 ? 0 : c.used * 100 / c.capacity;
  const auto calls = [&](MasterCall call) {
    const CallCounters& counters = service.counters().of(call);
    return std::to_string(counters.items - counters.failed_items) + "/" +
           std::to_string(counters.items);
  };
  return "role=leader version=" + std::string(Version()) +
         " term=" + std::to_string(service.term().value) + " used=" + FormatSize(c.used) +
         " capacity=" + FormatSize(c.capacity) + " (" + std::to_string(percent) +
         "%) keys=" + std::to_string(c.objects) +
         " soft_pinned=" + std::to_string(c.soft_pinned_objects) +
         " writing=" + std::to_string(c.puts_in_progress) +
         " segments=" + std::to_string(c.segments) + " clients=" + std::to_string(c.clients) +
         " connections=" + std::to_string(connections.open) +
         " put_start_ok=" + calls(MasterCall::kPutStart) +
         " put_end_ok=" + calls(MasterCall::kPutEnd) +
         " get_ok=" + calls(MasterCall::kGetReplicaList) +
         " exist_ok=" + calls(MasterCall::kExistKey) + " remove_ok=" + calls(MasterCall::kRemove) +
         " evicted=" + std::to_string(c.evicted_objects) +
         " no_room=" + std::to_string(c.placement_failures) +
         " expired_writes=" + std::to_string(c.puts_expired);
}

}  // namespace mooncake

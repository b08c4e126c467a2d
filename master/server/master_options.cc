#include "master/server/master_options.h"

#include <optional>

#include "master/tenants/policy_etcd.h"

namespace mooncake {
namespace {

void DescribeNetwork(MasterOptions& options, ConfigReader& reader) {
  reader.Section("Network");
  reader.Add("rpc_address", &options.rpc_address,
             "Address or name of this host to serve RPC on; 0.0.0.0 is all of IPv4, :: all of IPv6 "
             "and IPv4.");
  reader.Add("rpc_port", &options.rpc_port,
             "TCP port of the RPC service; 0 takes any free one, the log tells which.");
  reader.AddAlias("port", "rpc_port");
  reader.Add("max_connections", &options.max_connections,
             "RPC connections at one time, each with a thread of its own; further ones are told so "
             "and closed.");
  reader.AddDuration("rpc_conn_timeout_seconds", &options.rpc_idle_timeout, Seconds(1),
                     "RPC connections without a request are closed after this; 0 = never.");
  reader.Add("metrics_host", &options.metrics_host,
             "Address for HTTP: /health, /ready, /metrics and more.");
  reader.Add("metrics_port", &options.metrics_port, "TCP port for HTTP; 0 = no HTTP at all.");
  reader.Add("enable_metric_reporting", &options.enable_metric_reporting,
             "One summary line in the log every 10 s.");
  reader.Add("log_dir", &options.log_dir,
             "Folder for log files; without it the log goes to stderr.");
  reader.Add("v", &options.verbosity,
             "Detail of the log; 1 tells of each connection that ends badly.");
  reader.AddIgnored("rpc_thread_num", "each connection has its own thread, see max_connections");
  reader.AddIgnored("max_threads", "each connection has its own thread, see max_connections");
  reader.AddIgnored("rpc_enable_tcp_no_delay", "it is always on");
}

void DescribeObjects(core::CoreOptions& core, ConfigReader& reader) {
  reader.Section("Objects, leases and pins");
  reader.AddDuration("default_kv_lease_ttl", &core.lease_ttl, Millis(1), "Length of a read lease.");
  reader.AddDuration("default_kv_soft_pin_ttl", &core.soft_pin_ttl, Millis(1),
                     "Length of a soft pin that asks for none in particular.");
  reader.AddDuration("max_kv_soft_pin_ttl", &core.soft_pin_max_ttl, Millis(1),
                     "The longest soft pin that a request may ask for; not less than the default.");
  reader.AddDuration("put_start_discard_timeout_sec", &core.put_start_discard_timeout, Seconds(1),
                     "Age after which another writer may take the place of an unfinished write.");
  reader.AddDuration("put_start_release_timeout_sec", &core.put_start_release_timeout, Seconds(1),
                     "Age after which the space of an unfinished write is free again; more than "
                     "the discard timeout.");
  reader.AddDuration(
      "client_ttl", &core.client_ttl, Seconds(1),
      "A client or node that does not ping for so long is gone, its segments with it.");
  reader.AddAlias("client_live_ttl_sec", "client_ttl");
}

void DescribeSpace(MasterOptions& options, ConfigReader& reader) {
  core::CoreOptions& core = options.core;
  reader.Section("Space and eviction");
  reader.Add("eviction_high_watermark_ratio", &core.eviction_high_watermark,
             "Share of the capacity in use at which eviction begins; 1.0 = only when a write finds "
             "no room.");
  reader.Add(
      "segment_high_watermark_ratio", &core.segment_high_watermark,
      "The same for each single segment, so that one full segment beside empty ones is noticed.");
  reader.Add("eviction_ratio", &core.eviction_ratio,
             "Eviction goes on until the share in use is this much below the watermark.");
  reader.Add("allow_evict_soft_pinned_objects", &core.allow_evict_soft_pinned,
             "Evict soft-pinned objects when nothing else is left.");
  reader.AddChoice(
      "eviction_policy", &options.eviction_policy, {"lru", "hit_density"},
      "Which objects go first: the least recently used, or those that are least likely "
      "to be read again soon, as learnt from how objects were read so far.");
  reader.AddChoice("memory_allocator", &options.memory_allocator, {"offset", "cachelib"},
                   "How a segment's space is managed. cachelib (deprecated): in slabs of 4 MiB by "
                   "size class; segments must be a multiple of that.");
  reader.AddChoice("allocation_strategy", &options.allocation_strategy,
                   {"random", "free_ratio_first", "ssd_free_ratio_first", "local_first", "cxl"},
                   "Which segments new objects go to.");
  reader.Add("segment_failure_threshold", &core.failure_threshold,
             "When so many clients report failed transfers of one segment within "
             "segment_failure_window, nothing new goes there for segment_quarantine; at most 64, "
             "0 = never.");
  reader.AddDuration("segment_failure_window", &core.failure_window, Seconds(1),
                     "How long such a report counts.");
  reader.AddDuration("segment_quarantine", &core.quarantine, Seconds(1),
                     "How long such a segment takes nothing new; it stays readable.");
  reader.AddSize("min_slice_size", &core.min_slice_bytes,
                 "An object that fits no hole is split, but into no pieces smaller than this.");
}

void DescribeState(MasterOptions& options, ConfigReader& reader) {
  reader.Section("Surviving a restart");
  reader.Add("state_dir", &options.state_dir,
             "Folder on a local disk for the log and the snapshots: a master that starts again "
             "there knows all objects, and reads them when their nodes come back. Without it a "
             "restart begins empty.");
  reader.AddChoice("durability", &options.durability, {"async", "sync"},
                   "With state_dir, what a successful write promises: async: a crash of the master "
                   "may forget keys that were new in its last moments, never bring old ones back; "
                   "sync: it forgets nothing, each write waits for the disk.");
  reader.AddDuration("snapshot_interval_seconds", &options.snapshots.interval, Seconds(1),
                     "Time between two snapshots; sooner when the log has grown large.");
  reader.Add("snapshot_retention_count", &options.snapshots.retention,
             "Snapshots that are kept, at least 1.");
  for (const char* name : {"enable_snapshot", "enable_snapshot_restore"})
    reader.AddIgnored(name, "state_dir turns both on");
  reader.AddIgnored("snapshot_object_store_type", "snapshots are kept in state_dir");
  reader.AddIgnored("snapshot_child_timeout_seconds", "no child process takes part");
}

void DescribeTenants(MasterOptions& options, ConfigReader& reader) {
  reader.Section("Tenants and quotas");
  reader.Add(
      "enable_multi_tenants", &options.core.multi_tenants,
      "Only tenants with a quota may write, and no more than it allows; mooncake-admin quota "
      "sets quotas. Otherwise tenants only keep keys apart.");
  reader.AddChoice("tenant_quota_connector_type", &options.quota_connector, {"file", "etcd"},
                   "Where quotas are kept.");
  reader.Add("tenant_quota_connector_uri", &options.quota_uri,
             "The YAML file, which must be there, or host:port of etcd, several with commas. "
             "Without it: tenant_quotas.yaml in state_dir.");
  reader.Add("cluster_id", &options.cluster_id,
             "Name of this store among those that share an etcd: 1 to 128 letters, digits, '.', "
             "'_' and '-'.");
}

template <typename T>
Status Choose(const char* flag, const std::string& name,
              std::optional<T> (*parse)(std::string_view), T& choice) {
  const std::optional<T> known = parse(name);
  if (!known)
    return {ErrorCode::kInvalidParams, std::string(flag) + ": '" + name + "' is not known"};
  choice = *known;
  return Status::Ok();
}

Status FinishTenants(const MasterOptions& options) {
  if (!IsClusterId(options.cluster_id)) {
    return Status(ErrorCode::kInvalidParams,
                  "cluster_id: must be 1 to 128 letters, digits, '.', '_' and '-'");
  }
  if (!options.core.multi_tenants || !options.quota_uri.empty()) return Status::Ok();
  if (options.quota_connector == "file" && !options.state_dir.empty()) return Status::Ok();
  return Status(ErrorCode::kInvalidParams,
                "enable_multi_tenants: needs tenant_quota_connector_uri, or with the connector "
                "'file' a state_dir, to keep the quotas");
}

Status FinishState(MasterOptions& options) {
  if (options.snapshots.retention == 0)
    return Status(ErrorCode::kInvalidParams, "snapshot_retention_count: must be at least 1");
  if (options.snapshots.interval <= Duration::zero())
    return Status(ErrorCode::kInvalidParams, "snapshot_interval_seconds: must be more than 0");
  if (options.state_dir.empty()) return Status::Ok();
  return Choose("durability", options.durability, core::ParseDurability, options.core.durability);
}

}  // namespace

void DescribeMasterOptions(MasterOptions& options, ConfigReader& reader) {
  DescribeNetwork(options, reader);
  DescribeObjects(options.core, reader);
  DescribeSpace(options, reader);
  DescribeState(options, reader);
  DescribeTenants(options, reader);
  reader.Section("Other");
  reader.Epilogue(
      "SIGTERM or SIGINT stops it. Exit status: 0 stopped by a signal, 1 could not start (the last "
      "line says why and what\n"
      "to do), 2 an option is wrong.\n");
}

Status FinishMasterOptions(MasterOptions& options) {
  core::CoreOptions& core = options.core;
  RETURN_IF_ERROR(Choose("allocation_strategy", options.allocation_strategy,
                         core::ParseAllocationStrategy, core.allocation_strategy));
  RETURN_IF_ERROR(Choose("memory_allocator", options.memory_allocator, core::ParseMemoryAllocator,
                         core.memory_allocator));
  RETURN_IF_ERROR(Choose("eviction_policy", options.eviction_policy, core::ParseEvictionPolicy,
                         core.eviction_policy));
  if (options.max_connections == 0) {
    return Status(ErrorCode::kInvalidParams, "max_connections: must be at least 1");
  }
  RETURN_IF_ERROR(FinishState(options));
  RETURN_IF_ERROR(FinishTenants(options));
  return options.core.Validate();
}

}  // namespace mooncake

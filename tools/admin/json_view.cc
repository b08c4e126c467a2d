#include "tools/admin/json_view.h"

#include "tools/admin/exit_status.h"
#include "tools/admin/key_text.h"
#include "transfer/base/base64.h"
#include "transfer/base/units.h"

namespace mooncake::admin {

std::string_view NameOf(SegmentStatus status) {
  switch (status) {
    case SegmentStatus::kUndefined:
      return "undefined";
    case SegmentStatus::kOk:
      return "ok";
    case SegmentStatus::kDraining:
      return "draining";
    case SegmentStatus::kDrained:
      return "drained";
    case SegmentStatus::kGracefullyUnmounting:
      return "leaving";
    case SegmentStatus::kUnmounting:
      return "unmounting";
  }
  return "unknown";
}

std::string_view NameOf(ReplicaStatus status) {
  switch (status) {
    case ReplicaStatus::kProcessing:
      return "processing";
    case ReplicaStatus::kComplete:
      return "complete";
    case ReplicaStatus::kRemoved:
      return "removed";
    case ReplicaStatus::kFailed:
      return "failed";
  }
  return "unknown";
}

std::string_view NameOf(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kFile:
      return "file";
    case ObjectKind::kDirectory:
      return "directory";
    case ObjectKind::kSymlink:
      return "symlink";
  }
  return "unknown";
}

void SetText(Json& object, const std::string& name, std::string_view bytes) {
  if (IsUtf8(bytes)) {
    object[name] = std::string(bytes);
    return;
  }
  object[name] = EscapeForDisplay(bytes);
  object[name + "_base64"] = EncodeBase64(bytes);
}

Json ToJson(const Status& error) {
  Json json;
  json["code"] = std::string(ErrorCodeName(error.code()));
  json["number"] = static_cast<int32_t>(error.code());
  json["message"] = EscapeForDisplay(error.message());
  if (const std::string_view cure = CureOf(error.code()); !cure.empty())
    json["cure"] = std::string(cure);
  return json;
}

Json ToJson(const ClusterStatus& status) {
  Json json;
  json["version"] = EscapeForDisplay(status.version);
  json["term"] = status.term.value;
  json["uptime_ms"] = ToMillis(status.uptime);
  json["capacity"] = status.capacity;
  json["used"] = status.used;
  json["objects"] = status.object_count;
  json["writes_in_progress"] = status.processing_count;
  json["soft_pinned"] = status.soft_pinned_count;
  json["segments"] = status.segment_count;
  json["clients"] = status.client_count;
  json["evicted_objects"] = status.evicted_objects;
  json["evicted_bytes"] = status.evicted_bytes;
  return json;
}

Json ToJson(const SegmentInfo& segment) {
  const SegmentDescriptor& descriptor = segment.descriptor;
  Json json;
  SetText(json, "name", descriptor.name);
  json["id"] = descriptor.id.ToString();
  json["status"] = std::string(NameOf(segment.status));
  json["quarantined"] = segment.quarantined;
  json["size"] = descriptor.size;
  json["used"] = segment.used;
  json["largest_free"] = segment.largest_free;
  json["replicas"] = segment.object_count;
  json["epoch"] = descriptor.epoch.value;
  json["protocol"] = EscapeForDisplay(descriptor.protocol);
  json["endpoint"] = EscapeForDisplay(descriptor.endpoint);
  json["local_socket"] = EscapeForDisplay(descriptor.local_socket);
  SetText(json, "host_id", descriptor.host_id);
  json["owner"] = descriptor.owner.ToString();
  return json;
}

Json ToJson(const ClientInfo& client) {
  Json json;
  json["id"] = client.id.ToString();
  json["address"] = EscapeForDisplay(client.address);
  json["since_ping_ms"] = ToMillis(client.since_ping);
  json["segments"] = client.segment_count;
  return json;
}

Json ToJson(std::string_view key, const ObjectStat& stat) {
  Json json;
  SetText(json, "key", key);
  json["size"] = stat.size;
  json["version"] = std::to_string(stat.put_id.value);
  json["replicas"] = stat.replica_count;
  json["created_ms"] = stat.created_ms;
  json["lease_left_ms"] = ToMillis(stat.lease_left);
  json["soft_pin_left_ms"] = ToMillis(stat.soft_pin_left);
  json["hard_pin"] = stat.hard_pin;
  if (!stat.group.empty()) SetText(json, "group", stat.group);
  if (stat.attributes) {
    Json& attributes = json["attributes"];
    attributes["kind"] = std::string(NameOf(stat.attributes->kind));
    attributes["mode"] = stat.attributes->mode;
    attributes["uid"] = stat.attributes->uid;
    attributes["gid"] = stat.attributes->gid;
    attributes["mtime_ms"] = stat.attributes->mtime_ns / 1000000;
  }
  return json;
}

Json ToJson(const ReplicaDescriptor& replica) {
  Json json;
  json["status"] = std::string(NameOf(replica.status));
  json["extents"] = Json::array();
  for (const Extent& extent : replica.extents) {
    Json entry;
    entry["segment"] = extent.segment.ToString();
    entry["epoch"] = extent.epoch.value;
    entry["offset"] = extent.offset;
    entry["length"] = extent.length;
    json["extents"].push_back(std::move(entry));
  }
  return json;
}

Json ToJson(const ListEntry& entry) {
  if (!entry.is_prefix) return ToJson(entry.key, entry.stat);
  Json json;
  SetText(json, "prefix", entry.key);
  return json;
}

Json ToJson(const RemoveByRegexReply& reply) {
  Json json;
  json["matched"] = reply.matched;
  json["removed"] = reply.removed;
  json["skipped"] = reply.skipped;
  json["sample"] = Json::array();
  for (const RegexMatch& match : reply.sample) {
    Json entry;
    SetText(entry, "key", match.key);
    entry["size"] = match.size;
    json["sample"].push_back(std::move(entry));
  }
  return json;
}

Json ToJson(const SnapshotDescriptor& snapshot) {
  Json json;
  json["id"] = snapshot.id;
  json["usable"] = snapshot.trouble.empty();
  if (!snapshot.trouble.empty()) json["trouble"] = EscapeForDisplay(snapshot.trouble);
  json["records"] = snapshot.records;
  json["bytes"] = snapshot.bytes;
  json["begun_ms"] = snapshot.begun_ms;
  json["term"] = snapshot.term.value;
  json["log_from"] = snapshot.from;
  json["log_until"] = snapshot.until;
  return json;
}

Json ToJson(const DurabilityStatus& status) {
  Json json;
  json["mode"] = status.sync ? "sync" : "async";
  json["log_durable"] = status.log_durable;
  json["log_waiting"] = status.log_waiting;
  json["held_bytes"] = status.held_bytes;
  if (!status.log_trouble.empty()) json["log_trouble"] = EscapeForDisplay(status.log_trouble);
  json["snapshots_taken"] = status.snapshots_taken;
  json["snapshots_failed"] = status.snapshots_failed;
  if (status.snapshot_age) json["snapshot_age_ms"] = ToMillis(*status.snapshot_age);
  if (!status.snapshot_trouble.empty())
    json["snapshot_trouble"] = EscapeForDisplay(status.snapshot_trouble);
  return json;
}

Json ToJson(const TenantQuota& quota) {
  Json json;
  SetText(json, "tenant", quota.tenant);
  json["requested"] = quota.requested;
  json["effective"] = quota.effective;
  json["charged"] = quota.charged;
  json["objects"] = quota.objects;
  json["evicted_bytes"] = quota.evicted_bytes;
  json["rejected"] = quota.rejected;
  json["admission_closed"] = quota.admission_closed;
  json["over_quota"] = quota.over_quota();
  json["has_policy"] = quota.requested > 0;
  return json;
}

Json ToJson(const ConfigValue& value) {
  Json json;
  SetText(json, "name", value.name);
  SetText(json, "value", value.value);
  json["is_default"] = value.is_default;
  return json;
}

std::string Dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace mooncake::admin

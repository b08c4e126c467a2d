// Replies. See wire.h.
#include "master/api/wire.h"
#include "master/api/wire_check.h"

namespace mooncake::wire {
namespace {

constexpr uint64_t kAnySize =
    uint64_t{1} << 62;  // sums over the cluster: bounded only so that they can be added
constexpr uint64_t kAnyCount = uint64_t{1} << 62;

std::vector<thriftgen::Replica> EncodeReplicas(const std::vector<ReplicaDescriptor>& replicas) {
  std::vector<thriftgen::Replica> out(replicas.size());
  for (size_t i = 0; i < replicas.size(); ++i) {
    out[i].status = static_cast<int32_t>(replicas[i].status);
    out[i].extents.resize(replicas[i].extents.size());
    for (size_t j = 0; j < replicas[i].extents.size(); ++j) {
      const Extent& from = replicas[i].extents[j];
      thriftgen::Extent& to = out[i].extents[j];
      to.segment = EncodeUuid(from.segment);
      to.epoch = static_cast<int64_t>(from.epoch.value);
      to.offset = static_cast<int64_t>(from.offset);
      to.length = static_cast<int64_t>(from.length);
    }
  }
  return out;
}

std::vector<ReplicaDescriptor> DecodeReplicas(const std::vector<thriftgen::Replica>& in,
                                              Checker& check) {
  std::vector<ReplicaDescriptor> out;
  check.Add(CheckCount("replicas", in.size(), kMaxReplicas));
  if (!check.ok()) return out;
  out.resize(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    out[i].status = check.Enum("replica status", in[i].status, ReplicaStatus::kProcessing,
                               ReplicaStatus::kFailed);
    check.Add(CheckCount("extents", in[i].extents.size(), kMaxExtents));
    if (!check.ok()) return out;
    out[i].extents.reserve(in[i].extents.size());
    for (const thriftgen::Extent& from : in[i].extents) {
      Extent extent;
      extent.segment = DecodeUuid<SegmentId>(from.segment);
      extent.epoch = AccessEpoch{static_cast<uint64_t>(from.epoch)};
      // Bounded so that readers may add them without overflow.
      extent.offset = check.Unsigned("extent offset", from.offset, kMaxSegmentBytes);
      extent.length = check.Unsigned("extent length", from.length, kMaxSegmentBytes);
      out[i].extents.push_back(extent);
    }
  }
  return out;
}

std::optional<ObjectAttributes> DecodeAttributes(bool present, thriftgen::ObjectAttributes&& in,
                                                 Checker& check) {
  if (!present) return std::nullopt;
  auto attributes = Decode(std::move(in));
  check.Add(attributes.status());
  return attributes.ok() ? std::optional(*attributes) : std::nullopt;
}

uint32_t DecodeCount32(const char* what, int32_t value, Checker& check) {
  return static_cast<uint32_t>(check.Unsigned(what, value, INT32_MAX));
}

std::string DecodeKey(std::string&& key, Checker& check) {
  if (key.size() > kMaxKeyBytes || key.empty()) {
    check.Fail(ErrorCode::kInvalidKey, "a key of " + std::to_string(key.size()) + " bytes");
  }
  return std::move(key);
}

}  // namespace

thriftgen::PingReply Encode(const PingReply& reply) {
  thriftgen::PingReply out;
  out.ping_status = static_cast<int32_t>(reply.status);
  out.term = static_cast<int64_t>(reply.term.value);
  out.master_now_ms = reply.master_now_ms;
  out.client_ttl_ns = reply.client_ttl.count();
  out.log_position = static_cast<int64_t>(reply.log_position);
  return out;
}

Result<PingReply> Decode(thriftgen::PingReply&& in) {
  Checker check;
  PingReply out;
  out.status = check.Enum("ping status", in.ping_status, PingStatus::kOk, PingStatus::kNeedRemount);
  out.term = Term{static_cast<uint64_t>(in.term)};
  out.master_now_ms = in.master_now_ms;
  out.client_ttl = check.NotNegative("client_ttl", in.client_ttl_ns);
  out.log_position = check.Unsigned("log_position", in.log_position, INT64_MAX);
  RETURN_IF_ERROR(check.status());
  return out;
}

thriftgen::PutStartResult Encode(const PutStartReply& reply) {
  thriftgen::PutStartResult out;
  out.put_id = static_cast<int64_t>(reply.put_id.value);
  out.replicas = EncodeReplicas(reply.replicas);
  out.write_deadline_ms = reply.write_deadline_ms;
  out.grant_ns = reply.grant.count();
  return out;
}

Result<PutStartReply> Decode(thriftgen::PutStartResult&& in) {
  Checker check;
  PutStartReply out;
  out.put_id = PutId{static_cast<uint64_t>(in.put_id)};
  out.replicas = DecodeReplicas(in.replicas, check);
  out.write_deadline_ms = in.write_deadline_ms;
  out.grant = check.NotNegative("grant", in.grant_ns);
  RETURN_IF_ERROR(check.status());
  return out;
}

thriftgen::ReplicaList Encode(const ReplicaList& list) {
  thriftgen::ReplicaList out;
  out.put_id = static_cast<int64_t>(list.put_id.value);
  out.size = static_cast<int64_t>(list.size);
  out.replicas = EncodeReplicas(list.replicas);
  out.lease_ns = list.lease.count();
  if (list.attributes) out.__set_attributes(Encode(*list.attributes));
  out.created_ms = list.created_ms;
  return out;
}

Result<ReplicaList> Decode(thriftgen::ReplicaList&& in) {
  Checker check;
  ReplicaList out;
  out.put_id = PutId{static_cast<uint64_t>(in.put_id)};
  out.size = check.Unsigned("size", in.size, kMaxObjectBytes);
  out.replicas = DecodeReplicas(in.replicas, check);
  out.lease = check.NotNegative("lease", in.lease_ns);
  out.attributes = DecodeAttributes(in.__isset.attributes, std::move(in.attributes), check);
  out.created_ms = in.created_ms;
  RETURN_IF_ERROR(check.status());
  return out;
}

thriftgen::ObjectStat Encode(const ObjectStat& stat) {
  thriftgen::ObjectStat out;
  out.put_id = static_cast<int64_t>(stat.put_id.value);
  out.size = static_cast<int64_t>(stat.size);
  out.replica_count = static_cast<int32_t>(stat.replica_count);
  out.lease_left_ns = stat.lease_left.count();
  out.soft_pin_left_ns = stat.soft_pin_left.count();
  out.hard_pin = stat.hard_pin;
  if (!stat.group.empty()) out.__set_group(stat.group);
  if (stat.attributes) out.__set_attributes(Encode(*stat.attributes));
  out.created_ms = stat.created_ms;
  return out;
}

Result<ObjectStat> Decode(thriftgen::ObjectStat&& in) {
  Checker check;
  ObjectStat out;
  out.put_id = PutId{static_cast<uint64_t>(in.put_id)};
  out.size = check.Unsigned("size", in.size, kMaxObjectBytes);
  out.replica_count = DecodeCount32("replica_count", in.replica_count, check);
  out.lease_left = check.NotNegative("lease_left", in.lease_left_ns);
  out.soft_pin_left = check.NotNegative("soft_pin_left", in.soft_pin_left_ns);
  out.hard_pin = in.hard_pin;
  check.Add(CheckLength("group", in.group.size(), kMaxNameBytes));
  out.group = std::move(in.group);
  out.attributes = DecodeAttributes(in.__isset.attributes, std::move(in.attributes), check);
  out.created_ms = in.created_ms;
  RETURN_IF_ERROR(check.status());
  return out;
}

thriftgen::ListObjectsReply Encode(const ListReply& reply) {
  thriftgen::ListObjectsReply out;
  out.entries.resize(reply.entries.size());
  for (size_t i = 0; i < reply.entries.size(); ++i) {
    out.entries[i].key = reply.entries[i].key;
    out.entries[i].is_prefix = reply.entries[i].is_prefix;
    if (!reply.entries[i].is_prefix) out.entries[i].__set_stat(Encode(reply.entries[i].stat));
  }
  out.truncated = reply.truncated;
  return out;
}

Result<ListReply> Decode(thriftgen::ListObjectsReply&& in) {
  Checker check;
  ListReply out;
  RETURN_IF_ERROR(CheckCount("entries", in.entries.size(), kMaxListLimit));
  out.entries.resize(in.entries.size());
  for (size_t i = 0; i < in.entries.size(); ++i) {
    out.entries[i].key = DecodeKey(std::move(in.entries[i].key), check);
    out.entries[i].is_prefix = in.entries[i].is_prefix;
    if (!in.entries[i].is_prefix) {
      ASSIGN_OR_RETURN(out.entries[i].stat, Decode(std::move(in.entries[i].stat)));
    }
  }
  out.truncated = in.truncated;
  RETURN_IF_ERROR(check.status());
  return out;
}

thriftgen::RemoveByRegexReply Encode(const RemoveByRegexReply& reply) {
  thriftgen::RemoveByRegexReply out;
  out.matched = static_cast<int64_t>(reply.matched);
  out.removed = static_cast<int64_t>(reply.removed);
  out.skipped = static_cast<int64_t>(reply.skipped);
  out.sample.resize(reply.sample.size());
  for (size_t i = 0; i < reply.sample.size(); ++i) {
    out.sample[i].key = reply.sample[i].key;
    out.sample[i].size = static_cast<int64_t>(reply.sample[i].size);
  }
  return out;
}

Result<RemoveByRegexReply> Decode(thriftgen::RemoveByRegexReply&& in) {
  Checker check;
  RemoveByRegexReply out;
  out.matched = check.Unsigned("matched", in.matched, kAnyCount);
  out.removed = check.Unsigned("removed", in.removed, kAnyCount);
  out.skipped = check.Unsigned("skipped", in.skipped, kAnyCount);
  RETURN_IF_ERROR(CheckCount("samples", in.sample.size(), kMaxListLimit));
  for (thriftgen::RegexMatch& match : in.sample) {
    const uint64_t size = check.Unsigned("size", match.size, kMaxObjectBytes);
    out.sample.push_back({DecodeKey(std::move(match.key), check), size});
  }
  RETURN_IF_ERROR(check.status());
  return out;
}

thriftgen::SegmentInfo Encode(const SegmentInfo& info) {
  thriftgen::SegmentInfo out;
  out.descriptor = Encode(info.descriptor);
  out.status = static_cast<int32_t>(info.status);
  out.used = static_cast<int64_t>(info.used);
  out.largest_free = static_cast<int64_t>(info.largest_free);
  out.object_count = static_cast<int64_t>(info.object_count);
  out.quarantined = info.quarantined;
  return out;
}

Result<SegmentInfo> Decode(thriftgen::SegmentInfo&& in) {
  Checker check;
  SegmentInfo out;
  ASSIGN_OR_RETURN(out.descriptor, Decode(std::move(in.descriptor)));
  out.status = check.Enum("segment status", in.status, SegmentStatus::kUndefined,
                          SegmentStatus::kUnmounting);
  out.used = check.Unsigned("used", in.used, kMaxSegmentBytes);
  out.largest_free = check.Unsigned("largest_free", in.largest_free, kMaxSegmentBytes);
  out.object_count = check.Unsigned("object_count", in.object_count, kAnyCount);
  out.quarantined = in.quarantined;
  RETURN_IF_ERROR(check.status());
  return out;
}

thriftgen::ClientInfo Encode(const ClientInfo& info) {
  thriftgen::ClientInfo out;
  out.id = EncodeUuid(info.id);
  out.address = info.address;
  out.since_ping_ns = info.since_ping.count();
  out.segment_count = static_cast<int32_t>(info.segment_count);
  return out;
}

Result<ClientInfo> Decode(thriftgen::ClientInfo&& in) {
  Checker check;
  ClientInfo out;
  out.id = DecodeUuid<ClientId>(in.id);
  check.Add(CheckLength("address", in.address.size(), kMaxNameBytes));
  out.address = std::move(in.address);
  out.since_ping = check.NotNegative("since_ping", in.since_ping_ns);
  out.segment_count = DecodeCount32("segment_count", in.segment_count, check);
  RETURN_IF_ERROR(check.status());
  return out;
}

thriftgen::ClientAddresses Encode(const ClientAddresses& addresses) {
  thriftgen::ClientAddresses out;
  out.client = EncodeUuid(addresses.client);
  out.addresses = addresses.addresses;
  return out;
}

Result<ClientAddresses> Decode(thriftgen::ClientAddresses&& in) {
  Checker check;
  check.Add(CheckCount("addresses", in.addresses.size(), kMaxBatch));
  for (const std::string& address : in.addresses)
    check.Add(CheckLength("address", address.size(), kMaxNameBytes));
  RETURN_IF_ERROR(check.status());
  return ClientAddresses{DecodeUuid<ClientId>(in.client), std::move(in.addresses)};
}

thriftgen::ClusterStatus Encode(const ClusterStatus& status) {
  thriftgen::ClusterStatus out;
  out.term = static_cast<int64_t>(status.term.value);
  out.version = status.version;
  out.capacity = static_cast<int64_t>(status.capacity);
  out.used = static_cast<int64_t>(status.used);
  out.object_count = static_cast<int64_t>(status.object_count);
  out.processing_count = static_cast<int64_t>(status.processing_count);
  out.soft_pinned_count = static_cast<int64_t>(status.soft_pinned_count);
  out.segment_count = static_cast<int32_t>(status.segment_count);
  out.client_count = static_cast<int32_t>(status.client_count);
  out.evicted_objects = static_cast<int64_t>(status.evicted_objects);
  out.evicted_bytes = static_cast<int64_t>(status.evicted_bytes);
  out.uptime_ns = status.uptime.count();
  return out;
}

Result<ClusterStatus> Decode(thriftgen::ClusterStatus&& in) {
  Checker check;
  ClusterStatus out;
  out.term = Term{static_cast<uint64_t>(in.term)};
  check.Add(CheckLength("version", in.version.size(), kMaxNameBytes));
  out.version = std::move(in.version);
  out.capacity = check.Unsigned("capacity", in.capacity, kAnySize);
  out.used = check.Unsigned("used", in.used, kAnySize);
  out.object_count = check.Unsigned("object_count", in.object_count, kAnyCount);
  out.processing_count = check.Unsigned("processing_count", in.processing_count, kAnyCount);
  out.soft_pinned_count = check.Unsigned("soft_pinned_count", in.soft_pinned_count, kAnyCount);
  out.segment_count = DecodeCount32("segment_count", in.segment_count, check);
  out.client_count = DecodeCount32("client_count", in.client_count, check);
  out.evicted_objects = check.Unsigned("evicted_objects", in.evicted_objects, kAnyCount);
  out.evicted_bytes = check.Unsigned("evicted_bytes", in.evicted_bytes, kAnySize);
  out.uptime = check.NotNegative("uptime", in.uptime_ns);
  RETURN_IF_ERROR(check.status());
  return out;
}

}  // namespace mooncake::wire

// Requests, and the parts that requests and replies share. See wire.h.
#include <algorithm>
#include <limits>

#include "master/api/wire.h"
#include "master/api/wire_check.h"

namespace mooncake::wire {
namespace {

thriftgen::ReplicateConfig EncodeConfig(const ReplicateConfig& config) {
  thriftgen::ReplicateConfig out;
  out.replica_num = static_cast<int32_t>(config.replica_num);
  out.soft_pin = static_cast<int32_t>(config.soft_pin);
  if (config.soft_pin_ttl) out.__set_soft_pin_ttl_ns(config.soft_pin_ttl->count());
  out.hard_pin = config.hard_pin;
  if (!config.group.empty()) out.__set_group(config.group);
  if (!config.preferred_segments.empty()) out.__set_preferred_segments(config.preferred_segments);
  if (!config.excluded_segments.empty()) out.__set_excluded_segments(config.excluded_segments);
  if (!config.host_id.empty()) out.__set_host_id(config.host_id);
  out.prefer_same_node = config.prefer_same_node;
  return out;
}

std::vector<std::string> DecodeNames(const char* what, std::vector<std::string>&& names,
                                     Checker& check) {
  check.Add(CheckCount(what, names.size(), kMaxSegmentNames));
  for (const std::string& name : names) check.Add(CheckLength(what, name.size(), kMaxNameBytes));
  return std::move(names);
}

ReplicateConfig DecodeConfig(thriftgen::ReplicateConfig&& in, Checker& check) {
  ReplicateConfig out;
  // 0 is for the core to refuse: it is a matter of meaning, not of form.
  out.replica_num =
      static_cast<uint32_t>(check.Unsigned("replica_num", in.replica_num, kMaxReplicas));
  out.soft_pin =
      check.Enum("soft_pin", in.soft_pin, SoftPinAction::kPreserve, SoftPinAction::kDisable);
  if (in.__isset.soft_pin_ttl_ns)
    out.soft_pin_ttl = check.NotNegative("soft_pin_ttl", in.soft_pin_ttl_ns);
  out.hard_pin = in.hard_pin;
  check.Add(CheckLength("group", in.group.size(), kMaxNameBytes));
  out.group = std::move(in.group);
  out.preferred_segments =
      DecodeNames("preferred_segments", std::move(in.preferred_segments), check);
  out.excluded_segments = DecodeNames("excluded_segments", std::move(in.excluded_segments), check);
  check.Add(CheckLength("host_id", in.host_id.size(), kMaxNameBytes));
  out.host_id = std::move(in.host_id);
  out.prefer_same_node = in.prefer_same_node;
  return out;
}

ObjectName DecodeName(thriftgen::ObjectName&& in, Checker& check) {
  auto name = Decode(std::move(in));
  if (name.ok()) return std::move(name).value();
  check.Add(name.status());
  return {};
}

PutId DecodePutId(int64_t value) { return PutId{static_cast<uint64_t>(value)}; }

}  // namespace

Status CheckLength(const char* what, size_t bytes, size_t limit) {
  if (bytes <= limit) return Status::Ok();
  return Status(ErrorCode::kInvalidParams, std::string(what) + " has " + std::to_string(bytes) +
                                               " bytes; the limit is " + std::to_string(limit));
}

Status CheckCount(const char* what, size_t count, size_t limit) {
  if (count <= limit) return Status::Ok();
  return Status(ErrorCode::kInvalidParams, std::to_string(count) + " " + what +
                                               " in one request; the limit is " +
                                               std::to_string(limit));
}

Status CheckTenant(const std::string& tenant) {
  return CheckLength("tenant", tenant.size(), kMaxTenantBytes);
}

Result<uint32_t> DecodeLimit(const char* what, int32_t value, size_t limit) {
  Checker check;
  const uint64_t number = check.Unsigned(what, value, limit);
  RETURN_IF_ERROR(check.status());
  return static_cast<uint32_t>(number);
}

thriftgen::Status Encode(const Status& status) {
  thriftgen::Status out;
  out.code = static_cast<int32_t>(status.code());
  if (!status.message().empty()) out.__set_message(status.message().substr(0, kMaxMessageBytes));
  return out;
}

Status Decode(thriftgen::Status&& status) {
  if (status.code == 0) return Status::Ok();
  if (status.message.size() > kMaxMessageBytes) status.message.resize(kMaxMessageBytes);
  const ErrorCode code = ErrorCodeFromNumber(status.code);
  if (static_cast<int32_t>(code) == status.code) return Status(code, std::move(status.message));
  return Status(code, "unknown status " + std::to_string(status.code) + ": " + status.message);
}

int32_t EncodeTimeout(Duration left) {
  // Rounded up: what is left is more than nothing.
  return static_cast<int32_t>(
      ToMillis(std::clamp(left, Duration::zero(), kMaxTimeout) + Millis(1) - Duration(1)));
}

Duration DecodeTimeout(int32_t timeout_ms) {
  return std::clamp(Millis(timeout_ms), Duration::zero(), kMaxTimeout);
}

thriftgen::ObjectName Encode(const ObjectName& name) {
  thriftgen::ObjectName out;
  out.key = name.key;
  if (name.tenant != kDefaultTenant) out.__set_tenant(name.tenant);
  return out;
}

Result<ObjectName> Decode(thriftgen::ObjectName&& in) {
  if (in.key.empty()) return Status(ErrorCode::kInvalidKey, "the key is empty");
  if (in.key.size() > kMaxKeyBytes) {
    return Status(ErrorCode::kInvalidKey, "the key has " + std::to_string(in.key.size()) +
                                              " bytes; the limit is " +
                                              std::to_string(kMaxKeyBytes));
  }
  ObjectName out;
  out.key = std::move(in.key);
  if (in.__isset.tenant) {
    RETURN_IF_ERROR(CheckTenant(in.tenant));
    out.tenant = std::move(in.tenant);
  }
  return out;
}

thriftgen::ObjectAttributes Encode(const ObjectAttributes& attributes) {
  thriftgen::ObjectAttributes out;
  out.kind = static_cast<int32_t>(attributes.kind);
  out.mode = static_cast<int32_t>(attributes.mode);
  out.uid = static_cast<int32_t>(attributes.uid);
  out.gid = static_cast<int32_t>(attributes.gid);
  out.mtime_ns = attributes.mtime_ns;
  return out;
}

Result<ObjectAttributes> Decode(thriftgen::ObjectAttributes&& in) {
  Checker check;
  ObjectAttributes out;
  out.kind = check.Enum("kind", in.kind, ObjectKind::kFile, ObjectKind::kSymlink);
  // All 32 bits are data here: (uid_t)-1 is a user id like any other.
  out.mode = static_cast<uint32_t>(in.mode);
  out.uid = static_cast<uint32_t>(in.uid);
  out.gid = static_cast<uint32_t>(in.gid);
  out.mtime_ns = in.mtime_ns;
  RETURN_IF_ERROR(check.status());
  return out;
}

thriftgen::PutStart Encode(const PutStartArgs& args) {
  thriftgen::PutStart out;
  out.name = Encode(args.name);
  out.size = static_cast<int64_t>(args.size);
  out.mode = static_cast<int32_t>(args.mode);
  out.config = EncodeConfig(args.config);
  out.expected = static_cast<int64_t>(args.expected.value);
  out.client = EncodeUuid(args.client);
  return out;
}

Result<PutStartArgs> Decode(thriftgen::PutStart&& in) {
  Checker check;
  PutStartArgs out;
  out.client = DecodeUuid<ClientId>(in.client);
  out.name = DecodeName(std::move(in.name), check);
  out.size = check.Unsigned("size", in.size, kMaxObjectBytes);
  out.mode = check.Enum("mode", in.mode, WriteMode::kCreate, WriteMode::kReplace);
  out.config = DecodeConfig(std::move(in.config), check);
  out.expected = DecodePutId(in.expected);
  RETURN_IF_ERROR(check.status());
  return out;
}

thriftgen::PutEnd Encode(const PutEndArgs& args) {
  thriftgen::PutEnd out;
  out.client = EncodeUuid(args.client);
  out.name = Encode(args.name);
  out.put_id = static_cast<int64_t>(args.put_id.value);
  if (args.attributes) out.__set_attributes(Encode(*args.attributes));
  return out;
}

Result<PutEndArgs> Decode(thriftgen::PutEnd&& in) {
  Checker check;
  PutEndArgs out;
  out.client = DecodeUuid<ClientId>(in.client);
  out.name = DecodeName(std::move(in.name), check);
  out.put_id = DecodePutId(in.put_id);
  if (in.__isset.attributes) {
    ASSIGN_OR_RETURN(out.attributes, Decode(std::move(in.attributes)));
  }
  RETURN_IF_ERROR(check.status());
  return out;
}

thriftgen::PutRevoke Encode(const PutRevokeArgs& args) {
  thriftgen::PutRevoke out;
  out.client = EncodeUuid(args.client);
  out.name = Encode(args.name);
  out.put_id = static_cast<int64_t>(args.put_id.value);
  out.settled = args.settled;
  return out;
}

Result<PutRevokeArgs> Decode(thriftgen::PutRevoke&& in) {
  PutRevokeArgs out;
  out.client = DecodeUuid<ClientId>(in.client);
  ASSIGN_OR_RETURN(out.name, Decode(std::move(in.name)));
  out.put_id = DecodePutId(in.put_id);
  out.settled = in.settled;
  return out;
}

thriftgen::LeaseRef Encode(const LeaseRef& lease) {
  thriftgen::LeaseRef out;
  out.name = Encode(lease.name);
  out.put_id = static_cast<int64_t>(lease.put_id.value);
  return out;
}

Result<LeaseRef> Decode(thriftgen::LeaseRef&& in) {
  LeaseRef out;
  ASSIGN_OR_RETURN(out.name, Decode(std::move(in.name)));
  out.put_id = DecodePutId(in.put_id);
  return out;
}

thriftgen::SetPin Encode(const SetPinArgs& args) {
  thriftgen::SetPin out;
  out.name = Encode(args.name);
  out.soft = static_cast<int32_t>(args.soft);
  if (args.soft_ttl) out.__set_soft_ttl_ns(args.soft_ttl->count());
  if (args.hard) out.__set_hard(*args.hard);
  return out;
}

Result<SetPinArgs> Decode(thriftgen::SetPin&& in) {
  Checker check;
  SetPinArgs out;
  out.name = DecodeName(std::move(in.name), check);
  out.soft = check.Enum("soft", in.soft, SoftPinAction::kPreserve, SoftPinAction::kDisable);
  if (in.__isset.soft_ttl_ns) out.soft_ttl = check.NotNegative("soft_ttl", in.soft_ttl_ns);
  if (in.__isset.hard) out.hard = in.hard;
  RETURN_IF_ERROR(check.status());
  return out;
}

thriftgen::ListObjectsRequest Encode(const ListArgs& args) {
  thriftgen::ListObjectsRequest out;
  out.tenant = args.tenant;
  out.prefix = args.prefix;
  out.delimiter = args.delimiter;
  out.start_after = args.start_after;
  out.limit =
      static_cast<int32_t>(std::min<uint32_t>(args.limit, std::numeric_limits<int32_t>::max()));
  return out;
}

Result<ListArgs> Decode(thriftgen::ListObjectsRequest&& in) {
  Checker check;
  ListArgs out;
  check.Add(CheckTenant(in.tenant));
  check.Add(CheckLength("prefix", in.prefix.size(), kMaxKeyBytes));
  check.Add(CheckLength("delimiter", in.delimiter.size(), kMaxDelimiterBytes));
  check.Add(CheckLength("start_after", in.start_after.size(), kMaxKeyBytes));
  out.tenant = std::move(in.tenant);
  out.prefix = std::move(in.prefix);
  out.delimiter = std::move(in.delimiter);
  out.start_after = std::move(in.start_after);
  out.limit = static_cast<uint32_t>(check.Unsigned("limit", in.limit, kMaxListLimit));
  RETURN_IF_ERROR(check.status());
  return out;
}

thriftgen::RemoveByRegexRequest Encode(const RemoveByRegexArgs& args) {
  thriftgen::RemoveByRegexRequest out;
  out.tenant = args.tenant;
  out.pattern = args.pattern;
  out.force = args.force;
  out.dry_run = args.dry_run;
  out.sample_limit = static_cast<int32_t>(std::min<size_t>(args.sample_limit, kMaxListLimit));
  return out;
}

Result<RemoveByRegexArgs> Decode(thriftgen::RemoveByRegexRequest&& in) {
  Checker check;
  RemoveByRegexArgs out;
  check.Add(CheckTenant(in.tenant));
  check.Add(CheckLength("pattern", in.pattern.size(), kMaxPatternBytes));
  out.tenant = std::move(in.tenant);
  out.pattern = std::move(in.pattern);
  out.force = in.force;
  out.dry_run = in.dry_run;
  out.sample_limit =
      static_cast<uint32_t>(check.Unsigned("sample_limit", in.sample_limit, kMaxListLimit));
  RETURN_IF_ERROR(check.status());
  return out;
}

thriftgen::SegmentDescriptor Encode(const SegmentDescriptor& segment) {
  thriftgen::SegmentDescriptor out;
  out.id = EncodeUuid(segment.id);
  out.name = segment.name;
  out.size = static_cast<int64_t>(segment.size);
  out.epoch = static_cast<int64_t>(segment.epoch.value);
  out.owner = EncodeUuid(segment.owner);
  out.host_id = segment.host_id;
  out.protocol = segment.protocol;
  out.endpoint = segment.endpoint;
  out.local_socket = segment.local_socket;
  return out;
}

Result<SegmentDescriptor> Decode(thriftgen::SegmentDescriptor&& in) {
  Checker check;
  SegmentDescriptor out;
  const auto text = [&](const char* what, std::string& from) {
    check.Add(CheckLength(what, from.size(), kMaxNameBytes));
    return std::move(from);
  };
  out.id = DecodeUuid<SegmentId>(in.id);
  out.name = text("segment name", in.name);
  out.size = check.Unsigned("segment size", in.size, kMaxSegmentBytes);
  out.epoch = AccessEpoch{static_cast<uint64_t>(in.epoch)};
  out.owner = DecodeUuid<ClientId>(in.owner);
  out.host_id = text("host_id", in.host_id);
  out.protocol = text("protocol", in.protocol);
  out.endpoint = text("endpoint", in.endpoint);
  out.local_socket = text("local_socket", in.local_socket);
  RETURN_IF_ERROR(check.status());
  return out;
}

}  // namespace mooncake::wire

#include "master/api/wire_lookup.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "master/api/wire_bytes.h"
#include "master/api/wire_limits.h"

namespace mooncake::wire {
namespace {

using apache::thrift::protocol::T_CALL;
using apache::thrift::protocol::T_REPLY;
using apache::thrift::protocol::T_STRING;
using apache::thrift::protocol::T_STRUCT;

constexpr std::string_view kCall = "BatchGetReplicaList";

// Bytes that no entry has less of, and more of.
constexpr size_t kLeastName = 9;
constexpr size_t kLeastResult = 12;
constexpr size_t kLeastReplica = 16;
constexpr size_t kExtentBytes = 60;
constexpr size_t kMostName = 16;     // beside its two texts
constexpr size_t kMostResult = 192;  // beside its replicas and its message
constexpr size_t kMostHead = 128;

void WriteHead(ByteWriter& out, uint32_t kind, uint32_t sequence) {
  out.U32(kVersion1 | kind);
  out.Text(kCall);
  out.U32(sequence);
}

uint32_t ReadHead(ByteReader& in, uint32_t kind) {
  in.Require(in.U32() == (kVersion1 | kind));
  in.Require(in.Text() == kCall);
  return in.U32();
}

// --- request ---------------------------------------------------------------------------------------

void WriteName(ByteWriter& out, const ObjectName& name) {
  out.FieldText(1, name.key);
  if (name.tenant != kDefaultTenant) out.FieldText(2, name.tenant);
  out.Stop();
}

void ReadName(ByteReader& in, ObjectName& name) {
  in.Field(T_STRING, 1);
  const std::string_view key = in.Text();
  in.Require(!key.empty() && key.size() <= kMaxKeyBytes);
  std::string_view tenant = kDefaultTenant;
  if (in.MaybeField(T_STRING, 2)) {
    tenant = in.Text();
    in.Require(tenant.size() <= kMaxTenantBytes);
  }
  in.Stop();
  if (!in.ok()) return;
  name.key = key;
  name.tenant = tenant;
}

// --- reply -----------------------------------------------------------------------------------------

size_t ExtentCount(const ReplicaList& list) {
  size_t count = 0;
  for (const ReplicaDescriptor& replica : list.replicas) count += replica.extents.size();
  return count;
}

void WriteStatus(ByteWriter& out, const Status& status) {
  out.Field32(1, static_cast<int32_t>(status.code()));
  const std::string_view message = status.message();
  if (!message.empty()) out.FieldText(2, message.substr(0, kMaxMessageBytes));
  out.Stop();
}

void WriteExtent(ByteWriter& out, const Extent& extent) {
  out.Field(T_STRUCT, 1);
  out.Field64(1, static_cast<int64_t>(extent.segment.high));
  out.Field64(2, static_cast<int64_t>(extent.segment.low));
  out.Stop();
  out.Field64(2, static_cast<int64_t>(extent.epoch.value));
  out.Field64(3, static_cast<int64_t>(extent.offset));
  out.Field64(4, static_cast<int64_t>(extent.length));
  out.Stop();
}

void WriteAttributes(ByteWriter& out, const ObjectAttributes& attributes) {
  out.Field32(1, static_cast<int32_t>(attributes.kind));
  out.Field32(2, static_cast<int32_t>(attributes.mode));
  out.Field32(3, static_cast<int32_t>(attributes.uid));
  out.Field32(4, static_cast<int32_t>(attributes.gid));
  out.Field64(5, attributes.mtime_ns);
  out.Stop();
}

void WriteList(ByteWriter& out, const ReplicaList& list) {
  out.Field64(1, static_cast<int64_t>(list.put_id.value));
  out.Field64(2, static_cast<int64_t>(list.size));
  out.FieldStructs(3, list.replicas.size());
  for (const ReplicaDescriptor& replica : list.replicas) {
    out.Field32(1, static_cast<int32_t>(replica.status));
    out.FieldStructs(2, replica.extents.size());
    for (const Extent& extent : replica.extents) WriteExtent(out, extent);
    out.Stop();
  }
  out.Field64(4, list.lease.count());
  if (list.attributes) {
    out.Field(T_STRUCT, 5);
    WriteAttributes(out, *list.attributes);
  }
  out.Field64(6, list.created_ms);
  out.Stop();
}

void WriteResult(OutFrame& frame, const Result<ReplicaList>& result) {
  size_t most = kMostResult;
  if (result.ok()) {
    most += result->replicas.size() * kLeastReplica + ExtentCount(*result) * kExtentBytes;
  } else {
    most += std::min(result.message().size(), kMaxMessageBytes);
  }
  ByteWriter out(frame.Room(most));
  out.Field(T_STRUCT, 1);
  if (result.ok()) {
    WriteStatus(out, Status::Ok());
    out.Field(T_STRUCT, 2);
    WriteList(out, *result);
  } else {
    WriteStatus(out, result.status());
  }
  out.Stop();
  frame.Wrote(out.end());
}

// A code that is not known reads as another form: wire.h knows what to make of it.
Status ReadStatus(ByteReader& in) {
  const int32_t number = in.Field32(1);
  const bool has_message = in.MaybeField(T_STRING, 2);
  const std::string_view message = has_message ? in.Text() : std::string_view();
  in.Stop();
  const ErrorCode code = ErrorCodeFromNumber(number);
  in.Require(static_cast<int32_t>(code) == number && message.size() <= kMaxMessageBytes &&
             (number != 0 || !has_message));
  if (!in.ok() || number == 0) return Status::Ok();
  return Status(code, std::string(message));
}

uint64_t ReadAtMost(ByteReader& in, uint16_t id, uint64_t limit) {
  const auto value = static_cast<uint64_t>(in.Field64(id));
  in.Require(value <= limit);
  return value;
}

Extent ReadExtent(ByteReader& in) {
  Extent extent;
  in.Field(T_STRUCT, 1);
  extent.segment.high = static_cast<uint64_t>(in.Field64(1));
  extent.segment.low = static_cast<uint64_t>(in.Field64(2));
  in.Stop();
  extent.epoch = AccessEpoch{static_cast<uint64_t>(in.Field64(2))};
  extent.offset = ReadAtMost(in, 3, kMaxSegmentBytes);
  extent.length = ReadAtMost(in, 4, kMaxSegmentBytes);
  in.Stop();
  return extent;
}

void ReadReplica(ByteReader& in, ReplicaDescriptor& replica) {
  const int32_t status = in.Field32(1);
  in.Require(status >= static_cast<int32_t>(ReplicaStatus::kProcessing) &&
             status <= static_cast<int32_t>(ReplicaStatus::kFailed));
  const size_t extents = in.FieldStructs(2, kMaxExtents, kExtentBytes);
  replica.extents.reserve(extents);
  for (size_t i = 0; i < extents && in.ok(); ++i) replica.extents.push_back(ReadExtent(in));
  in.Stop();
  if (in.ok()) replica.status = static_cast<ReplicaStatus>(status);
}

ObjectAttributes ReadAttributes(ByteReader& in) {
  ObjectAttributes out;
  const int32_t kind = in.Field32(1);
  in.Require(kind >= static_cast<int32_t>(ObjectKind::kFile) &&
             kind <= static_cast<int32_t>(ObjectKind::kSymlink));
  if (in.ok()) out.kind = static_cast<ObjectKind>(kind);
  out.mode = static_cast<uint32_t>(in.Field32(2));
  out.uid = static_cast<uint32_t>(in.Field32(3));
  out.gid = static_cast<uint32_t>(in.Field32(4));
  out.mtime_ns = in.Field64(5);
  in.Stop();
  return out;
}

ReplicaList ReadList(ByteReader& in) {
  ReplicaList list;
  list.put_id = PutId{static_cast<uint64_t>(in.Field64(1))};
  list.size = ReadAtMost(in, 2, kMaxObjectBytes);
  list.replicas.resize(in.FieldStructs(3, kMaxReplicas, kLeastReplica));
  for (ReplicaDescriptor& replica : list.replicas) ReadReplica(in, replica);
  list.lease = Duration(static_cast<int64_t>(ReadAtMost(in, 4, INT64_MAX)));
  if (in.MaybeField(T_STRUCT, 5)) list.attributes = ReadAttributes(in);
  list.created_ms = in.Field64(6);
  in.Stop();
  return list;
}

void ReadResult(ByteReader& in, std::vector<Result<ReplicaList>>& lists) {
  in.Field(T_STRUCT, 1);
  Status status = ReadStatus(in);
  if (status.ok()) {
    in.Field(T_STRUCT, 2);
    lists.push_back(ReadList(in));
  } else {
    lists.push_back(std::move(status));
  }
  in.Stop();
}

}  // namespace

void WriteLookup(OutFrame& frame, int32_t timeout_ms, std::span<const ObjectName> names) {
  size_t most = kMostHead;
  for (const ObjectName& name : names) most += kMostName + name.key.size() + name.tenant.size();
  ByteWriter out(frame.Room(most));
  WriteHead(out, T_CALL, 0);
  out.Field(T_STRUCT, 1);
  out.Field32(1, timeout_ms);
  out.FieldStructs(2, names.size());
  for (const ObjectName& name : names) WriteName(out, name);
  out.Stop();
  out.Stop();
  frame.Wrote(out.end());
}

bool ReadLookup(ByteSpan payload, LookupRequest& request) {
  ByteReader in(payload);
  request.sequence = ReadHead(in, T_CALL);
  in.Field(T_STRUCT, 1);
  request.timeout_ms = in.Field32(1);
  if (!in.ok())
    return false;  // most likely another call: the memory is kept for the next one of ours
  request.names.resize(in.FieldStructs(2, kMaxBatch, kLeastName));
  for (ObjectName& name : request.names) ReadName(in, name);
  in.Stop();
  in.Stop();
  return in.ok();
}

void WriteLookupReply(OutFrame& frame, uint32_t sequence, const LookupReply& reply) {
  ByteWriter head(
      frame.Room(kMostHead + std::min(reply.status.message().size(), kMaxMessageBytes)));
  WriteHead(head, T_REPLY, sequence);
  head.Field(T_STRUCT, 0);
  head.Field(T_STRUCT, 1);
  WriteStatus(head, reply.status);
  head.Field64(2, static_cast<int64_t>(reply.term.value));
  head.FieldStructs(3, reply.lists.size());
  frame.Wrote(head.end());
  for (const Result<ReplicaList>& list : reply.lists) {
    WriteResult(frame, list);
    if (frame.payload_bytes() > kMaxFrameBytes) return;  // refused anyway, so no more memory for it
  }
  ByteWriter tail(frame.Room(2));
  tail.Stop();
  tail.Stop();
  frame.Wrote(tail.end());
}

bool ReadLookupReply(ByteSpan payload, size_t entries, LookupReply& reply) {
  ByteReader in(payload);
  ReadHead(in, T_REPLY);
  in.Field(T_STRUCT, 0);
  in.Field(T_STRUCT, 1);
  reply.status = ReadStatus(in);
  reply.term = Term{static_cast<uint64_t>(in.Field64(2))};
  const size_t lists = in.FieldStructs(3, kMaxBatch, kLeastResult);
  in.Require(lists == entries || !reply.status.ok());
  reply.lists.clear();
  reply.lists.reserve(in.ok() ? lists : 0);
  for (size_t i = 0; i < lists && in.ok(); ++i) ReadResult(in, reply.lists);
  in.Stop();
  in.Stop();
  return in.ok();
}

}  // namespace mooncake::wire

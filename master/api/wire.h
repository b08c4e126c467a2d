// Types of master/api/types.h to and from Thrift: the only place that sees both. Everything decoded is checked (ranges of
// enumerations, lengths, counts), since it came from outside; what fails is a Status that names the field, never a crash.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "master/api/durability_types.h"
#include "master/api/gen-cpp/common_types.h"
#include "master/api/gen-cpp/master_types.h"
#include "master/api/quota_types.h"
#include "master/api/report_types.h"
#include "master/api/types.h"
#include "master/api/wire_limits.h"
#include "transfer/base/result.h"

namespace mooncake::wire {

// Decoding consumes its argument: strings are moved out.
//
// Codes of decoding: kInvalidKey for a key that is empty or too long, kInvalidParams for the rest.

thriftgen::Status Encode(const Status& status);
// Numbers that are no ErrorCode become kInternal, the number in the message.
Status Decode(thriftgen::Status&& status);

// Milliseconds that the caller still waits, at least 0 (expired), at most kMaxTimeout.
int32_t EncodeTimeout(Duration left);
Duration DecodeTimeout(int32_t timeout_ms);

template <typename Id>
thriftgen::Uuid EncodeUuid(const Id& id) {
  thriftgen::Uuid out;
  out.high = static_cast<int64_t>(id.high);
  out.low = static_cast<int64_t>(id.low);
  return out;
}
template <typename Id>
Id DecodeUuid(const thriftgen::Uuid& in) {
  return Id{static_cast<uint64_t>(in.high), static_cast<uint64_t>(in.low)};
}
template <typename Id>
std::vector<thriftgen::Uuid> EncodeUuids(std::span<const Id> ids) {
  std::vector<thriftgen::Uuid> out;
  out.reserve(ids.size());
  for (const Id& id : ids) out.push_back(EncodeUuid(id));
  return out;
}
template <typename Id>
std::vector<Id> DecodeUuids(const std::vector<thriftgen::Uuid>& in) {
  std::vector<Id> ids;
  ids.reserve(in.size());
  for (const thriftgen::Uuid& id : in) ids.push_back(DecodeUuid<Id>(id));
  return ids;
}

// --- requests ------------------------------------------------------------------------------------

thriftgen::ObjectName Encode(const ObjectName& name);
thriftgen::ObjectAttributes Encode(const ObjectAttributes& attributes);
thriftgen::PutStart Encode(const PutStartArgs& args);
thriftgen::PutEnd Encode(const PutEndArgs& args);
thriftgen::PutRevoke Encode(const PutRevokeArgs& args);
thriftgen::LeaseRef Encode(const LeaseRef& lease);
thriftgen::SetPin Encode(const SetPinArgs& args);
thriftgen::ListObjectsRequest Encode(const ListArgs& args);
thriftgen::RemoveByRegexRequest Encode(const RemoveByRegexArgs& args);
thriftgen::SegmentDescriptor Encode(const SegmentDescriptor& segment);

Result<ObjectName> Decode(thriftgen::ObjectName&& in);
Result<ObjectAttributes> Decode(thriftgen::ObjectAttributes&& in);
Result<PutStartArgs> Decode(thriftgen::PutStart&& in);
Result<PutEndArgs> Decode(thriftgen::PutEnd&& in);
Result<PutRevokeArgs> Decode(thriftgen::PutRevoke&& in);
Result<LeaseRef> Decode(thriftgen::LeaseRef&& in);
Result<SetPinArgs> Decode(thriftgen::SetPin&& in);
Result<ListArgs> Decode(thriftgen::ListObjectsRequest&& in);
Result<RemoveByRegexArgs> Decode(thriftgen::RemoveByRegexRequest&& in);
Result<SegmentDescriptor> Decode(thriftgen::SegmentDescriptor&& in);

// For the fields that a request carries by themselves.
Status CheckTenant(const std::string& tenant);
Status CheckSnapshotId(const std::string& id);
Status CheckLength(const char* what, size_t bytes, size_t limit);
Status CheckCount(const char* what, size_t count, size_t limit);
Result<uint32_t> DecodeLimit(const char* what, int32_t value, size_t limit);

// --- replies: what the master says is checked just as strictly. Their `status` is the caller's to look at first. ---

thriftgen::PingReply Encode(const PingReply& reply);
thriftgen::PutStartResult Encode(const PutStartReply& reply);
thriftgen::ReplicaList Encode(const ReplicaList& list);
thriftgen::ObjectStat Encode(const ObjectStat& stat);
thriftgen::ListObjectsReply Encode(const ListReply& reply);
thriftgen::RemoveByRegexReply Encode(const RemoveByRegexReply& reply);
thriftgen::SegmentInfo Encode(const SegmentInfo& info);
thriftgen::ClientInfo Encode(const ClientInfo& info);
thriftgen::ClientAddresses Encode(const ClientAddresses& addresses);
thriftgen::ClusterStatus Encode(const ClusterStatus& status);
thriftgen::Snapshot Encode(const SnapshotDescriptor& snapshot);
thriftgen::DurabilityStatus Encode(const DurabilityStatus& status);
thriftgen::TenantQuota Encode(const TenantQuota& quota);
thriftgen::ListQuotasReply Encode(const QuotaList& list);
thriftgen::Activity Encode(const Activity& activity);
thriftgen::ConfigValue Encode(const ConfigValue& value);

Result<PingReply> Decode(thriftgen::PingReply&& in);
Result<PutStartReply> Decode(thriftgen::PutStartResult&& in);
Result<ReplicaList> Decode(thriftgen::ReplicaList&& in);
Result<ObjectStat> Decode(thriftgen::ObjectStat&& in);
Result<ListReply> Decode(thriftgen::ListObjectsReply&& in);
Result<RemoveByRegexReply> Decode(thriftgen::RemoveByRegexReply&& in);
Result<SegmentInfo> Decode(thriftgen::SegmentInfo&& in);
Result<ClientInfo> Decode(thriftgen::ClientInfo&& in);
Result<ClientAddresses> Decode(thriftgen::ClientAddresses&& in);
Result<ClusterStatus> Decode(thriftgen::ClusterStatus&& in);
Result<SnapshotDescriptor> Decode(thriftgen::Snapshot&& in);
Result<SnapshotVerdict> Decode(thriftgen::VerifySnapshotReply&& in);
Result<DurabilityStatus> Decode(thriftgen::DurabilityStatus&& in);
Result<TenantQuota> Decode(thriftgen::TenantQuota&& in);
Result<QuotaList> Decode(thriftgen::ListQuotasReply&& in);
Result<Activity> Decode(thriftgen::Activity&& in);
Result<std::vector<ConfigValue>> Decode(thriftgen::GetConfigReply&& in);

// Of any of the above.
template <typename Wire, typename T>
std::vector<Wire> EncodeAll(std::span<const T> values) {
  std::vector<Wire> out;
  out.reserve(values.size());
  for (const T& value : values) out.push_back(Encode(value));
  return out;
}

}  // namespace mooncake::wire

#include "master/api/remote_master.h"

#include <algorithm>
#include <string>
#include <utility>

#include "master/api/remote_calls.h"

namespace mooncake {
namespace {

class RemoteMaster final : public RemoteCalls {
 public:
  RemoteMaster(RemoteMasterOptions options, const Clock& clock)
      : RemoteCalls(std::move(options.address), options.max_idle_connections,
                    options.restart_patience, clock) {}

  Result<PingReply> Ping(const ClientId& client, const std::string& address,
                         TimePoint deadline) override {
    thriftgen::PingRequest request;
    request.client = wire::EncodeUuid(client);
    request.address = address;
    thriftgen::PingReply reply;
    RETURN_IF_ERROR(Call("Ping", &C::send_Ping, &C::recv_Ping, request, reply, deadline));
    return OrGarbage(wire::Decode(std::move(reply)));
  }

  std::vector<Result<PutStartReply>> BatchPutStart(std::span<const PutStartArgs> args,
                                                   TimePoint deadline) override {
    using Out = Result<PutStartReply>;
    return InChunks<Out>(
        args, [&](std::span<const PutStartArgs> chunk) -> Result<std::vector<Out>> {
          thriftgen::BatchPutStartRequest request;
          request.entries = wire::EncodeAll<thriftgen::PutStart>(chunk);
          thriftgen::BatchPutStartReply reply;
          RETURN_IF_ERROR(Call("BatchPutStart", &C::send_BatchPutStart, &C::recv_BatchPutStart,
                               request, reply, deadline));
          return Answers<Out>(reply.results, chunk.size(), [](thriftgen::PutStartResult&& result) {
            return OrGarbage(wire::Decode(std::move(result)));
          });
        });
  }

  std::vector<Status> BatchPutEnd(std::span<const PutEndArgs> args, TimePoint deadline) override {
    return StatusBatch("BatchPutEnd", &C::send_BatchPutEnd, &C::recv_BatchPutEnd, args, deadline,
                       [](std::span<const PutEndArgs> chunk) {
                         thriftgen::BatchPutEndRequest request;
                         request.entries = wire::EncodeAll<thriftgen::PutEnd>(chunk);
                         return request;
                       });
  }

  std::vector<Status> BatchPutRevoke(std::span<const PutRevokeArgs> args,
                                     TimePoint deadline) override {
    return StatusBatch("BatchPutRevoke", &C::send_BatchPutRevoke, &C::recv_BatchPutRevoke, args,
                       deadline, [](std::span<const PutRevokeArgs> chunk) {
                         thriftgen::BatchPutRevokeRequest request;
                         request.entries = wire::EncodeAll<thriftgen::PutRevoke>(chunk);
                         return request;
                       });
  }

  std::vector<Result<ReplicaList>> BatchGetReplicaList(std::span<const ObjectName> names,
                                                       TimePoint deadline) override {
    using Out = Result<ReplicaList>;
    return InChunks<Out>(names, [&](std::span<const ObjectName> chunk) -> Result<std::vector<Out>> {
      wire::LookupReply reply;
      RETURN_IF_ERROR(caller_.Lookup(chunk, reply, deadline));
      return std::move(reply.lists);
    });
  }

  std::vector<Result<Duration>> BatchRenewLease(std::span<const LeaseRef> leases,
                                                TimePoint deadline) override {
    using Out = Result<Duration>;
    return InChunks<Out>(leases, [&](std::span<const LeaseRef> chunk) -> Result<std::vector<Out>> {
      thriftgen::BatchRenewLeaseRequest request;
      request.leases = wire::EncodeAll<thriftgen::LeaseRef>(chunk);
      thriftgen::BatchRenewLeaseReply reply;
      RETURN_IF_ERROR(Call("BatchRenewLease", &C::send_BatchRenewLease, &C::recv_BatchRenewLease,
                           request, reply, deadline));
      return Answers<Out>(reply.results, chunk.size(), [](thriftgen::LeaseResult&& result) -> Out {
        // A lease that ended before it began is no lease.
        return Duration(std::max<int64_t>(0, result.lease_ns));
      });
    });
  }

  std::vector<Result<bool>> BatchExistKey(std::span<const ObjectName> names, bool grant_lease,
                                          TimePoint deadline) override {
    using Out = Result<bool>;
    return InChunks<Out>(names, [&](std::span<const ObjectName> chunk) -> Result<std::vector<Out>> {
      thriftgen::BatchExistKeyRequest request;
      request.names = wire::EncodeAll<thriftgen::ObjectName>(chunk);
      request.grant_lease = grant_lease;
      thriftgen::BatchExistKeyReply reply;
      RETURN_IF_ERROR(Call("BatchExistKey", &C::send_BatchExistKey, &C::recv_BatchExistKey, request,
                           reply, deadline));
      return Answers<Out>(reply.results, chunk.size(),
                          [](thriftgen::ExistResult&& result) -> Out { return result.exists; });
    });
  }

  std::vector<Result<ObjectStat>> BatchStat(std::span<const ObjectName> names,
                                            TimePoint deadline) override {
    using Out = Result<ObjectStat>;
    return InChunks<Out>(names, [&](std::span<const ObjectName> chunk) -> Result<std::vector<Out>> {
      thriftgen::NamesRequest request;
      request.names = wire::EncodeAll<thriftgen::ObjectName>(chunk);
      thriftgen::BatchStatReply reply;
      RETURN_IF_ERROR(
          Call("BatchStat", &C::send_BatchStat, &C::recv_BatchStat, request, reply, deadline));
      return Answers<Out>(reply.results, chunk.size(), [](thriftgen::StatResult&& result) {
        return OrGarbage(wire::Decode(std::move(result.value)));
      });
    });
  }

  std::vector<Status> BatchRemove(std::span<const ObjectName> names, bool force,
                                  TimePoint deadline) override {
    return StatusBatch("BatchRemove", &C::send_BatchRemove, &C::recv_BatchRemove, names, deadline,
                       [force](std::span<const ObjectName> chunk) {
                         thriftgen::BatchRemoveRequest request;
                         request.names = wire::EncodeAll<thriftgen::ObjectName>(chunk);
                         request.force = force;
                         return request;
                       });
  }

  std::vector<Status> BatchReplicaClear(std::span<const ObjectName> names,
                                        const std::string& segment, TimePoint deadline) override {
    return StatusBatch("BatchReplicaClear", &C::send_BatchReplicaClear, &C::recv_BatchReplicaClear,
                       names, deadline, [&segment](std::span<const ObjectName> chunk) {
                         thriftgen::BatchReplicaClearRequest request;
                         request.names = wire::EncodeAll<thriftgen::ObjectName>(chunk);
                         request.segment = segment;
                         return request;
                       });
  }

  Result<RemoveByRegexReply> RemoveByRegex(const RemoveByRegexArgs& args,
                                           TimePoint deadline) override {
    thriftgen::RemoveByRegexRequest request = wire::Encode(args);
    thriftgen::RemoveByRegexReply reply;
    RETURN_IF_ERROR(Call("RemoveByRegex", &C::send_RemoveByRegex, &C::recv_RemoveByRegex, request,
                         reply, deadline));
    return OrGarbage(wire::Decode(std::move(reply)));
  }

  Result<uint64_t> RemoveAll(const std::string& tenant, bool force, TimePoint deadline) override {
    thriftgen::RemoveAllRequest request;
    request.tenant = tenant;
    request.force = force;
    return Count("RemoveAll", &C::send_RemoveAll, &C::recv_RemoveAll, request, deadline);
  }

  Result<std::vector<std::pair<std::string, ReplicaList>>> GetReplicaListByRegex(
      const std::string& tenant, const std::string& pattern, uint32_t limit,
      TimePoint deadline) override {
    thriftgen::GetReplicaListByRegexRequest request;
    request.tenant = tenant;
    request.pattern = pattern;
    request.limit = static_cast<int32_t>(std::min<size_t>(limit, kMaxListLimit));
    thriftgen::GetReplicaListByRegexReply reply;
    RETURN_IF_ERROR(Call("GetReplicaListByRegex", &C::send_GetReplicaListByRegex,
                         &C::recv_GetReplicaListByRegex, request, reply, deadline));
    std::vector<std::pair<std::string, ReplicaList>> out;
    out.reserve(reply.results.size());
    for (thriftgen::NamedReplicaList& entry : reply.results) {
      ASSIGN_OR_RETURN(auto list, OrGarbage(wire::Decode(std::move(entry.value))));
      out.emplace_back(std::move(entry.key), std::move(list));
    }
    return out;
  }

  Result<ListReply> ListObjects(const ListArgs& args, TimePoint deadline) override {
    thriftgen::ListObjectsRequest request = wire::Encode(args);
    thriftgen::ListObjectsReply reply;
    RETURN_IF_ERROR(
        Call("ListObjects", &C::send_ListObjects, &C::recv_ListObjects, request, reply, deadline));
    return OrGarbage(wire::Decode(std::move(reply)));
  }

  Status Rename(const ObjectName& from, const ObjectName& to, bool no_replace,
                TimePoint deadline) override {
    thriftgen::RenameRequest request;
    request.from_name = wire::Encode(from);
    request.to_name = wire::Encode(to);
    request.no_replace = no_replace;
    return Plain("Rename", &C::send_Rename, &C::recv_Rename, request, deadline);
  }

  Result<uint64_t> RenamePrefix(const std::string& tenant, const std::string& from_prefix,
                                const std::string& to_prefix, TimePoint deadline) override {
    thriftgen::RenamePrefixRequest request;
    request.tenant = tenant;
    request.from_prefix = from_prefix;
    request.to_prefix = to_prefix;
    return Count("RenamePrefix", &C::send_RenamePrefix, &C::recv_RenamePrefix, request, deadline);
  }

  Status SetAttributes(const ObjectName& name, PutId version, const ObjectAttributes& attributes,
                       TimePoint deadline) override {
    thriftgen::SetAttributesRequest request;
    request.name = wire::Encode(name);
    request.version = static_cast<int64_t>(version.value);
    request.attributes = wire::Encode(attributes);
    return Plain("SetAttributes", &C::send_SetAttributes, &C::recv_SetAttributes, request,
                 deadline);
  }

  std::vector<Status> BatchSetPin(std::span<const SetPinArgs> args, TimePoint deadline) override {
    return StatusBatch("BatchSetPin", &C::send_BatchSetPin, &C::recv_BatchSetPin, args, deadline,
                       [](std::span<const SetPinArgs> chunk) {
                         thriftgen::BatchSetPinRequest request;
                         request.entries = wire::EncodeAll<thriftgen::SetPin>(chunk);
                         return request;
                       });
  }

  Status MountSegment(const ClientId& client, const SegmentDescriptor& segment,
                      TimePoint deadline) override {
    thriftgen::MountSegmentRequest request;
    request.client = wire::EncodeUuid(client);
    request.segment = wire::Encode(segment);
    return Plain("MountSegment", &C::send_MountSegment, &C::recv_MountSegment, request, deadline);
  }

  Status ReMountSegments(const ClientId& client, std::span<const SegmentDescriptor> segments,
                         uint64_t seen_log_position, TimePoint deadline) override {
    RETURN_IF_ERROR(wire::CheckCount("segments", segments.size(), kMaxBatch));
    thriftgen::ReMountSegmentsRequest request;
    request.client = wire::EncodeUuid(client);
    request.segments = wire::EncodeAll<thriftgen::SegmentDescriptor>(segments);
    request.seen_log_position = static_cast<int64_t>(seen_log_position);
    return Plain("ReMountSegments", &C::send_ReMountSegments, &C::recv_ReMountSegments, request,
                 deadline);
  }

  Status UnmountSegment(const ClientId& client, const SegmentId& id, TimePoint deadline) override {
    thriftgen::UnmountSegmentRequest request;
    request.client = wire::EncodeUuid(client);
    request.segment = wire::EncodeUuid(id);
    return Plain("UnmountSegment", &C::send_UnmountSegment, &C::recv_UnmountSegment, request,
                 deadline);
  }

  Status GracefulUnmountSegment(const ClientId& client, const SegmentId& id, Duration grace,
                                TimePoint deadline) override {
    thriftgen::GracefulUnmountSegmentRequest request;
    request.client = wire::EncodeUuid(client);
    request.segment = wire::EncodeUuid(id);
    request.grace_ns = grace.count();
    return Plain("GracefulUnmountSegment", &C::send_GracefulUnmountSegment,
                 &C::recv_GracefulUnmountSegment, request, deadline);
  }

  Status ReportReplicaFailure(const ClientId& client, std::span<const SegmentId> segments,
                              TimePoint deadline) override {
    RETURN_IF_ERROR(wire::CheckCount("segment ids", segments.size(), kMaxBatch));
    thriftgen::ReportReplicaFailureRequest request;
    request.client = wire::EncodeUuid(client);
    request.segments = wire::EncodeUuids(segments);
    return Plain("ReportReplicaFailure", &C::send_ReportReplicaFailure,
                 &C::recv_ReportReplicaFailure, request, deadline);
  }

  Result<std::vector<SegmentInfo>> GetSegments(std::span<const SegmentId> ids,
                                               TimePoint deadline) override {
    RETURN_IF_ERROR(wire::CheckCount("segment ids", ids.size(), kMaxBatch));
    thriftgen::GetSegmentsRequest request;
    request.ids = wire::EncodeUuids(ids);
    thriftgen::GetSegmentsReply reply;
    RETURN_IF_ERROR(
        Call("GetSegments", &C::send_GetSegments, &C::recv_GetSegments, request, reply, deadline));
    return DecodeAll<SegmentInfo>(std::move(reply.segments));
  }

  Result<std::vector<ClientInfo>> GetClients(TimePoint deadline) override {
    thriftgen::PlainRequest request;
    thriftgen::GetClientsReply reply;
    RETURN_IF_ERROR(
        Call("GetClients", &C::send_GetClients, &C::recv_GetClients, request, reply, deadline));
    return DecodeAll<ClientInfo>(std::move(reply.clients));
  }

  Result<std::vector<ClientAddresses>> BatchQueryIp(std::span<const ClientId> clients,
                                                    TimePoint deadline) override {
    RETURN_IF_ERROR(wire::CheckCount("client ids", clients.size(), kMaxBatch));
    thriftgen::BatchQueryIpRequest request;
    request.clients = wire::EncodeUuids(clients);
    thriftgen::BatchQueryIpReply reply;
    RETURN_IF_ERROR(Call("BatchQueryIp", &C::send_BatchQueryIp, &C::recv_BatchQueryIp, request,
                         reply, deadline));
    return DecodeAll<ClientAddresses>(std::move(reply.clients));
  }

  Result<ClusterStatus> GetStatus(TimePoint deadline) override {
    return PlainValue<thriftgen::GetStatusReply>("GetStatus", &C::send_GetStatus,
                                                 &C::recv_GetStatus, deadline);
  }

  Result<Activity> GetActivity(TimePoint deadline) override {
    return PlainValue<thriftgen::GetActivityReply>("GetActivity", &C::send_GetActivity,
                                                   &C::recv_GetActivity, deadline);
  }

  Result<std::vector<ConfigValue>> GetConfig(TimePoint deadline) override {
    thriftgen::PlainRequest request;
    thriftgen::GetConfigReply reply;
    RETURN_IF_ERROR(
        Call("GetConfig", &C::send_GetConfig, &C::recv_GetConfig, request, reply, deadline));
    return OrGarbage(wire::Decode(std::move(reply)));
  }

  Result<SnapshotDescriptor> TakeSnapshot(TimePoint deadline) override {
    return PlainValue<thriftgen::TakeSnapshotReply>("TakeSnapshot", &C::send_TakeSnapshot,
                                                    &C::recv_TakeSnapshot, deadline);
  }

  Result<std::vector<SnapshotDescriptor>> ListSnapshots(TimePoint deadline) override {
    thriftgen::PlainRequest request;
    thriftgen::ListSnapshotsReply reply;
    RETURN_IF_ERROR(Call("ListSnapshots", &C::send_ListSnapshots, &C::recv_ListSnapshots, request,
                         reply, deadline));
    return DecodeAll<SnapshotDescriptor>(std::move(reply.snapshots));
  }

  Result<SnapshotVerdict> VerifySnapshot(const std::string& id, TimePoint deadline) override {
    thriftgen::VerifySnapshotRequest request;
    request.id = id;
    thriftgen::VerifySnapshotReply reply;
    RETURN_IF_ERROR(Call("VerifySnapshot", &C::send_VerifySnapshot, &C::recv_VerifySnapshot,
                         request, reply, deadline));
    return OrGarbage(wire::Decode(std::move(reply)));
  }

  Result<DurabilityStatus> GetDurability(TimePoint deadline) override {
    return PlainValue<thriftgen::GetDurabilityReply>("GetDurability", &C::send_GetDurability,
                                                     &C::recv_GetDurability, deadline);
  }

  Result<TenantQuota> GetQuota(const std::string& tenant, TimePoint deadline) override {
    thriftgen::QuotaRequest request;
    request.tenant = tenant;
    return Value<thriftgen::QuotaReply>("GetQuota", &C::send_GetQuota, &C::recv_GetQuota, request,
                                        deadline);
  }

  Result<TenantQuota> SetQuota(const std::string& tenant, uint64_t bytes,
                               TimePoint deadline) override {
    thriftgen::SetQuotaRequest request;
    request.tenant = tenant;
    request.requested = static_cast<int64_t>(bytes);
    return Value<thriftgen::QuotaReply>("SetQuota", &C::send_SetQuota, &C::recv_SetQuota, request,
                                        deadline);
  }

  Result<TenantQuota> DeleteQuota(const std::string& tenant, TimePoint deadline) override {
    thriftgen::QuotaRequest request;
    request.tenant = tenant;
    return Value<thriftgen::QuotaReply>("DeleteQuota", &C::send_DeleteQuota, &C::recv_DeleteQuota,
                                        request, deadline);
  }

  Result<QuotaList> ListQuotas(const std::string& start_after, uint32_t limit,
                               TimePoint deadline) override {
    thriftgen::ListQuotasRequest request;
    request.start_after = start_after;
    request.limit = static_cast<int32_t>(std::min<uint32_t>(limit, kMaxListLimit + 1));
    thriftgen::ListQuotasReply reply;
    RETURN_IF_ERROR(
        Call("ListQuotas", &C::send_ListQuotas, &C::recv_ListQuotas, request, reply, deadline));
    return OrGarbage(wire::Decode(std::move(reply)));
  }
};

}  // namespace

std::unique_ptr<MasterApi> MakeRemoteMaster(RemoteMasterOptions options, const Clock& clock) {
  return std::make_unique<RemoteMaster>(std::move(options), clock);
}

}  // namespace mooncake

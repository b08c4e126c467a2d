#include "tests/support/faulty_master.h"

namespace mooncake::testing {
namespace {

Status Lost(std::string_view call) {
  return Status(ErrorCode::kRpcTimeout, std::string(call) + ": injected fault, no answer");
}

}  // namespace

void FaultyMaster::SetScript(Script script) {
  MutexLock lock(mutex_);
  script_ = std::move(script);
}

void FaultyMaster::Inject(std::string call, Fault fault, int times) {
  MutexLock lock(mutex_);
  injected_[std::move(call)] = {fault, times};
}

int FaultyMaster::CallsOf(const std::string& call) const {
  MutexLock lock(mutex_);
  const auto it = calls_.find(call);
  return it == calls_.end() ? 0 : it->second;
}

int FaultyMaster::AllCalls() const {
  MutexLock lock(mutex_);
  int total = 0;
  for (const auto& [name, count] : calls_) total += count;
  return total;
}

Fault FaultyMaster::Next(std::string_view call) {
  Script script;
  {
    MutexLock lock(mutex_);
    ++calls_[std::string(call)];
    const auto it = injected_.find(call);
    if (it != injected_.end() && it->second.second > 0) {
      --it->second.second;
      return it->second.first;
    }
    script = script_;
  }
  return script ? script(call) : Fault::kNone;
}

template <typename Call>
auto FaultyMaster::One(std::string_view name, Call call) -> decltype(call()) {
  const Fault fault = Next(name);
  if (fault == Fault::kLoseRequest) return Lost(name);
  auto result = call();
  if (fault == Fault::kLoseReply) return Lost(name);
  return result;
}

template <typename Call>
auto FaultyMaster::Batch(std::string_view name, size_t count, Call call) -> decltype(call()) {
  using Entry = typename decltype(call())::value_type;
  const Fault fault = Next(name);
  if (fault == Fault::kLoseRequest) return std::vector<Entry>(count, Entry(Lost(name)));
  auto results = call();
  if (fault == Fault::kLoseReply) return std::vector<Entry>(count, Entry(Lost(name)));
  return results;
}

Result<PingReply> FaultyMaster::Ping(const ClientId& client, const std::string& address,
                                     TimePoint deadline) {
  return One("Ping", [&] { return inner_->Ping(client, address, deadline); });
}
std::vector<Result<PutStartReply>> FaultyMaster::BatchPutStart(std::span<const PutStartArgs> args,
                                                               TimePoint deadline) {
  return Batch("BatchPutStart", args.size(), [&] { return inner_->BatchPutStart(args, deadline); });
}
std::vector<Status> FaultyMaster::BatchPutEnd(std::span<const PutEndArgs> args,
                                              TimePoint deadline) {
  return Batch("BatchPutEnd", args.size(), [&] { return inner_->BatchPutEnd(args, deadline); });
}
std::vector<Status> FaultyMaster::BatchPutRevoke(std::span<const PutRevokeArgs> args,
                                                 TimePoint deadline) {
  return Batch("BatchPutRevoke", args.size(),
               [&] { return inner_->BatchPutRevoke(args, deadline); });
}
std::vector<Result<ReplicaList>> FaultyMaster::BatchGetReplicaList(
    std::span<const ObjectName> names, TimePoint deadline) {
  return Batch("BatchGetReplicaList", names.size(),
               [&] { return inner_->BatchGetReplicaList(names, deadline); });
}
std::vector<Result<Duration>> FaultyMaster::BatchRenewLease(std::span<const LeaseRef> leases,
                                                            TimePoint deadline) {
  return Batch("BatchRenewLease", leases.size(),
               [&] { return inner_->BatchRenewLease(leases, deadline); });
}
std::vector<Result<bool>> FaultyMaster::BatchExistKey(std::span<const ObjectName> names,
                                                      bool grant_lease, TimePoint deadline) {
  return Batch("BatchExistKey", names.size(),
               [&] { return inner_->BatchExistKey(names, grant_lease, deadline); });
}
std::vector<Result<ObjectStat>> FaultyMaster::BatchStat(std::span<const ObjectName> names,
                                                        TimePoint deadline) {
  return Batch("BatchStat", names.size(), [&] { return inner_->BatchStat(names, deadline); });
}
std::vector<Status> FaultyMaster::BatchRemove(std::span<const ObjectName> names, bool force,
                                              TimePoint deadline) {
  return Batch("BatchRemove", names.size(),
               [&] { return inner_->BatchRemove(names, force, deadline); });
}
std::vector<Status> FaultyMaster::BatchReplicaClear(std::span<const ObjectName> names,
                                                    const std::string& segment,
                                                    TimePoint deadline) {
  return Batch("BatchReplicaClear", names.size(),
               [&] { return inner_->BatchReplicaClear(names, segment, deadline); });
}
Result<RemoveByRegexReply> FaultyMaster::RemoveByRegex(const RemoveByRegexArgs& args,
                                                       TimePoint deadline) {
  return One("RemoveByRegex", [&] { return inner_->RemoveByRegex(args, deadline); });
}
Result<uint64_t> FaultyMaster::RemoveAll(const std::string& tenant, bool force,
                                         TimePoint deadline) {
  return One("RemoveAll", [&] { return inner_->RemoveAll(tenant, force, deadline); });
}
Result<std::vector<std::pair<std::string, ReplicaList>>> FaultyMaster::GetReplicaListByRegex(
    const std::string& tenant, const std::string& pattern, uint32_t limit, TimePoint deadline) {
  return One("GetReplicaListByRegex",
             [&] { return inner_->GetReplicaListByRegex(tenant, pattern, limit, deadline); });
}
Result<ListReply> FaultyMaster::ListObjects(const ListArgs& args, TimePoint deadline) {
  return One("ListObjects", [&] { return inner_->ListObjects(args, deadline); });
}
Status FaultyMaster::Rename(const ObjectName& from, const ObjectName& to, bool no_replace,
                            TimePoint deadline) {
  return One("Rename", [&] { return inner_->Rename(from, to, no_replace, deadline); });
}
Result<uint64_t> FaultyMaster::RenamePrefix(const std::string& tenant,
                                            const std::string& from_prefix,
                                            const std::string& to_prefix, TimePoint deadline) {
  return One("RenamePrefix",
             [&] { return inner_->RenamePrefix(tenant, from_prefix, to_prefix, deadline); });
}
Status FaultyMaster::SetAttributes(const ObjectName& name, PutId version,
                                   const ObjectAttributes& attributes, TimePoint deadline) {
  return One("SetAttributes",
             [&] { return inner_->SetAttributes(name, version, attributes, deadline); });
}
std::vector<Status> FaultyMaster::BatchSetPin(std::span<const SetPinArgs> args,
                                              TimePoint deadline) {
  return Batch("BatchSetPin", args.size(), [&] { return inner_->BatchSetPin(args, deadline); });
}
Status FaultyMaster::MountSegment(const ClientId& client, const SegmentDescriptor& segment,
                                  TimePoint deadline) {
  return One("MountSegment", [&] { return inner_->MountSegment(client, segment, deadline); });
}
Status FaultyMaster::ReMountSegments(const ClientId& client,
                                     std::span<const SegmentDescriptor> segments,
                                     uint64_t seen_log_position, TimePoint deadline) {
  return One("ReMountSegments", [&] {
    return inner_->ReMountSegments(client, segments, seen_log_position, deadline);
  });
}
Status FaultyMaster::UnmountSegment(const ClientId& client, const SegmentId& id,
                                    TimePoint deadline) {
  return One("UnmountSegment", [&] { return inner_->UnmountSegment(client, id, deadline); });
}
Status FaultyMaster::GracefulUnmountSegment(const ClientId& client, const SegmentId& id,
                                            Duration grace, TimePoint deadline) {
  return One("GracefulUnmountSegment",
             [&] { return inner_->GracefulUnmountSegment(client, id, grace, deadline); });
}
Status FaultyMaster::ReportReplicaFailure(const ClientId& client,
                                          std::span<const SegmentId> segments, TimePoint deadline) {
  return One("ReportReplicaFailure",
             [&] { return inner_->ReportReplicaFailure(client, segments, deadline); });
}
Result<std::vector<SegmentInfo>> FaultyMaster::GetSegments(std::span<const SegmentId> ids,
                                                           TimePoint deadline) {
  return One("GetSegments", [&] { return inner_->GetSegments(ids, deadline); });
}
Result<std::vector<ClientInfo>> FaultyMaster::GetClients(TimePoint deadline) {
  return One("GetClients", [&] { return inner_->GetClients(deadline); });
}
Result<std::vector<ClientAddresses>> FaultyMaster::BatchQueryIp(std::span<const ClientId> clients,
                                                                TimePoint deadline) {
  return One("BatchQueryIp", [&] { return inner_->BatchQueryIp(clients, deadline); });
}
Result<ClusterStatus> FaultyMaster::GetStatus(TimePoint deadline) {
  return One("GetStatus", [&] { return inner_->GetStatus(deadline); });
}
Result<Activity> FaultyMaster::GetActivity(TimePoint deadline) {
  return One("GetActivity", [&] { return inner_->GetActivity(deadline); });
}
Result<std::vector<ConfigValue>> FaultyMaster::GetConfig(TimePoint deadline) {
  return One("GetConfig", [&] { return inner_->GetConfig(deadline); });
}
Result<SnapshotDescriptor> FaultyMaster::TakeSnapshot(TimePoint deadline) {
  return One("TakeSnapshot", [&] { return inner_->TakeSnapshot(deadline); });
}
Result<std::vector<SnapshotDescriptor>> FaultyMaster::ListSnapshots(TimePoint deadline) {
  return One("ListSnapshots", [&] { return inner_->ListSnapshots(deadline); });
}
Result<SnapshotVerdict> FaultyMaster::VerifySnapshot(const std::string& id, TimePoint deadline) {
  return One("VerifySnapshot", [&] { return inner_->VerifySnapshot(id, deadline); });
}
Result<DurabilityStatus> FaultyMaster::GetDurability(TimePoint deadline) {
  return One("GetDurability", [&] { return inner_->GetDurability(deadline); });
}
Result<TenantQuota> FaultyMaster::GetQuota(const std::string& tenant, TimePoint deadline) {
  return One("GetQuota", [&] { return inner_->GetQuota(tenant, deadline); });
}
Result<TenantQuota> FaultyMaster::SetQuota(const std::string& tenant, uint64_t bytes,
                                           TimePoint deadline) {
  return One("SetQuota", [&] { return inner_->SetQuota(tenant, bytes, deadline); });
}
Result<TenantQuota> FaultyMaster::DeleteQuota(const std::string& tenant, TimePoint deadline) {
  return One("DeleteQuota", [&] { return inner_->DeleteQuota(tenant, deadline); });
}
Result<QuotaList> FaultyMaster::ListQuotas(const std::string& start_after, uint32_t limit,
                                           TimePoint deadline) {
  return One("ListQuotas", [&] { return inner_->ListQuotas(start_after, limit, deadline); });
}

}  // namespace mooncake::testing

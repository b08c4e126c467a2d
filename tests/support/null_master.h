// A MasterApi that answers kNotSupported to everything: tests override the few calls that their subject makes.
#pragma once

#include "master/api/master_api.h"

namespace mooncake::testing {

class NullMaster : public MasterApi {
 public:
  Result<PingReply> Ping(const ClientId&, const std::string&, TimePoint) override { return No(); }
  std::vector<Result<PutStartReply>> BatchPutStart(std::span<const PutStartArgs> args,
                                                   TimePoint) override {
    return {args.size(), No()};
  }
  std::vector<Status> BatchPutEnd(std::span<const PutEndArgs> args, TimePoint) override {
    return std::vector<Status>(args.size(), No());
  }
  std::vector<Status> BatchPutRevoke(std::span<const PutRevokeArgs> args, TimePoint) override {
    return std::vector<Status>(args.size(), No());
  }
  std::vector<Result<ReplicaList>> BatchGetReplicaList(std::span<const ObjectName> names,
                                                       TimePoint) override {
    return {names.size(), No()};
  }
  std::vector<Result<Duration>> BatchRenewLease(std::span<const LeaseRef> leases,
                                                TimePoint) override {
    return {leases.size(), No()};
  }
  std::vector<Result<bool>> BatchExistKey(std::span<const ObjectName> names, bool,
                                          TimePoint) override {
    // In braces this would be a list of two: a number makes a Result<bool> too.
    return std::vector<Result<bool>>(names.size(), No());
  }
  std::vector<Result<ObjectStat>> BatchStat(std::span<const ObjectName> names, TimePoint) override {
    return {names.size(), No()};
  }
  std::vector<Status> BatchRemove(std::span<const ObjectName> names, bool, TimePoint) override {
    return std::vector<Status>(names.size(), No());
  }
  std::vector<Status> BatchReplicaClear(std::span<const ObjectName> names, const std::string&,
                                        TimePoint) override {
    return std::vector<Status>(names.size(), No());
  }
  Result<RemoveByRegexReply> RemoveByRegex(const RemoveByRegexArgs&, TimePoint) override {
    return No();
  }
  Result<uint64_t> RemoveAll(const std::string&, bool, TimePoint) override { return No(); }
  Result<std::vector<std::pair<std::string, ReplicaList>>> GetReplicaListByRegex(
      const std::string&, const std::string&, uint32_t, TimePoint) override {
    return No();
  }
  Result<ListReply> ListObjects(const ListArgs&, TimePoint) override { return No(); }
  Status Rename(const ObjectName&, const ObjectName&, bool, TimePoint) override { return No(); }
  Result<uint64_t> RenamePrefix(const std::string&, const std::string&, const std::string&,
                                TimePoint) override {
    return No();
  }
  Status SetAttributes(const ObjectName&, PutId, const ObjectAttributes&, TimePoint) override {
    return No();
  }
  std::vector<Status> BatchSetPin(std::span<const SetPinArgs> args, TimePoint) override {
    return std::vector<Status>(args.size(), No());
  }
  Status MountSegment(const ClientId&, const SegmentDescriptor&, TimePoint) override {
    return No();
  }
  Status ReMountSegments(const ClientId&, std::span<const SegmentDescriptor>, uint64_t,
                         TimePoint) override {
    return No();
  }
  Status UnmountSegment(const ClientId&, const SegmentId&, TimePoint) override { return No(); }
  Status GracefulUnmountSegment(const ClientId&, const SegmentId&, Duration, TimePoint) override {
    return No();
  }
  Status ReportReplicaFailure(const ClientId&, std::span<const SegmentId>, TimePoint) override {
    return No();
  }
  Result<std::vector<SegmentInfo>> GetSegments(std::span<const SegmentId>, TimePoint) override {
    return No();
  }
  Result<std::vector<ClientInfo>> GetClients(TimePoint) override { return No(); }
  Result<std::vector<ClientAddresses>> BatchQueryIp(std::span<const ClientId>, TimePoint) override {
    return No();
  }
  Result<ClusterStatus> GetStatus(TimePoint) override { return No(); }
  Result<Activity> GetActivity(TimePoint) override { return No(); }
  Result<std::vector<ConfigValue>> GetConfig(TimePoint) override { return No(); }
  Result<SnapshotDescriptor> TakeSnapshot(TimePoint) override { return No(); }
  Result<std::vector<SnapshotDescriptor>> ListSnapshots(TimePoint) override { return No(); }
  Result<SnapshotVerdict> VerifySnapshot(const std::string&, TimePoint) override { return No(); }
  Result<DurabilityStatus> GetDurability(TimePoint) override { return No(); }
  Result<TenantQuota> GetQuota(const std::string&, TimePoint) override { return No(); }
  Result<TenantQuota> SetQuota(const std::string&, uint64_t, TimePoint) override { return No(); }
  Result<TenantQuota> DeleteQuota(const std::string&, TimePoint) override { return No(); }
  Result<QuotaList> ListQuotas(const std::string&, uint32_t, TimePoint) override { return No(); }

 private:
  static Status No() { return Status(ErrorCode::kNotSupported, "NullMaster"); }
};

}  // namespace mooncake::testing

// Decorates a MasterApi with faults: requests and replies that get lost, calls that are seen and counted.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "master/api/master_api.h"
#include "transfer/base/mutex.h"

namespace mooncake::testing {

enum class Fault : uint8_t {
  kNone,
  kLoseRequest,  // the master never sees the call: kRpcTimeout
  kLoseReply,    // the master carries it out: kRpcTimeout all the same
};

// Thread-safe. Calls are named as in MasterApi: "BatchPutEnd".
class FaultyMaster final : public MasterApi {
 public:
  using Script = std::function<Fault(std::string_view call)>;

  explicit FaultyMaster(std::shared_ptr<MasterApi> inner) : inner_(std::move(inner)) {}

  // Asked before each call; may block, and may act on the world ("the node dies now"). Null: no faults.
  void SetScript(Script script);
  // The next `times` calls of this name suffer `fault`.
  void Inject(std::string call, Fault fault, int times = 1);
  int CallsOf(const std::string& call) const;
  int AllCalls() const;

  Result<PingReply> Ping(const ClientId& client, const std::string& address,
                         TimePoint deadline) override;
  std::vector<Result<PutStartReply>> BatchPutStart(std::span<const PutStartArgs> args,
                                                   TimePoint deadline) override;
  std::vector<Status> BatchPutEnd(std::span<const PutEndArgs> args, TimePoint deadline) override;
  std::vector<Status> BatchPutRevoke(std::span<const PutRevokeArgs> args,
                                     TimePoint deadline) override;
  std::vector<Result<ReplicaList>> BatchGetReplicaList(std::span<const ObjectName> names,
                                                       TimePoint deadline) override;
  std::vector<Result<Duration>> BatchRenewLease(std::span<const LeaseRef> leases,
                                                TimePoint deadline) override;
  std::vector<Result<bool>> BatchExistKey(std::span<const ObjectName> names, bool grant_lease,
                                          TimePoint deadline) override;
  std::vector<Result<ObjectStat>> BatchStat(std::span<const ObjectName> names,
                                            TimePoint deadline) override;
  std::vector<Status> BatchRemove(std::span<const ObjectName> names, bool force,
                                  TimePoint deadline) override;
  std::vector<Status> BatchReplicaClear(std::span<const ObjectName> names,
                                        const std::string& segment, TimePoint deadline) override;
  Result<RemoveByRegexReply> RemoveByRegex(const RemoveByRegexArgs& args,
                                           TimePoint deadline) override;
  Result<uint64_t> RemoveAll(const std::string& tenant, bool force, TimePoint deadline) override;
  Result<std::vector<std::pair<std::string, ReplicaList>>> GetReplicaListByRegex(
      const std::string& tenant, const std::string& pattern, uint32_t limit,
      TimePoint deadline) override;
  Result<ListReply> ListObjects(const ListArgs& args, TimePoint deadline) override;
  Status Rename(const ObjectName& from, const ObjectName& to, bool no_replace,
                TimePoint deadline) override;
  Result<uint64_t> RenamePrefix(const std::string& tenant, const std::string& from_prefix,
                                const std::string& to_prefix, TimePoint deadline) override;
  Status SetAttributes(const ObjectName& name, PutId version, const ObjectAttributes& attributes,
                       TimePoint deadline) override;
  std::vector<Status> BatchSetPin(std::span<const SetPinArgs> args, TimePoint deadline) override;
  Status MountSegment(const ClientId& client, const SegmentDescriptor& segment,
                      TimePoint deadline) override;
  Status ReMountSegments(const ClientId& client, std::span<const SegmentDescriptor> segments,
                         uint64_t seen_log_position, TimePoint deadline) override;
  Status UnmountSegment(const ClientId& client, const SegmentId& id, TimePoint deadline) override;
  Status GracefulUnmountSegment(const ClientId& client, const SegmentId& id, Duration grace,
                                TimePoint deadline) override;
  Status ReportReplicaFailure(const ClientId& client, std::span<const SegmentId> segments,
                              TimePoint deadline) override;
  Result<std::vector<SegmentInfo>> GetSegments(std::span<const SegmentId> ids,
                                               TimePoint deadline) override;
  Result<std::vector<ClientInfo>> GetClients(TimePoint deadline) override;
  Result<std::vector<ClientAddresses>> BatchQueryIp(std::span<const ClientId> clients,
                                                    TimePoint deadline) override;
  Result<ClusterStatus> GetStatus(TimePoint deadline) override;
  Result<Activity> GetActivity(TimePoint deadline) override;
  Result<std::vector<ConfigValue>> GetConfig(TimePoint deadline) override;
  Result<SnapshotDescriptor> TakeSnapshot(TimePoint deadline) override;
  Result<std::vector<SnapshotDescriptor>> ListSnapshots(TimePoint deadline) override;
  Result<SnapshotVerdict> VerifySnapshot(const std::string& id, TimePoint deadline) override;
  Result<DurabilityStatus> GetDurability(TimePoint deadline) override;
  Result<TenantQuota> GetQuota(const std::string& tenant, TimePoint deadline) override;
  Result<TenantQuota> SetQuota(const std::string& tenant, uint64_t bytes,
                               TimePoint deadline) override;
  Result<TenantQuota> DeleteQuota(const std::string& tenant, TimePoint deadline) override;
  Result<QuotaList> ListQuotas(const std::string& start_after, uint32_t limit,
                               TimePoint deadline) override;

 private:
  Fault Next(std::string_view call);
  template <typename Call>
  auto One(std::string_view name, Call call) -> decltype(call());
  template <typename Call>
  auto Batch(std::string_view name, size_t count, Call call) -> decltype(call());

  const std::shared_ptr<MasterApi> inner_;
  mutable Mutex mutex_;
  Script script_ MC_GUARDED_BY(mutex_);
  std::map<std::string, std::pair<Fault, int>, std::less<>> injected_ MC_GUARDED_BY(mutex_);
  std::map<std::string, int, std::less<>> calls_ MC_GUARDED_BY(mutex_);
};

}  // namespace mooncake::testing

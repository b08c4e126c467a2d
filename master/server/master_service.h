// The metadata service as an object: the pure core behind one lock, with the background work. Used directly in one process
// (embedded store, tests), and by the Thrift server.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "master/api/master_api.h"
#include "master/core/metadata_core.h"
#include "master/ha/recovery.h"
#include "master/server/call_counters.h"
#include "master/server/fair_mutex.h"
#include "master/server/master_service_options.h"
#include "master/tenants/quota_policies.h"
#include "transfer/base/clock.h"

namespace mooncake {

// Seconds since 2024-01-01 UTC: grows from one start of a master to the next, at least once a second. See README.md, "Term".
Term TermNow(const Clock& clock);

// Thread-safe. Deadlines matter to the operations that walk many keys only; the others do not wait for anything but the lock, which
// is held for slices. An operation that is cut short by its deadline answers kRpcTimeout and says how far it came.
class MasterService final : public MasterApi {
 public:
  // kInvalidParams when the options of the core make no sense, among them a durability without a `store` or multi_tenants without
  // `policies`, or the other way round; kPersistentFail when the store cannot be read, or what is the matter with the policies. `clock` must
  // outlive the service.
  static Result<std::unique_ptr<MasterService>> Create(
      const MasterServiceOptions& options, const Clock& clock,
      std::unique_ptr<StateStore> store = nullptr,
      std::unique_ptr<QuotaPolicyStore> policies = nullptr);
  // Writes what the log still waits for. With a storage that does not answer this takes until it does: whoever has no time for that
  // should just end the process.
  ~MasterService() override;

  Term term() const { return term_; }
  core::Counters core_counters() const;
  const MasterCounters& counters() const { return counters_; }
  // For the server that makes RPCs of the calls.
  CallLatencies& latencies() { return counters_.latencies; }
  // Long operations stop at their next step and answer kUnavailableInCurrentStatus; the background work ends. For a quick exit.
  void BeginShutdown();

  // Nothing without a state store.
  const std::optional<RestoreSummary>& restored() const { return restored_; }
  std::optional<DurabilityNumbers> durability() const;
  // One round of background work; true when more is due at once.
  bool Tick();

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
  MasterService(const MasterServiceOptions& options, const Clock& clock, Term term, uint64_t seed,
                std::unique_ptr<StateStore> store, std::unique_ptr<QuotaPolicyStore> policies);

  template <typename Out, typename Args, typename Work>
  std::vector<Out> Batch(MasterCall call, std::span<const Args> args, uint32_t per_lock,
                         TimePoint deadline, Work&& work);
  // Of a call that does not go through Batch or Single.
  template <typename T>
  Result<T> Counted(MasterCall call, Result<T> result) {
    counters_.of(call).Count(1, result.ok() ? 0 : 1);
    return result;
  }
  template <typename Work>
  auto Single(MasterCall call, TimePoint deadline, Work&& work);
  Status CheckBatch(MasterCall call, size_t entries) const;
  template <typename Make>
  auto Start(Make&& make);
  template <typename Walk, typename Progress>
  Status StepToEnd(Walk& walk, TimePoint deadline, Progress&& progress);
  template <typename Walk>
  bool Step(Walk& walk, uint64_t& answer_after);
  void BackgroundLoop();

  // master_service_durability.cc
  void Restore(const Recovered& recovered, TimePoint begun);
  void StartDurability(uint64_t sequence);
  // After an operation, before the lock is given back: its records go to the log.
  void Publish() MC_REQUIRES(mutex_);
  std::vector<Result<PutStartReply>> StartPuts(std::span<const PutStartArgs> args,
                                               TimePoint deadline);
  // The state changes only while the log can follow.
  Status CheckLog(MasterCall call) const;
  Result<std::vector<SnapshotDescriptor>> Snapshots() const;
  Result<SnapshotVerdict> ReadWhole(const std::string& id, TimePoint deadline) const;
  Status AwaitLog(uint64_t sequence, TimePoint deadline);
  uint64_t SpaceFreeAfter() const;

  // master_service_quotas.cc
  Status LoadQuotas();
  template <typename Change>
  Result<TenantQuota> ChangeQuotas(Change&& change);
  Status KeepQuotas(const QuotaPolicies& policies);

  // Fixed after construction.
  const MasterServiceOptions options_;
  const Clock& clock_;
  const Term term_;
  const TimePoint started_;

  std::optional<RestoreSummary> restored_;

  MasterCounters counters_;
  std::atomic<bool> stopping_{false};  // written under wake_mutex_; read between steps

  mutable FairMutex mutex_;
  core::MetadataCore core_ MC_GUARDED_BY(mutex_);

  // Held while a change is kept. Taken before mutex_.
  Mutex policies_mutex_;
  QuotaPolicies policies_ MC_GUARDED_BY(policies_mutex_);
  const std::unique_ptr<QuotaPolicyStore> policy_store_;  // null: no quotas

  Mutex wake_mutex_;
  CondVar wake_;
  std::thread background_;

  // All or none; threads of theirs call back, so they go first.
  const std::unique_ptr<StateStore> store_;
  std::unique_ptr<LogWriter> log_;
  std::unique_ptr<Snapshotter> snapshotter_;
};

}  // namespace mooncake

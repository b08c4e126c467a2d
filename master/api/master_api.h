// Port of the metadata service: what clients, nodes and tools call. Adapters: remote_master (Thrift)
// and the service itself in one process. Conformance suite: tests/conformance/master_api_suite.h.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "master/api/durability_types.h"
#include "master/api/quota_types.h"
#include "master/api/report_types.h"
#include "master/api/types.h"
#include "transfer/base/result.h"

namespace mooncake {

// Every call may block up to `deadline` (on the caller's monotonic clock) and then fails with
// kRpcTimeout: the outcome is then unknown. kRpcFail: could not reach the master or it answered garbage.
// Batch calls answer per key, in order, a key named twice is answered twice; if the call as a whole
// fails each entry carries that status. Thread-safe.
//
// Codes that any call can return besides its own: kInvalidParams, kInvalidKey (key empty or longer than
// kMaxKeyBytes), kRpcFail, kRpcTimeout.
class MasterApi {
 public:
  virtual ~MasterApi() = default;

  // --- session -------------------------------------------------------------------------------
  // Keeps the client alive (and registers it). `address` is for people.
  virtual Result<PingReply> Ping(const ClientId& client, const std::string& address,
                                 TimePoint deadline) = 0;

  // --- object life ---------------------------------------------------------------------------
  // kObjectAlreadyExists: readable object (kCreate) or a younger write in progress (kCreate).
  // kNoAvailableHandle: no room even after eviction; the message says wanted, free and largest hole.
  virtual std::vector<Result<PutStartReply>> BatchPutStart(std::span<const PutStartArgs> args,
                                                           TimePoint deadline) = 0;
  // kObjectNotFound / kInvalidWrite: no such write (late, revoked, preempted). Repeating an End that
  // succeeded is OK as long as that version is the readable one.
  virtual std::vector<Status> BatchPutEnd(std::span<const PutEndArgs> args, TimePoint deadline) = 0;
  // kObjectAlreadyExists: the write was ended and is the readable version; nothing is revoked.
  // kObjectNotFound / kInvalidWrite as above.
  virtual std::vector<Status> BatchPutRevoke(std::span<const PutRevokeArgs> args,
                                             TimePoint deadline) = 0;

  // Grants a lease. kObjectNotFound; kReplicaIsNotReady: only a first write in progress.
  virtual std::vector<Result<ReplicaList>> BatchGetReplicaList(std::span<const ObjectName> names,
                                                               TimePoint deadline) = 0;
  // Extends the lease of exactly this version, also after it was replaced, removed or renamed while leased
  // (its bytes stay until its last lease ends). The new lease, from before the request was sent.
  // kObjectNotFound: that version is gone for good.
  virtual std::vector<Result<Duration>> BatchRenewLease(std::span<const LeaseRef> leases,
                                                        TimePoint deadline) = 0;
  // False, not an error, when missing or not readable. True grants a lease if `grant_lease`.
  virtual std::vector<Result<bool>> BatchExistKey(std::span<const ObjectName> names,
                                                  bool grant_lease, TimePoint deadline) = 0;
  // No lease. kObjectNotFound also while only a first write is in progress.
  virtual std::vector<Result<ObjectStat>> BatchStat(std::span<const ObjectName> names,
                                                    TimePoint deadline) = 0;

  // kObjectHasLease unless `force`, which takes the name away at once while the bytes stay for the leases'
  // holders. A write in progress on the key is left alone.
  virtual std::vector<Status> BatchRemove(std::span<const ObjectName> names, bool force,
                                          TimePoint deadline) = 0;
  // Clears replicas, whoever wrote them: those on the segment of that name, or with "" all, which is the object.
  // OK: cleared; the last replica takes the object with it. What may not be cleared is left alone and says why:
  // kObjectNotFound, kObjectHasLease, kReplicaIsNotReady (only a first write in progress), kReplicaNotFound
  // (none on that segment), kSegmentNotFound.
  virtual std::vector<Status> BatchReplicaClear(std::span<const ObjectName> names,
                                                const std::string& segment, TimePoint deadline) = 0;
  // kInvalidParams: bad or empty pattern; nothing is removed.
  virtual Result<RemoveByRegexReply> RemoveByRegex(const RemoveByRegexArgs& args,
                                                   TimePoint deadline) = 0;
  // Number of objects removed. "" = every tenant.
  virtual Result<uint64_t> RemoveAll(const std::string& tenant, bool force, TimePoint deadline) = 0;
  // Up to `limit` readable objects whose key matches (search), with leases.
  virtual Result<std::vector<std::pair<std::string, ReplicaList>>> GetReplicaListByRegex(
      const std::string& tenant, const std::string& pattern, uint32_t limit,
      TimePoint deadline) = 0;

  virtual Result<ListReply> ListObjects(const ListArgs& args, TimePoint deadline) = 0;
  // Atomic; replaces a readable `to` unless `no_replace` (kObjectAlreadyExists). No data moves, the
  // version (put id) stays. kObjectNotFound: no readable `from`. Renaming onto itself is OK.
  virtual Status Rename(const ObjectName& from, const ObjectName& to, bool no_replace,
                        TimePoint deadline) = 0;
  // Every readable object whose key starts with `from_prefix` gets `to_prefix` instead, in one step, which
  // is refused (kObjectAlreadyExists) if any target key exists or (kObjectReplicaBusy) if a write below
  // either prefix is in progress. Number of objects moved.
  virtual Result<uint64_t> RenamePrefix(const std::string& tenant, const std::string& from_prefix,
                                        const std::string& to_prefix, TimePoint deadline) = 0;
  // kObjectNotFound; kInvalidVersion when `version` is not kNoPut and not the readable one.
  virtual Status SetAttributes(const ObjectName& name, PutId version,
                               const ObjectAttributes& attributes, TimePoint deadline) = 0;

  // kObjectNotFound: no readable version. A soft pin ends with its time, the version, or the master; a hard one with the version.
  virtual std::vector<Status> BatchSetPin(std::span<const SetPinArgs> args, TimePoint deadline) = 0;

  // --- segments and clients ------------------------------------------------------------------
  // Idempotent for the same id. A segment of the same name from an earlier life is replaced: its
  // objects are gone at once.
  virtual Status MountSegment(const ClientId& client, const SegmentDescriptor& segment,
                              TimePoint deadline) = 0;
  // After kNeedRemount: all segments of this node, with their new epochs, and the log position that the last master it was mounted at told
  // it. A master that was restored from an older state than that does not know what was removed since, so nothing of what it restored is
  // kept.
  virtual Status ReMountSegments(const ClientId& client,
                                 std::span<const SegmentDescriptor> segments,
                                 uint64_t seen_log_position, TimePoint deadline) = 0;
  // Unknown id: OK.
  virtual Status UnmountSegment(const ClientId& client, const SegmentId& id,
                                TimePoint deadline) = 0;
  // From now on nothing new goes to the segment; it stays readable for `grace` and is unmounted then. Repeating it
  // is OK, and an earlier end counts. Mounting it again meanwhile: kUnavailableInCurrentStatus. Unknown id: OK.
  // kInvalidParams: a negative grace, another client's segment.
  virtual Status GracefulUnmountSegment(const ClientId& client, const SegmentId& id, Duration grace,
                                        TimePoint deadline) = 0;
  // Transfers to or from these segments failed for `client`. When enough clients said so of one segment in a short
  // time (segment_failure_*), nothing new goes there for a while, unless it is the only one, and its replicas are
  // named last. Unknown segments don't matter. kClientNotFound: `client` has not pinged, nothing is counted.
  virtual Status ReportReplicaFailure(const ClientId& client, std::span<const SegmentId> segments,
                                      TimePoint deadline) = 0;
  // Empty `ids`: all of them. Unknown ids are left out.
  virtual Result<std::vector<SegmentInfo>> GetSegments(std::span<const SegmentId> ids,
                                                       TimePoint deadline) = 0;
  virtual Result<std::vector<ClientInfo>> GetClients(TimePoint deadline) = 0;
  // In the order asked for; unknown clients are left out, one without a numeric address has an empty list.
  virtual Result<std::vector<ClientAddresses>> BatchQueryIp(std::span<const ClientId> clients,
                                                            TimePoint deadline) = 0;
  virtual Result<ClusterStatus> GetStatus(TimePoint deadline) = 0;
  virtual Result<Activity> GetActivity(TimePoint deadline) = 0;
  // The options that the master was started with; none when it lives within another program.
  virtual Result<std::vector<ConfigValue>> GetConfig(TimePoint deadline) = 0;

  // --- what outlives the master --------------------------------------------------------------
  // All of these: kUnavailableInCurrentMode when this master keeps nothing (no state_dir); kPersistentFail with the storage's words.
  //
  // Blocks until the snapshot was written, read back and can be found; those before it stay if that fails. Others go on working
  // meanwhile. kRpcTimeout: given up at the deadline. kUnavailableInCurrentStatus: one is being taken, or the master stops.
  virtual Result<SnapshotDescriptor> TakeSnapshot(TimePoint deadline) = 0;
  // Newest first, also those that cannot be used.
  virtual Result<std::vector<SnapshotDescriptor>> ListSnapshots(TimePoint deadline) = 0;
  // Reads all of it. kInvalidParams: no id at all; kObjectNotFound: none of that id; kPersistentFail: it cannot be used.
  virtual Result<SnapshotVerdict> VerifySnapshot(const std::string& id, TimePoint deadline) = 0;
  virtual Result<DurabilityStatus> GetDurability(TimePoint deadline) = 0;

  // --- quotas of tenants ---------------------------------------------------------------------
  // All of these: kUnavailableInCurrentMode when this master keeps no quotas (no enable_multi_tenants). Changes are kept where the
  // master was told to keep them before they count; kPersistentFail when that fails, kUnavailableInCurrentStatus while another change is
  // being kept: nothing is changed then.
  //
  // kTenantNotRegistered: the tenant has neither quota nor object. One with objects only is answered; it may read and remove.
  virtual Result<TenantQuota> GetQuota(const std::string& tenant, TimePoint deadline) = 0;
  // kInvalidParams: no tenant, 0 bytes or more than kMaxQuotaBytes, more than kMaxQuotas tenants.
  virtual Result<TenantQuota> SetQuota(const std::string& tenant, uint64_t bytes,
                                       TimePoint deadline) = 0;
  // As it was. kTenantNotRegistered: it has no quota; kTenantNotEmpty: it has objects, or bytes held for leases.
  virtual Result<TenantQuota> DeleteQuota(const std::string& tenant, TimePoint deadline) = 0;
  // By name, those after `start_after`; 1 to kMaxListLimit of them.
  virtual Result<QuotaList> ListQuotas(const std::string& start_after, uint32_t limit,
                                       TimePoint deadline) = 0;
};

}  // namespace mooncake

// One function per operation; what each promises stands in master/api/master_api.h and master/core/metadata_core.h.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <absl/functional/function_ref.h>

#include "master/api/quota_types.h"
#include "master/core/state.h"
#include "master/core/walks.h"
#include "transfer/base/result.h"

namespace mooncake::core {

// put_ops.cc
Result<PutStartReply> PutStart(State& state, TimePoint now, const PutStartArgs& args);
Status PutEnd(State& state, TimePoint now, int64_t wall_ms, const PutEndArgs& args);
Status PutRevoke(State& state, TimePoint now, const PutRevokeArgs& args);

// read_ops.cc
Result<ReplicaList> GetReplicaList(State& state, TimePoint now, const ObjectName& name);
// Of a readable object: grants the lease and describes it.
ReplicaList LeaseAndDescribe(State& state, TimePoint now, Object& object);
Result<Duration> RenewLease(State& state, TimePoint now, const LeaseRef& lease);
Result<bool> ExistKey(State& state, TimePoint now, const ObjectName& name, bool grant_lease);
Result<ObjectStat> Stat(State& state, TimePoint now, const ObjectName& name);
ObjectStat StatOf(const State& state, TimePoint now, const Object& object);
Status SetAttributes(State& state, TimePoint now, const ObjectName& name, PutId version,
                     const ObjectAttributes& attributes);
Status SetPin(State& state, TimePoint now, const SetPinArgs& args);

// Of the unknown keys of a chain, whose known ones come first. There must be a reuse model.
uint8_t PlaceInChain(const State& state, size_t count,
                     absl::FunctionRef<const ObjectName&(size_t)> name_at);

// remove_ops.cc
Status Remove(State& state, TimePoint now, const ObjectName& name, bool force);
// Those on the segment of that name; "" = all of them.
Status ClearReplicas(State& state, TimePoint now, const ObjectName& name,
                     const std::string& segment);
// Visits about `max_keys` keys at the position.
void StepWalk(State& state, TimePoint now, RemoveByRegexWalk& walk, uint32_t max_keys);
void StepWalk(State& state, TimePoint now, RemoveAllWalk& walk, uint32_t max_keys);
void StepWalk(State& state, TimePoint now, ReplicaListByRegexWalk& walk, uint32_t max_keys);
SnapshotWalk StartSnapshot(const State& state);
void StepWalk(State& state, TimePoint now, SnapshotWalk& walk, uint32_t max_keys);

// list_ops.cc
Result<ListWalk> StartListObjects(const ListArgs& args);
void StepWalk(State& state, TimePoint now, ListWalk& walk, uint32_t max_keys);

// rename_ops.cc
Status Rename(State& state, TimePoint now, const ObjectName& from, const ObjectName& to,
              bool no_replace);

// segment_ops.cc
Result<PingReply> Ping(State& state, TimePoint now, const ClientId& client,
                       const std::string& address);
Status MountSegment(State& state, TimePoint now, const ClientId& client,
                    const SegmentDescriptor& segment);
Status ReMountSegments(State& state, TimePoint now, const ClientId& client,
                       std::span<const SegmentDescriptor> segments, uint64_t seen_log_position);
Status UnmountSegment(State& state, const ClientId& client, const SegmentId& id);
Status GracefulUnmountSegment(State& state, TimePoint now, const ClientId& client,
                              const SegmentId& id, Duration grace);
// Unmounts those whose grace is over, `budget` at most; takes from it.
void UnmountLeaving(State& state, TimePoint now, uint32_t& budget);
// The client and its segments are gone.
void RemoveClient(State& state, const ClientId& client);

// quota_ops.cc. Without options.multi_tenants all of them say kUnavailableInCurrentMode.
// Would SetQuota take it? kInvalidParams.
Status CheckQuota(const State& state, const std::string& tenant, uint64_t bytes);
Result<TenantQuota> SetQuota(State& state, const std::string& tenant, uint64_t bytes);
// Those before the first that SetQuota would refuse, whose error it is.
Status SetQuotas(State& state, const std::map<std::string, uint64_t>& quotas);
// First half of deleting a quota: nothing new is written. kTenantNotRegistered, kTenantNotEmpty. Then either DropQuota, or, if that could
// not be made to last, ReopenQuota.
Result<TenantQuota> CloseQuota(State& state, const std::string& tenant);
void ReopenQuota(State& state, const std::string& tenant);
void DropQuota(State& state, const std::string& tenant);
// kTenantNotRegistered: neither policy nor object.
Result<TenantQuota> GetQuota(const State& state, const std::string& tenant);
Result<QuotaList> ListQuotas(const State& state, const std::string& start_after, uint32_t limit);

// quarantine_ops.cc
Status ReportReplicaFailure(State& state, TimePoint now, const ClientId& client,
                            std::span<const SegmentId> segments);
// What was reported of the segment counts no more; it may take new objects, quarantined or not before.
void ForgetFailures(State& state, uint32_t slot);
// Those whose quarantine is over, `budget` at most; takes from it.
void EndQuarantines(State& state, TimePoint now, uint32_t& budget);

// report_ops.cc
std::vector<SegmentInfo> GetSegments(const State& state, std::span<const SegmentId> ids);
std::vector<ClientInfo> GetClients(const State& state, TimePoint now);
Result<std::vector<ClientAddresses>> QueryAddresses(const State& state,
                                                    std::span<const ClientId> clients);
std::vector<std::string> SegmentNames(const State& state,
                                      std::span<const ReplicaDescriptor> replicas);
Counters GetCounters(const State& state);
ClusterStatus GetStatus(const State& state);

// invariants.cc
std::optional<std::string> CheckInvariants(const State& state, TimePoint now);

}  // namespace mooncake::core

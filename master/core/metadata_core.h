// The whole metadata service as a value: state, and one function per operation. It reads no clock, takes no
// lock and does no I/O; its owner passes the time in and calls Tick. Driven by master/server (under its lock),
// by the simulator and by tests.
//
// What each operation promises stands in master/api/master_api.h. Here: single-item forms. `now` must never go
// back. Equal seeds, options and calls give equal answers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <absl/functional/function_ref.h>

#include "master/api/quota_types.h"
#include "master/api/types.h"
#include "master/core/counters.h"
#include "master/core/options.h"
#include "master/core/persist/restore.h"
#include "master/core/walks.h"
#include "transfer/base/result.h"

namespace mooncake::core {

struct State;

inline constexpr uint8_t kEndOfChain = UINT8_MAX;

struct TickResult {
  bool more = false;  // the budget ran out: call again soon, after letting others in
  // Otherwise: nothing falls due by itself before this time. Operations in between may cause work (a put may
  // pass the watermark, an unmount leaves replicas to sweep): while there are any, call at least every 100 ms.
  TimePoint next = kNever;
};

class MetadataCore {
 public:
  // `options` must pass Validate(). `term` goes into the high bits of put ids and into Ping replies.
  MetadataCore(const CoreOptions& options, Term term, uint64_t seed);
  ~MetadataCore();
  MetadataCore(const MetadataCore&) = delete;
  MetadataCore& operator=(const MetadataCore&) = delete;

  const CoreOptions& options() const;

  // --- session ---
  Result<PingReply> Ping(TimePoint now, const ClientId& client, const std::string& address);

  // The keys of a batch are a chain: an engine names the blocks of a prompt in their order. The eviction policy may
  // learn from that (WantsChains): call PlaceInChain before the first key of a batch of reads or PutEnds, and
  // SetPlace before each, with what that answered, or with kEndOfChain for the last, and the keys of the batch. A few look-ups.
  using NameAt = absl::FunctionRef<const ObjectName&(size_t)>;
  bool WantsChains() const;
  uint8_t PlaceInChain(size_t count, NameAt name_at) const;
  void SetPlace(uint8_t place, size_t chain);

  // --- object life ---
  // prefer_same_node is for whoever unpacks a batch: it puts the first key's segments into the
  // preferred_segments of the others (SegmentNames below).
  Result<PutStartReply> PutStart(TimePoint now, const PutStartArgs& args);
  // `wall_ms`: milliseconds since 1970, becomes created_ms.
  Status PutEnd(TimePoint now, int64_t wall_ms, const PutEndArgs& args);
  Status PutRevoke(TimePoint now, const PutRevokeArgs& args);
  Result<ReplicaList> GetReplicaList(TimePoint now, const ObjectName& name);
  Result<Duration> RenewLease(TimePoint now, const LeaseRef& lease);
  Result<bool> ExistKey(TimePoint now, const ObjectName& name, bool grant_lease);
  Result<ObjectStat> Stat(TimePoint now, const ObjectName& name) const;
  Status Remove(TimePoint now, const ObjectName& name, bool force);
  Status ClearReplicas(TimePoint now, const ObjectName& name, const std::string& segment);
  Status Rename(TimePoint now, const ObjectName& from, const ObjectName& to, bool no_replace);
  Status SetAttributes(TimePoint now, const ObjectName& name, PutId version,
                       const ObjectAttributes& attributes);
  Status SetPin(TimePoint now, const SetPinArgs& args);

  // --- many keys, in steps: Start, then Step until it returns true (done) ---
  // Each step visits about `max_keys` keys. The forms without steps do all of it at once.
  Result<RemoveByRegexWalk> StartRemoveByRegex(const RemoveByRegexArgs& args) const;
  bool Step(TimePoint now, RemoveByRegexWalk& walk, uint32_t max_keys);
  Result<RemoveByRegexReply> RemoveByRegex(TimePoint now, const RemoveByRegexArgs& args);

  Result<RemoveAllWalk> StartRemoveAll(const std::string& tenant, bool force) const;
  bool Step(TimePoint now, RemoveAllWalk& walk, uint32_t max_keys);
  Result<uint64_t> RemoveAll(TimePoint now, const std::string& tenant, bool force);

  Result<ReplicaListByRegexWalk> StartGetReplicaListByRegex(const std::string& tenant,
                                                            const std::string& pattern,
                                                            uint32_t limit) const;
  bool Step(TimePoint now, ReplicaListByRegexWalk& walk, uint32_t max_keys);

  Result<ListWalk> StartListObjects(const ListArgs& args) const;
  bool Step(TimePoint now, ListWalk& walk, uint32_t max_keys);
  Result<ListReply> ListObjects(TimePoint now, const ListArgs& args);

  // The checks and the change of names happen in Start; steps only tidy up. A walk that is abandoned is
  // finished by Tick.
  Result<RenamePrefixWalk> StartRenamePrefix(TimePoint now, const std::string& tenant,
                                             const std::string& from_prefix,
                                             const std::string& to_prefix);
  bool Step(TimePoint now, RenamePrefixWalk& walk, uint32_t max_keys);
  Result<uint64_t> RenamePrefix(TimePoint now, const std::string& tenant,
                                const std::string& from_prefix, const std::string& to_prefix);

  // --- segments and clients ---
  Status MountSegment(TimePoint now, const ClientId& client, const SegmentDescriptor& segment);
  Status ReMountSegments(TimePoint now, const ClientId& client,
                         std::span<const SegmentDescriptor> segments,
                         uint64_t seen_log_position = 0);
  Status UnmountSegment(TimePoint now, const ClientId& client, const SegmentId& id);
  Status GracefulUnmountSegment(TimePoint now, const ClientId& client, const SegmentId& id,
                                Duration grace);
  Status ReportReplicaFailure(TimePoint now, const ClientId& client,
                              std::span<const SegmentId> segments);
  // Sorted by name. Empty `ids`: all.
  std::vector<SegmentInfo> GetSegments(std::span<const SegmentId> ids) const;
  std::vector<ClientInfo> GetClients(TimePoint now) const;  // sorted by address, then id
  Result<std::vector<ClientAddresses>> QueryAddresses(std::span<const ClientId> clients) const;
  // Names of the segments that hold these replicas, each once, in order of appearance.
  std::vector<std::string> SegmentNames(std::span<const ReplicaDescriptor> replicas) const;
  // `version` and `uptime` are the caller's to fill.
  ClusterStatus GetStatus() const;

  // --- quotas: see ops/ops.h; what they mean is in README.md ---
  Status CheckQuota(const std::string& tenant, uint64_t bytes) const;
  Result<TenantQuota> SetQuota(const std::string& tenant, uint64_t bytes);
  Status SetQuotas(const std::map<std::string, uint64_t>& quotas);
  Result<TenantQuota> CloseQuota(const std::string& tenant);
  void ReopenQuota(const std::string& tenant);
  void DropQuota(const std::string& tenant);
  Result<TenantQuota> GetQuota(const std::string& tenant) const;
  Result<QuotaList> ListQuotas(const std::string& start_after, uint32_t limit) const;

  // --- background ---
  // At most about `budget` items (puts, versions, clients, replicas; up to 3 us each in a large table) of
  // what is due: expired writes, discarded space, detached versions, soft pins, clients, replicas on dead
  // segments, prefix renames, watermark eviction. With 128 no call takes a millisecond.
  TickResult Tick(TimePoint now, uint32_t budget);
  // Evicts the coldest objects until `bytes` are free or nothing evictable is left; at most `limit` objects.
  // Returns the bytes freed.
  uint64_t Evict(TimePoint now, uint64_t bytes, uint32_t limit);

  // --- persistence: persist/README.md; all of it is idle while options.durability is kNone ---
  // Records made since the last call, for the log, in order.
  std::vector<LogRecord> TakeLog();
  // The log is durable up to here: what it freed may be used again.
  void LogDurable(uint64_t sequence);
  // The answer of the last operation must not be given before the log is durable up to here; 0: at once. Asking forgets it.
  uint64_t AnswerAfter();
  // All space that waits for the log is free when it is durable up to here; 0: none waits.
  uint64_t SpaceFreeAfter() const;
  // A snapshot may take many steps, with operations in between.
  SnapshotWalk StartSnapshot() const;
  bool Step(TimePoint now, SnapshotWalk& walk, uint32_t max_keys);
  // The first call on a new core. Until args.quiet has passed, kUnavailableInCurrentStatus is the answer to writes, removals and
  // renames, and steps of removing walks do nothing.
  RestoreReport Restore(TimePoint now, const Restorer& restorer, const RestoreArgs& args);

  Counters GetCounters() const;

  // The first broken invariant in words; nullopt when all hold. Walks everything.
  std::optional<std::string> CheckInvariants(TimePoint now) const;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace mooncake::core

// The whole metadata service as one pure, single-threaded object: state and operations, with time passed in. The shell
// (master/server), the simulator and the property tests drive it. No locks, clocks, I/O or logging in here.
// See README.md for the state machines.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "master/api/types.h"
#include "master/core/options.h"
#include "transfer/base/result.h"

namespace mooncake::core {

class State;     // state.h
class KeyFilter;  // key_filter.h: a compiled pattern

// A walk over the keys of a tenant in byte order, in slices: hand it to Step... until `done`. Keys that appear or vanish
// between two slices may be seen or not; those that stay are seen once.
struct RegexRemoval {
  RemoveByRegexArgs args;
  std::shared_ptr<const KeyFilter> filter;
  std::string cursor;  // the last key looked at
  bool started = false;
  bool done = false;
  RemoveByRegexReply reply;
};
struct RegexQuery {
  std::string tenant;
  uint32_t limit = 0;
  std::shared_ptr<const KeyFilter> filter;
  std::string cursor;
  bool started = false;
  bool done = false;
  std::vector<std::pair<std::string, ReplicaList>> reply;
};
struct RemoveAllWalk {
  std::string tenant;  // "" = all
  bool force = false;
  std::string cursor;
  std::string cursor_tenant;
  bool started = false;
  bool done = false;
  uint64_t removed = 0;
};

struct TickReport {
  bool more = false;  // the budget ran out: call again soon
};

struct Counters {
  uint64_t evicted_objects = 0;
  uint64_t evicted_bytes = 0;
  uint64_t allocation_failures = 0;
  uint64_t partial_allocations = 0;  // fewer replicas than asked for
  uint64_t preempted_puts = 0;
  uint64_t released_puts = 0;        // given back after the release timeout
  uint64_t expired_clients = 0;
};

// Not thread-safe. `now` must never go back between calls. Errors as in master/api/master_api.h.
class MetadataCore {
 public:
  // `options` must be valid. `term` makes put ids; `seed` feeds placement.
  MetadataCore(const CoreOptions& options, Term term, uint64_t seed);
  ~MetadataCore();
  MetadataCore(MetadataCore&&) noexcept;
  MetadataCore& operator=(MetadataCore&&) noexcept;

  PingReply Ping(const ClientId& client, const std::string& address, TimePoint now);

  Result<PutStartReply> PutStart(const PutStartArgs& args, TimePoint now);
  Status PutEnd(const PutEndArgs& args, TimePoint now, WallTime wall);
  Status PutRevoke(const PutRevokeArgs& args, TimePoint now);

  Result<ReplicaList> GetReplicaList(const ObjectName& name, TimePoint now);
  Result<Duration> RenewLease(const LeaseRef& lease, TimePoint now);
  Result<bool> ExistKey(const ObjectName& name, bool grant_lease, TimePoint now);
  Result<ObjectStat> Stat(const ObjectName& name, TimePoint now) const;
  Status Remove(const ObjectName& name, bool force, TimePoint now);
  Status Rename(const ObjectName& from, const ObjectName& to, bool no_replace, TimePoint now);
  // One step, however many keys: the caller should bound the prefix's size by policy if that matters.
  Result<uint64_t> RenamePrefix(const std::string& tenant, const std::string& from_prefix,
                                const std::string& to_prefix, TimePoint now);
  Status SetAttributes(const ObjectName& name, PutId version, const ObjectAttributes& attributes, TimePoint now);
  Result<ListReply> ListObjects(const ListArgs& args, TimePoint now) const;

  Result<RegexRemoval> BeginRemoveByRegex(const RemoveByRegexArgs& args) const;
  void StepRemoveByRegex(RegexRemoval& walk, size_t max_keys, TimePoint now);
  Result<RegexQuery> BeginGetReplicaListByRegex(const std::string& tenant, const std::string& pattern,
                                                uint32_t limit) const;
  void StepGetReplicaListByRegex(RegexQuery& walk, size_t max_keys, TimePoint now);
  Result<RemoveAllWalk> BeginRemoveAll(const std::string& tenant, bool force) const;
  void StepRemoveAll(RemoveAllWalk& walk, size_t max_keys, TimePoint now);

  Status MountSegment(const ClientId& client, const SegmentDescriptor& segment, TimePoint now);
  Status ReMountSegments(const ClientId& client, std::span<const SegmentDescriptor> segments, TimePoint now);
  Status UnmountSegment(const ClientId& client, const SegmentId& id, TimePoint now);
  std::vector<SegmentInfo> GetSegments(std::span<const SegmentId> ids) const;
  std::vector<ClientInfo> GetClients(TimePoint now) const;
  // `version` and `uptime` are the shell's to fill in.
  ClusterStatus GetStatus() const;
  const Counters& counters() const;

  // Background work, about `budget` objects' worth: timers that are due, clean-up of dead segments, eviction above the
  // watermark. Cheap when there is nothing to do; call it every 10 ms or so.
  TickReport Tick(TimePoint now, size_t budget);

  // The first broken invariant in words, or nothing. Walks everything: for tests, the simulator and tools.
  std::optional<std::string> CheckInvariants() const;

  // Bytes of memory held per kind of thing, for the memory bench: everything but the keys' own bytes.
  uint64_t ApproximateMemory() const;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace mooncake::core

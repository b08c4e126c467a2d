#include "master/core/metadata_core.h"

#include <algorithm>
#include <utility>

#include "master/core/background.h"
#include "master/core/checks.h"
#include "master/core/eviction/evictor.h"
#include "master/core/ops/ops.h"
#include "master/core/persist/outcomes.h"
#include "master/core/prefix_rename.h"
#include "master/core/state.h"
#include "transfer/base/check.h"

namespace mooncake::core {
namespace {

// Steps of the forms that do it all at once.
constexpr uint32_t kAllAtOnce = 1 << 20;

// A predecessor may still be answering: what would contradict it waits.
Status CheckQuiet(const State& state, TimePoint now) {
  if (now >= state.quiet_until) return Status::Ok();
  return {ErrorCode::kUnavailableInCurrentStatus,
          "a new master acknowledges nothing for another " +
              std::to_string(ToMillis(state.quiet_until - now)) + " ms"};
}

// Passes the answer of an operation on, and notes what it has to wait for: whatever it shows must not be undone by a restart.
template <typename Answer>
Answer About(State& state, const ObjectName& name, Answer answer) {
  if (state.journal.on())
    state.answer_after = state.journal.ShownBy(TenantOf(name.tenant), name.key);
  return answer;
}
template <typename Answer>
Answer AboutMany(State& state, Answer answer) {
  state.answer_after = state.journal.ShownByAny();
  return answer;
}

}  // namespace

MetadataCore::MetadataCore(const CoreOptions& options, Term term, uint64_t seed) {
  MC_CHECK_OK(options.Validate());
  state_ = std::make_unique<State>(options, term, seed);
}

MetadataCore::~MetadataCore() = default;

const CoreOptions& MetadataCore::options() const { return state_->options; }

Result<PingReply> MetadataCore::Ping(TimePoint now, const ClientId& client,
                                     const std::string& address) {
  return core::Ping(*state_, now, client, address);
}

bool MetadataCore::WantsChains() const { return state_->reuse != nullptr; }
uint8_t MetadataCore::PlaceInChain(size_t count, NameAt name_at) const {
  return WantsChains() ? core::PlaceInChain(*state_, count, name_at) : kEndOfChain;
}
void MetadataCore::SetPlace(uint8_t place, size_t chain) {
  if (state_->reuse != nullptr) state_->reuse->SetPlace(std::min(place, ReuseClass::kEnd), chain);
}

Result<PutStartReply> MetadataCore::PutStart(TimePoint now, const PutStartArgs& args) {
  RETURN_IF_ERROR(CheckQuiet(*state_, now));
  return About(*state_, args.name, core::PutStart(*state_, now, args));
}
Status MetadataCore::PutEnd(TimePoint now, int64_t wall_ms, const PutEndArgs& args) {
  // No quiet time: no write of this term has begun, and the End of an earlier one is answered as what became of it.
  return About(*state_, args.name, core::PutEnd(*state_, now, wall_ms, args));
}
Status MetadataCore::PutRevoke(TimePoint now, const PutRevokeArgs& args) {
  return About(*state_, args.name, core::PutRevoke(*state_, now, args));
}
Result<ReplicaList> MetadataCore::GetReplicaList(TimePoint now, const ObjectName& name) {
  return About(*state_, name, core::GetReplicaList(*state_, now, name));
}
Result<Duration> MetadataCore::RenewLease(TimePoint now, const LeaseRef& lease) {
  return About(*state_, lease.name, core::RenewLease(*state_, now, lease));
}
Result<bool> MetadataCore::ExistKey(TimePoint now, const ObjectName& name, bool grant_lease) {
  return About(*state_, name, core::ExistKey(*state_, now, name, grant_lease));
}
Result<ObjectStat> MetadataCore::Stat(TimePoint now, const ObjectName& name) const {
  return About(*state_, name, core::Stat(*state_, now, name));
}
Status MetadataCore::Remove(TimePoint now, const ObjectName& name, bool force) {
  RETURN_IF_ERROR(CheckQuiet(*state_, now));
  return About(*state_, name, core::Remove(*state_, now, name, force));
}
Status MetadataCore::ClearReplicas(TimePoint now, const ObjectName& name,
                                   const std::string& segment) {
  RETURN_IF_ERROR(CheckQuiet(*state_, now));
  return About(*state_, name, core::ClearReplicas(*state_, now, name, segment));
}
Status MetadataCore::Rename(TimePoint now, const ObjectName& from, const ObjectName& to,
                            bool no_replace) {
  RETURN_IF_ERROR(CheckQuiet(*state_, now));
  return AboutMany(*state_, core::Rename(*state_, now, from, to, no_replace));
}
Status MetadataCore::SetAttributes(TimePoint now, const ObjectName& name, PutId version,
                                   const ObjectAttributes& attributes) {
  RETURN_IF_ERROR(CheckQuiet(*state_, now));
  return About(*state_, name, core::SetAttributes(*state_, now, name, version, attributes));
}
Status MetadataCore::SetPin(TimePoint now, const SetPinArgs& args) {
  RETURN_IF_ERROR(CheckQuiet(*state_, now));
  return About(*state_, args.name, core::SetPin(*state_, now, args));
}

Result<RemoveByRegexWalk> MetadataCore::StartRemoveByRegex(const RemoveByRegexArgs& args) const {
  RETURN_IF_ERROR(CheckTenant(args.tenant));
  if (args.sample_limit > kMaxListLimit) {
    return {ErrorCode::kInvalidParams, "sample_limit is " + std::to_string(args.sample_limit) +
                                           ", at most " + std::to_string(kMaxListLimit) +
                                           " is allowed"};
  }
  RemoveByRegexWalk walk;
  ASSIGN_OR_RETURN(walk.pattern, Compile(args.pattern));
  walk.args = args;
  walk.position.tenant = std::string(TenantOf(args.tenant));
  return walk;
}
// Walks that remove have no error to give, so they rest until the time comes.
bool MetadataCore::Step(TimePoint now, RemoveByRegexWalk& walk, uint32_t max_keys) {
  if (!CheckQuiet(*state_, now).ok()) return false;
  StepWalk(*state_, now, walk, max_keys);
  return AboutMany(*state_, walk.position.done);
}
Result<RemoveByRegexReply> MetadataCore::RemoveByRegex(TimePoint now,
                                                       const RemoveByRegexArgs& args) {
  RETURN_IF_ERROR(CheckQuiet(*state_, now));
  ASSIGN_OR_RETURN(RemoveByRegexWalk walk, StartRemoveByRegex(args));
  while (!Step(now, walk, kAllAtOnce)) {
  }
  return std::move(walk.reply);
}

Result<RemoveAllWalk> MetadataCore::StartRemoveAll(const std::string& tenant, bool force) const {
  RETURN_IF_ERROR(CheckTenant(tenant));
  RemoveAllWalk walk;
  walk.force = force;
  walk.position.tenant = tenant;
  walk.position.all_tenants = tenant.empty();
  return walk;
}
bool MetadataCore::Step(TimePoint now, RemoveAllWalk& walk, uint32_t max_keys) {
  if (!CheckQuiet(*state_, now).ok()) return false;
  StepWalk(*state_, now, walk, max_keys);
  return AboutMany(*state_, walk.position.done);
}
Result<uint64_t> MetadataCore::RemoveAll(TimePoint now, const std::string& tenant, bool force) {
  RETURN_IF_ERROR(CheckQuiet(*state_, now));
  ASSIGN_OR_RETURN(RemoveAllWalk walk, StartRemoveAll(tenant, force));
  while (!Step(now, walk, kAllAtOnce)) {
  }
  return walk.removed;
}

Result<ReplicaListByRegexWalk> MetadataCore::StartGetReplicaListByRegex(const std::string& tenant,
                                                                        const std::string& pattern,
                                                                        uint32_t limit) const {
  RETURN_IF_ERROR(CheckTenant(tenant));
  if (limit == 0 || limit > kMaxListLimit) {
    return {ErrorCode::kInvalidParams, "limit is " + std::to_string(limit) + ", it must be 1 to " +
                                           std::to_string(kMaxListLimit)};
  }
  ReplicaListByRegexWalk walk;
  ASSIGN_OR_RETURN(walk.pattern, Compile(pattern));
  walk.limit = limit;
  walk.position.tenant = std::string(TenantOf(tenant));
  return walk;
}
bool MetadataCore::Step(TimePoint now, ReplicaListByRegexWalk& walk, uint32_t max_keys) {
  StepWalk(*state_, now, walk, max_keys);
  return AboutMany(*state_, walk.position.done);
}

Result<ListWalk> MetadataCore::StartListObjects(const ListArgs& args) const {
  return core::StartListObjects(args);
}
bool MetadataCore::Step(TimePoint now, ListWalk& walk, uint32_t max_keys) {
  StepWalk(*state_, now, walk, max_keys);
  return AboutMany(*state_, walk.done);
}
Result<ListReply> MetadataCore::ListObjects(TimePoint now, const ListArgs& args) {
  ASSIGN_OR_RETURN(ListWalk walk, StartListObjects(args));
  while (!Step(now, walk, kAllAtOnce)) {
  }
  return std::move(walk.reply);
}

Result<RenamePrefixWalk> MetadataCore::StartRenamePrefix(TimePoint now, const std::string& tenant,
                                                         const std::string& from_prefix,
                                                         const std::string& to_prefix) {
  RETURN_IF_ERROR(CheckQuiet(*state_, now));
  return AboutMany(*state_, core::StartRenamePrefix(*state_, now, tenant, from_prefix, to_prefix));
}
bool MetadataCore::Step(TimePoint now, RenamePrefixWalk& walk, uint32_t max_keys) {
  StepWalk(*state_, now, walk, max_keys);
  return AboutMany(*state_, walk.done);
}
Result<uint64_t> MetadataCore::RenamePrefix(TimePoint now, const std::string& tenant,
                                            const std::string& from_prefix,
                                            const std::string& to_prefix) {
  ASSIGN_OR_RETURN(RenamePrefixWalk walk, StartRenamePrefix(now, tenant, from_prefix, to_prefix));
  while (!Step(now, walk, kAllAtOnce)) {
  }
  return walk.moved;
}

Status MetadataCore::MountSegment(TimePoint now, const ClientId& client,
                                  const SegmentDescriptor& segment) {
  return core::MountSegment(*state_, now, client, segment);
}
Status MetadataCore::ReMountSegments(TimePoint now, const ClientId& client,
                                     std::span<const SegmentDescriptor> segments,
                                     uint64_t seen_log_position) {
  return core::ReMountSegments(*state_, now, client, segments, seen_log_position);
}
Status MetadataCore::UnmountSegment(TimePoint, const ClientId& client, const SegmentId& id) {
  return core::UnmountSegment(*state_, client, id);
}
Status MetadataCore::GracefulUnmountSegment(TimePoint now, const ClientId& client,
                                            const SegmentId& id, Duration grace) {
  return core::GracefulUnmountSegment(*state_, now, client, id, grace);
}
Status MetadataCore::ReportReplicaFailure(TimePoint now, const ClientId& client,
                                          std::span<const SegmentId> segments) {
  return core::ReportReplicaFailure(*state_, now, client, segments);
}
std::vector<SegmentInfo> MetadataCore::GetSegments(std::span<const SegmentId> ids) const {
  return core::GetSegments(*state_, ids);
}
std::vector<ClientInfo> MetadataCore::GetClients(TimePoint now) const {
  return core::GetClients(*state_, now);
}
Result<std::vector<ClientAddresses>> MetadataCore::QueryAddresses(
    std::span<const ClientId> clients) const {
  return core::QueryAddresses(*state_, clients);
}
std::vector<std::string> MetadataCore::SegmentNames(
    std::span<const ReplicaDescriptor> replicas) const {
  return core::SegmentNames(*state_, replicas);
}
ClusterStatus MetadataCore::GetStatus() const { return core::GetStatus(*state_); }

Status MetadataCore::CheckQuota(const std::string& tenant, uint64_t bytes) const {
  return core::CheckQuota(*state_, tenant, bytes);
}
Result<TenantQuota> MetadataCore::SetQuota(const std::string& tenant, uint64_t bytes) {
  return core::SetQuota(*state_, tenant, bytes);
}
Status MetadataCore::SetQuotas(const std::map<std::string, uint64_t>& quotas) {
  return core::SetQuotas(*state_, quotas);
}
Result<TenantQuota> MetadataCore::CloseQuota(const std::string& tenant) {
  return core::CloseQuota(*state_, tenant);
}
void MetadataCore::ReopenQuota(const std::string& tenant) { core::ReopenQuota(*state_, tenant); }
void MetadataCore::DropQuota(const std::string& tenant) { core::DropQuota(*state_, tenant); }
Result<TenantQuota> MetadataCore::GetQuota(const std::string& tenant) const {
  return core::GetQuota(*state_, tenant);
}
Result<QuotaList> MetadataCore::ListQuotas(const std::string& start_after, uint32_t limit) const {
  return core::ListQuotas(*state_, start_after, limit);
}

TickResult MetadataCore::Tick(TimePoint now, uint32_t budget) {
  return core::Tick(*state_, now, budget);
}
uint64_t MetadataCore::Evict(TimePoint now, uint64_t bytes, uint32_t limit) {
  return core::Evict(*state_, {bytes, limit, kNoSlot}, now).bytes;
}
std::vector<LogRecord> MetadataCore::TakeLog() { return state_->journal.Take(); }
void MetadataCore::LogDurable(uint64_t sequence) { core::LogDurable(*state_, sequence); }
uint64_t MetadataCore::AnswerAfter() {
  const uint64_t sequence = std::exchange(state_->answer_after, 0);
  return sequence > state_->journal.durable() ? sequence : 0;
}
uint64_t MetadataCore::SpaceFreeAfter() const {
  const auto& held = state_->journal.held();
  return held.empty() ? 0 : held.back().sequence;
}
SnapshotWalk MetadataCore::StartSnapshot() const { return core::StartSnapshot(*state_); }
bool MetadataCore::Step(TimePoint now, SnapshotWalk& walk, uint32_t max_keys) {
  StepWalk(*state_, now, walk, max_keys);
  return walk.position.done;
}
RestoreReport MetadataCore::Restore(TimePoint now, const Restorer& restorer,
                                    const RestoreArgs& args) {
  return core::Restore(*state_, now, restorer, args);
}

Counters MetadataCore::GetCounters() const { return core::GetCounters(*state_); }
std::optional<std::string> MetadataCore::CheckInvariants(TimePoint now) const {
  return core::CheckInvariants(*state_, now);
}

}  // namespace mooncake::core

#include "master/server/master_service.h"

#include <algorithm>
#include <random>

#include "master/server/version.h"

namespace mooncake {
namespace {

// 2024-01-01T00:00:00Z, and the bits that a put id has room for.
constexpr int64_t kTermOriginSeconds = 1704067200;
constexpr uint64_t kTermMask = (uint64_t{1} << 30) - 1;

// Between two looks when nothing is known to be due: new writes and leases may fall due before what Tick said last.
constexpr Duration kTickInterval = Millis(50);
constexpr uint32_t kTickBudget = 256;

int64_t WallMs(const Clock& clock) { return clock.WallNow().ns / 1'000'000; }

uint64_t RandomSeed() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

template <typename Out>
bool Failed(const Out& out) {
  return !out.ok();
}

// The calls that tell an eviction policy of a use, and what they name.
bool IsUse(MasterCall call) {
  return call == MasterCall::kGetReplicaList || call == MasterCall::kExistKey ||
         call == MasterCall::kPutEnd;
}
const ObjectName& NameOf(const ObjectName& name) { return name; }
template <typename Args>
const ObjectName& NameOf(const Args& args) {
  return args.name;
}

}  // namespace

Term TermNow(const Clock& clock) {
  const int64_t seconds = clock.WallNow().ns / 1'000'000'000 - kTermOriginSeconds;
  return Term{
      std::max<uint64_t>(1, static_cast<uint64_t>(std::max<int64_t>(0, seconds)) & kTermMask)};
}

MasterService::MasterService(const MasterServiceOptions& options, const Clock& clock, Term term,
                             uint64_t seed, std::unique_ptr<StateStore> store,
                             std::unique_ptr<QuotaPolicyStore> policies)
    : options_(options),
      clock_(clock),
      term_(term),
      started_(clock.Now()),
      core_(options.core, term, seed),
      policy_store_(std::move(policies)),
      store_(std::move(store)) {}

Result<std::unique_ptr<MasterService>> MasterService::Create(
    const MasterServiceOptions& options, const Clock& clock, std::unique_ptr<StateStore> store,
    std::unique_ptr<QuotaPolicyStore> policies) {
  RETURN_IF_ERROR(options.core.Validate());
  if ((store != nullptr) != (options.core.durability != core::Durability::kNone))
    return {ErrorCode::kInvalidParams, "durability and a state store go together"};
  if ((policies != nullptr) != options.core.multi_tenants)
    return {ErrorCode::kInvalidParams, "multi_tenants and a store of policies go together"};
  Term term = options.term ? *options.term : TermNow(clock);
  const TimePoint begun = clock.Now();
  std::optional<Recovered> recovered;
  if (store != nullptr) {
    ASSIGN_OR_RETURN(recovered, Recover(*store));
    term = std::max(term, Term{recovered->last_term.value + 1});
  }
  const uint64_t seed = options.seed ? *options.seed : RandomSeed();
  std::unique_ptr<MasterService> service(
      new MasterService(options, clock, term, seed, std::move(store), std::move(policies)));
  if (recovered.has_value()) {
    service->Restore(*recovered, begun);
    service->StartDurability(recovered->last_sequence);
  }
  RETURN_IF_ERROR(service->LoadQuotas());
  if (options.background) {
    // What was recovered is freed in there: a million records take a while, and nobody has to wait for that.
    service->background_ =
        std::thread([raw = service.get(), spent = std::move(recovered)]() mutable {
          spent.reset();
          raw->BackgroundLoop();
        });
  }
  return service;
}

MasterService::~MasterService() {
  BeginShutdown();
  if (background_.joinable()) background_.join();
  snapshotter_.reset();
  log_.reset();
}

bool MasterService::Tick() {
  SliceLock lock(mutex_);
  const bool more = core_.Tick(clock_.Now(), kTickBudget).more;
  Publish();
  return more;
}

void MasterService::BackgroundLoop() {
  while (!stopping_.load()) {
    if (Tick()) continue;
    MutexLock lock(wake_mutex_);
    if (!stopping_.load()) wake_.WaitFor(wake_mutex_, kTickInterval);
  }
}

core::Counters MasterService::core_counters() const {
  FairLock lock(mutex_);
  return core_.GetCounters();
}

Status MasterService::CheckBatch(MasterCall call, size_t entries) const {
  if (entries <= kMaxBatch) return CheckLog(call);
  return {ErrorCode::kInvalidParams, std::to_string(entries) +
                                         " entries in one request; the limit is " +
                                         std::to_string(kMaxBatch)};
}

// Runs `work(now, entry)` for each entry, `per_lock` of them under one hold of the lock.
template <typename Out, typename Args, typename Work>
std::vector<Out> MasterService::Batch(MasterCall call, std::span<const Args> args,
                                      uint32_t per_lock, TimePoint deadline, Work&& work) {
  std::vector<Out> out;
  out.reserve(args.size());
  if (const Status refusal = CheckBatch(call, args.size()); !refusal.ok())
    out.assign(args.size(), Out(refusal));
  std::vector<std::pair<size_t, uint64_t>> waits;  // for the log
  uint8_t place = core::kEndOfChain;
  while (out.size() < args.size()) {
    const size_t end = std::min<size_t>(args.size(), out.size() + per_lock);
    // The first hold is short work like any other; later ones let those in who came meanwhile.
    const auto slice = [&]() MC_REQUIRES(mutex_) {
      const TimePoint now = clock_.Now();
      const bool chain = IsUse(call) && core_.WantsChains();
      const auto name_at = [&](size_t i) -> const ObjectName& { return NameOf(args[i]); };
      if (chain && out.empty() && args.size() > 1) place = core_.PlaceInChain(args.size(), name_at);
      while (out.size() < end) {
        const bool last = out.size() + 1 == args.size();
        if (chain) core_.SetPlace(last ? core::kEndOfChain : place, args.size());
        out.push_back(work(now, args[out.size()]));
        if (const uint64_t sequence = core_.AnswerAfter(); sequence > 0)
          waits.push_back({out.size() - 1, sequence});
      }
      Publish();
    };
    if (out.empty()) {
      FairLock lock(mutex_);
      slice();
    } else {
      SliceLock lock(mutex_);
      slice();
    }
  }
  for (const auto& [index, sequence] : waits) {
    if (const Status status = AwaitLog(sequence, deadline); !status.ok()) out[index] = status;
  }
  counters_.of(call).Count(
      out.size(), static_cast<uint64_t>(std::count_if(out.begin(), out.end(), Failed<Out>)));
  return out;
}

// `work(now)` under the lock, counted.
template <typename Work>
auto MasterService::Single(MasterCall call, TimePoint deadline, Work&& work) {
  using Out = decltype(work(TimePoint{}));
  uint64_t sequence = 0;
  Out out = [&]() -> Out {
    if (const Status refusal = CheckLog(call); !refusal.ok()) return refusal;
    FairLock lock(mutex_);
    Out result = work(clock_.Now());
    sequence = core_.AnswerAfter();
    Publish();
    return result;
  }();
  if (const Status status = AwaitLog(sequence, deadline); !status.ok()) out = status;
  counters_.of(call).Count(1, out.ok() ? 0 : 1);
  return out;
}

Result<PingReply> MasterService::Ping(const ClientId& client, const std::string& address,
                                      TimePoint deadline) {
  return Single(MasterCall::kPing, deadline, [&](TimePoint now) MC_REQUIRES(mutex_) {
    return core_.Ping(now, client, address);
  });
}

std::vector<Result<PutStartReply>> MasterService::StartPuts(std::span<const PutStartArgs> args,
                                                            TimePoint deadline) {
  // Where the first entry that wants company went; the others of the batch try there first.
  std::vector<std::string> together;
  return Batch<Result<PutStartReply>>(
      MasterCall::kPutStart, args, options_.puts_per_lock, deadline,
      [&](TimePoint now, const PutStartArgs& entry) MC_REQUIRES(mutex_) {
        const auto start = [&](const PutStartArgs& what) MC_REQUIRES(mutex_) {
          auto reply = core_.PutStart(now, what);
          if (reply.ok()) counters_.CountValue(what.size);
          return reply;
        };
        if (!entry.config.prefer_same_node) return start(entry);
        if (together.empty()) {
          auto reply = start(entry);
          if (reply.ok()) together = core_.SegmentNames(reply->replicas);
          return reply;
        }
        PutStartArgs beside = entry;
        auto& preferred = beside.config.preferred_segments;
        preferred.insert(preferred.begin(), together.begin(), together.end());
        return start(beside);
      });
}

std::vector<Status> MasterService::BatchPutEnd(std::span<const PutEndArgs> args,
                                               TimePoint deadline) {
  const int64_t wall_ms = WallMs(clock_);
  return Batch<Status>(MasterCall::kPutEnd, args, options_.keys_per_lock, deadline,
                       [&](TimePoint now, const PutEndArgs& entry)
                           MC_REQUIRES(mutex_) { return core_.PutEnd(now, wall_ms, entry); });
}

std::vector<Status> MasterService::BatchPutRevoke(std::span<const PutRevokeArgs> args,
                                                  TimePoint deadline) {
  return Batch<Status>(MasterCall::kPutRevoke, args, options_.keys_per_lock, deadline,
                       [&](TimePoint now, const PutRevokeArgs& entry)
                           MC_REQUIRES(mutex_) { return core_.PutRevoke(now, entry); });
}

std::vector<Result<ReplicaList>> MasterService::BatchGetReplicaList(
    std::span<const ObjectName> names, TimePoint deadline) {
  return Batch<Result<ReplicaList>>(
      MasterCall::kGetReplicaList, names, options_.keys_per_lock, deadline,
      [&](TimePoint now, const ObjectName& name) MC_REQUIRES(mutex_) {
        auto list = core_.GetReplicaList(now, name);
        if (list.ok()) {
          counters_.hit_bytes.fetch_add(list->size, std::memory_order_relaxed);
        }
        return list;
      });
}

std::vector<Result<Duration>> MasterService::BatchRenewLease(std::span<const LeaseRef> leases,
                                                             TimePoint deadline) {
  return Batch<Result<Duration>>(MasterCall::kRenewLease, leases, options_.keys_per_lock, deadline,
                                 [&](TimePoint now, const LeaseRef& lease)
                                     MC_REQUIRES(mutex_) { return core_.RenewLease(now, lease); });
}

std::vector<Result<bool>> MasterService::BatchExistKey(std::span<const ObjectName> names,
                                                       bool grant_lease, TimePoint deadline) {
  return Batch<Result<bool>>(MasterCall::kExistKey, names, options_.keys_per_lock, deadline,
                             [&](TimePoint now, const ObjectName& name) MC_REQUIRES(mutex_) {
                               return core_.ExistKey(now, name, grant_lease);
                             });
}

std::vector<Result<ObjectStat>> MasterService::BatchStat(std::span<const ObjectName> names,
                                                         TimePoint deadline) {
  return Batch<Result<ObjectStat>>(MasterCall::kStat, names, options_.keys_per_lock, deadline,
                                   [&](TimePoint now, const ObjectName& name)
                                       MC_REQUIRES(mutex_) { return core_.Stat(now, name); });
}

std::vector<Status> MasterService::BatchRemove(std::span<const ObjectName> names, bool force,
                                               TimePoint deadline) {
  return Batch<Status>(MasterCall::kRemove, names, options_.keys_per_lock, deadline,
                       [&](TimePoint now, const ObjectName& name)
                           MC_REQUIRES(mutex_) { return core_.Remove(now, name, force); });
}

std::vector<Status> MasterService::BatchReplicaClear(std::span<const ObjectName> names,
                                                     const std::string& segment,
                                                     TimePoint deadline) {
  return Batch<Status>(MasterCall::kReplicaClear, names, options_.keys_per_lock, deadline,
                       [&](TimePoint now, const ObjectName& name)
                           MC_REQUIRES(mutex_) { return core_.ClearReplicas(now, name, segment); });
}

Status MasterService::Rename(const ObjectName& from, const ObjectName& to, bool no_replace,
                             TimePoint deadline) {
  return Single(MasterCall::kRename, deadline, [&](TimePoint now) MC_REQUIRES(mutex_) {
    return core_.Rename(now, from, to, no_replace);
  });
}

Status MasterService::SetAttributes(const ObjectName& name, PutId version,
                                    const ObjectAttributes& attributes, TimePoint deadline) {
  return Single(MasterCall::kSetAttributes, deadline, [&](TimePoint now) MC_REQUIRES(mutex_) {
    return core_.SetAttributes(now, name, version, attributes);
  });
}

std::vector<Status> MasterService::BatchSetPin(std::span<const SetPinArgs> args,
                                               TimePoint deadline) {
  return Batch<Status>(MasterCall::kSetPin, args, options_.keys_per_lock, deadline,
                       [&](TimePoint now, const SetPinArgs& entry)
                           MC_REQUIRES(mutex_) { return core_.SetPin(now, entry); });
}

Status MasterService::MountSegment(const ClientId& client, const SegmentDescriptor& segment,
                                   TimePoint deadline) {
  return Single(MasterCall::kMountSegment, deadline, [&](TimePoint now) MC_REQUIRES(mutex_) {
    return core_.MountSegment(now, client, segment);
  });
}

Status MasterService::ReMountSegments(const ClientId& client,
                                      std::span<const SegmentDescriptor> segments,
                                      uint64_t seen_log_position, TimePoint deadline) {
  return Single(MasterCall::kReMountSegment, deadline, [&](TimePoint now) MC_REQUIRES(mutex_) {
    return core_.ReMountSegments(now, client, segments, seen_log_position);
  });
}

Status MasterService::UnmountSegment(const ClientId& client, const SegmentId& id,
                                     TimePoint deadline) {
  return Single(MasterCall::kUnmountSegment, deadline, [&](TimePoint now) MC_REQUIRES(mutex_) {
    return core_.UnmountSegment(now, client, id);
  });
}

Status MasterService::GracefulUnmountSegment(const ClientId& client, const SegmentId& id,
                                             Duration grace, TimePoint deadline) {
  return Single(MasterCall::kGracefulUnmountSegment, deadline,
                [&](TimePoint now) MC_REQUIRES(mutex_) {
                  return core_.GracefulUnmountSegment(now, client, id, grace);
                });
}

Status MasterService::ReportReplicaFailure(const ClientId& client,
                                           std::span<const SegmentId> segments,
                                           TimePoint deadline) {
  return Single(MasterCall::kReportReplicaFailure, deadline,
                [&](TimePoint now) MC_REQUIRES(mutex_) {
                  return core_.ReportReplicaFailure(now, client, segments);
                });
}

Result<std::vector<SegmentInfo>> MasterService::GetSegments(std::span<const SegmentId> ids,
                                                            TimePoint deadline) {
  return Single(MasterCall::kGetSegments, deadline, [&](TimePoint) MC_REQUIRES(mutex_) {
    return Result<std::vector<SegmentInfo>>(core_.GetSegments(ids));
  });
}

Result<std::vector<ClientInfo>> MasterService::GetClients(TimePoint deadline) {
  return Single(MasterCall::kGetClients, deadline, [&](TimePoint now) MC_REQUIRES(mutex_) {
    return Result<std::vector<ClientInfo>>(core_.GetClients(now));
  });
}

Result<std::vector<ClientAddresses>> MasterService::BatchQueryIp(std::span<const ClientId> clients,
                                                                 TimePoint deadline) {
  return Single(MasterCall::kQueryIp, deadline,
                [&](TimePoint) MC_REQUIRES(mutex_) { return core_.QueryAddresses(clients); });
}

Result<ClusterStatus> MasterService::GetStatus(TimePoint deadline) {
  return Single(MasterCall::kGetStatus, deadline, [&](TimePoint now) MC_REQUIRES(mutex_) {
    ClusterStatus status = core_.GetStatus();
    status.version = Version();
    status.uptime = now - started_;
    return Result<ClusterStatus>(std::move(status));
  });
}

}  // namespace mooncake

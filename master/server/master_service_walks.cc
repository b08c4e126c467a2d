// The operations of the master that visit many keys: in steps, with the lock free between two of them.
#include <algorithm>
#include <string>
#include <utility>

#include "master/server/master_service.h"

namespace mooncake {

// Makes a walk, under the lock.
template <typename Make>
auto MasterService::Start(Make&& make) {
  FairLock lock(mutex_);
  auto walk = make();
  core_.AnswerAfter();  // its steps ask for themselves
  Publish();
  return walk;
}

template <typename Walk>
bool MasterService::Step(Walk& walk, uint64_t& answer_after) {
  SliceLock lock(mutex_);
  const bool done = core_.Step(clock_.Now(), walk, options_.keys_per_step);
  answer_after = std::max(answer_after, core_.AnswerAfter());
  Publish();
  return done;
}

// Steps a walk to its end, with the lock free between two steps.
template <typename Walk, typename Progress>
Status MasterService::StepToEnd(Walk& walk, TimePoint deadline, Progress&& progress) {
  uint64_t answer_after = 0;
  while (!Step(walk, answer_after)) {
    if (stopping_.load()) {
      return Status(ErrorCode::kUnavailableInCurrentStatus,
                    "the master is stopping; " + progress());
    }
    if (clock_.Now() >= deadline)
      return Status(ErrorCode::kRpcTimeout, "the deadline has passed; " + progress());
  }
  return AwaitLog(answer_after, deadline);
}

Result<RemoveByRegexReply> MasterService::RemoveByRegex(const RemoveByRegexArgs& args,
                                                        TimePoint deadline) {
  auto result = [&]() -> Result<RemoveByRegexReply> {
    RETURN_IF_ERROR(CheckLog(MasterCall::kRemoveByRegex));
    ASSIGN_OR_RETURN(auto walk,
                     Start([&]() MC_REQUIRES(mutex_) { return core_.StartRemoveByRegex(args); }));
    RETURN_IF_ERROR(StepToEnd(walk, deadline, [&] {
      return std::to_string(walk.reply.removed) + " objects were removed so far, " +
             std::to_string(walk.reply.matched) + " matched";
    }));
    return std::move(walk.reply);
  }();
  counters_.of(MasterCall::kRemoveByRegex).Count(1, result.ok() ? 0 : 1);
  return result;
}

Result<uint64_t> MasterService::RemoveAll(const std::string& tenant, bool force,
                                          TimePoint deadline) {
  auto result = [&]() -> Result<uint64_t> {
    RETURN_IF_ERROR(CheckLog(MasterCall::kRemoveAll));
    ASSIGN_OR_RETURN(auto walk, Start([&]() MC_REQUIRES(mutex_) {
                       return core_.StartRemoveAll(tenant, force);
                     }));
    RETURN_IF_ERROR(StepToEnd(walk, deadline, [&] {
      return std::to_string(walk.removed) + " objects were removed so far";
    }));
    return walk.removed;
  }();
  counters_.of(MasterCall::kRemoveAll).Count(1, result.ok() ? 0 : 1);
  return result;
}

Result<std::vector<std::pair<std::string, ReplicaList>>> MasterService::GetReplicaListByRegex(
    const std::string& tenant, const std::string& pattern, uint32_t limit, TimePoint deadline) {
  using Found = std::vector<std::pair<std::string, ReplicaList>>;
  auto result = [&]() -> Result<Found> {
    ASSIGN_OR_RETURN(auto walk, Start([&]() MC_REQUIRES(mutex_) {
                       return core_.StartGetReplicaListByRegex(tenant, pattern, limit);
                     }));
    RETURN_IF_ERROR(StepToEnd(
        walk, deadline, [&] { return std::to_string(walk.found.size()) + " were found so far"; }));
    return std::move(walk.found);
  }();
  counters_.of(MasterCall::kGetReplicaListByRegex).Count(1, result.ok() ? 0 : 1);
  return result;
}

Result<ListReply> MasterService::ListObjects(const ListArgs& args, TimePoint deadline) {
  auto result = [&]() -> Result<ListReply> {
    ASSIGN_OR_RETURN(auto walk,
                     Start([&]() MC_REQUIRES(mutex_) { return core_.StartListObjects(args); }));
    RETURN_IF_ERROR(StepToEnd(walk, deadline, [&] {
      return std::to_string(walk.reply.entries.size()) + " entries so far";
    }));
    return std::move(walk.reply);
  }();
  counters_.of(MasterCall::kListObjects).Count(1, result.ok() ? 0 : 1);
  return result;
}

Result<uint64_t> MasterService::RenamePrefix(const std::string& tenant,
                                             const std::string& from_prefix,
                                             const std::string& to_prefix, TimePoint) {
  auto result = [&]() -> Result<uint64_t> {
    RETURN_IF_ERROR(CheckLog(MasterCall::kRenamePrefix));
    ASSIGN_OR_RETURN(auto walk, Start([&]() MC_REQUIRES(mutex_) {
                       return core_.StartRenamePrefix(clock_.Now(), tenant, from_prefix, to_prefix);
                     }));
    // The names have changed; what is left to do is not the caller's, so its deadline does not end it half way.
    RETURN_IF_ERROR(StepToEnd(walk, kNever, [] { return std::string("the rename is done"); }));
    return walk.moved;
  }();
  counters_.of(MasterCall::kRenamePrefix).Count(1, result.ok() ? 0 : 1);
  return result;
}

}  // namespace mooncake

// Calls that concern names and metadata only.
#include <algorithm>

#include "client/arguments.h"
#include "client/store_client_impl.h"
#include "transfer/base/check.h"

namespace mooncake::internal {
namespace {

// A batch for the master in windows that one request may hold; keys that break a rule get their error here and are left out.
// `check(key)` gives that error, `call(names)` one result per name.
template <typename Entry, typename Check, typename Call>
std::vector<Entry> InWindows(const ClientContext& context, std::span<const std::string> keys,
                             Check check, Call call) {
  constexpr size_t kWindow = 4096;
  static_assert(kWindow <= kMaxBatch);
  std::vector<Entry> results(keys.size(), Entry(Status(ErrorCode::kInternal, "not asked")));
  std::vector<ObjectName> names;
  std::vector<size_t> places;
  const auto flush = [&] {
    if (names.empty()) return;
    std::vector<Entry> part = call(names);
    MC_CHECK(part.size() == names.size());
    for (size_t i = 0; i < part.size(); ++i) results[places[i]] = std::move(part[i]);
    names.clear();
    places.clear();
  };
  for (size_t i = 0; i < keys.size(); ++i) {
    const Status status = check(keys[i]);
    if (!status.ok()) {
      results[i] = status;
      continue;
    }
    names.push_back(context.NameOf(keys[i]));
    places.push_back(i);
    if (names.size() == kWindow) flush();
  }
  flush();
  return results;
}

}  // namespace

StoreClient::~StoreClient() {
  if (context_->InForkedChild()) {
    ReleaseContext(context_);
  } else {
    context_->leases->Stop();
  }
}

Status StoreClient::CheckCall(Duration timeout) const {
  RETURN_IF_ERROR(context_->CheckProcess());
  return CheckTimeout(timeout);
}

Status StoreClient::CheckCall(std::string_view key, Duration timeout) const {
  RETURN_IF_ERROR(CheckCall(timeout));
  return CheckKey(key);
}

PutOptions StoreClient::Completed(const PutOptions& options) const {
  PutOptions completed = options;
  if (completed.config.host_id.empty()) completed.config.host_id = context_->options.host_id;
  return completed;
}

Result<bool> StoreClient::ExistKey(std::string_view key, bool grant_lease, Duration timeout) {
  const std::string keys[] = {std::string(key)};
  return std::move(BatchExist(keys, grant_lease, timeout)[0]);
}

std::vector<Result<bool>> StoreClient::BatchExist(std::span<const std::string> keys,
                                                  bool grant_lease, Duration timeout) {
  const TimePoint deadline = context_->DeadlineOf(timeout);
  return InWindows<Result<bool>>(
      *context_, keys, [&](const std::string& key) { return CheckCall(key, timeout); },
      [&](std::span<const ObjectName> names) {
        return context_->master->BatchExistKey(names, grant_lease, deadline);
      });
}

Result<ObjectStat> StoreClient::Stat(std::string_view key, Duration timeout) {
  const std::string keys[] = {std::string(key)};
  return std::move(BatchStat(keys, timeout)[0]);
}

std::vector<Result<ObjectStat>> StoreClient::BatchStat(std::span<const std::string> keys,
                                                       Duration timeout) {
  const TimePoint deadline = context_->DeadlineOf(timeout);
  return InWindows<Result<ObjectStat>>(
      *context_, keys, [&](const std::string& key) { return CheckCall(key, timeout); },
      [&](std::span<const ObjectName> names) {
        return context_->master->BatchStat(names, deadline);
      });
}

Status StoreClient::SetAttributes(std::string_view key, PutId version,
                                  const ObjectAttributes& attributes, Duration timeout) {
  RETURN_IF_ERROR(CheckCall(key, timeout));
  return context_->master->SetAttributes(context_->NameOf(key), version, attributes,
                                         context_->DeadlineOf(timeout));
}

Status StoreClient::Remove(std::string_view key, bool force, Duration timeout) {
  const std::string keys[] = {std::string(key)};
  return BatchRemove(keys, force, timeout)[0];
}

std::vector<Status> StoreClient::BatchRemove(std::span<const std::string> keys, bool force,
                                             Duration timeout) {
  const TimePoint deadline = context_->DeadlineOf(timeout);
  return InWindows<Status>(
      *context_, keys, [&](const std::string& key) { return CheckCall(key, timeout); },
      [&](std::span<const ObjectName> names) {
        return context_->master->BatchRemove(names, force, deadline);
      });
}

Result<RemoveByRegexReply> StoreClient::RemoveByRegex(const RemoveByRegexArgs& args,
                                                      Duration timeout) {
  RETURN_IF_ERROR(CheckCall(timeout));
  RETURN_IF_ERROR(CheckPattern(args.pattern));
  RemoveByRegexArgs own = args;
  own.tenant = context_->options.tenant;
  return context_->master->RemoveByRegex(own, context_->DeadlineOf(timeout));
}

Result<ListReply> StoreClient::List(const ListArgs& args, Duration timeout) {
  RETURN_IF_ERROR(CheckCall(timeout));
  RETURN_IF_ERROR(CheckList(args));
  ListArgs own = args;
  own.tenant = context_->options.tenant;
  return context_->master->ListObjects(own, context_->DeadlineOf(timeout));
}

Status StoreClient::Rename(std::string_view from, std::string_view to, bool no_replace,
                           Duration timeout) {
  RETURN_IF_ERROR(CheckCall(from, timeout));
  RETURN_IF_ERROR(CheckKey(to));
  return context_->master->Rename(context_->NameOf(from), context_->NameOf(to), no_replace,
                                  context_->DeadlineOf(timeout));
}

Result<uint64_t> StoreClient::RenamePrefix(std::string_view from_prefix, std::string_view to_prefix,
                                           Duration timeout) {
  RETURN_IF_ERROR(CheckCall(from_prefix, timeout));
  if (!to_prefix.empty()) RETURN_IF_ERROR(CheckKey(to_prefix));
  return context_->master->RenamePrefix(context_->options.tenant, std::string(from_prefix),
                                        std::string(to_prefix), context_->DeadlineOf(timeout));
}

Result<StoreSpace> StoreClient::Space(Duration timeout) {
  RETURN_IF_ERROR(CheckCall(timeout));
  const TimePoint deadline = context_->DeadlineOf(timeout);
  const auto quota = context_->master->GetQuota(context_->options.tenant, deadline);
  if (quota.ok())
    return StoreSpace{.total = quota->effective, .used = quota->charged, .objects = quota->objects};
  if (quota.code() == ErrorCode::kTenantNotRegistered) return StoreSpace{};
  if (quota.code() != ErrorCode::kUnavailableInCurrentMode) return quota.status();
  ASSIGN_OR_RETURN(const ClusterStatus status, context_->master->GetStatus(deadline));
  return StoreSpace{.total = status.capacity, .used = status.used, .objects = status.object_count};
}

}  // namespace mooncake::internal

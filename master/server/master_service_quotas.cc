// Quotas: what an operator asks for is kept first, then it counts. README.md, "Quotas".
#include <utility>

#include <glog/logging.h>

#include "master/server/master_service.h"

namespace mooncake {

Status MasterService::LoadQuotas() {
  if (policy_store_ == nullptr) return Status::Ok();
  MutexLock policies_lock(policies_mutex_);
  auto loaded = policy_store_->Load();
  if (!loaded.ok()) return Annotate(loaded.status(), "quotas of tenants");
  policies_ = std::move(loaded).value();
  FairLock lock(mutex_);
  const Status set = core_.SetQuotas(policies_);
  return set.ok() ? set : Annotate(set, policy_store_->Describe());
}

// `change(policies)` under the lock of the policies: nobody waits for somebody else's storage.
template <typename Change>
Result<TenantQuota> MasterService::ChangeQuotas(Change&& change) {
  if (!policies_mutex_.TryLock()) {
    return {ErrorCode::kUnavailableInCurrentStatus,
            "another change of quotas is being kept" +
                (policy_store_ == nullptr ? "" : " in " + policy_store_->Describe()) +
                "; try again"};
  }
  Result<TenantQuota> result = change(policies_);
  policies_mutex_.Unlock();
  return result;
}

Status MasterService::KeepQuotas(const QuotaPolicies& policies) {
  const Status saved = policy_store_->Save(policies);
  if (saved.ok()) return saved;
  LOG(ERROR) << "quotas not kept: " << saved.message();
  return {ErrorCode::kPersistentFail, saved.message() + "; nothing was changed"};
}

Result<TenantQuota> MasterService::SetQuota(const std::string& tenant, uint64_t bytes, TimePoint) {
  const auto set = [&](QuotaPolicies& policies) -> Result<TenantQuota> {
    {
      FairLock lock(mutex_);
      RETURN_IF_ERROR(core_.CheckQuota(tenant, bytes));
    }
    QuotaPolicies next = policies;
    next[tenant] = bytes;
    RETURN_IF_ERROR(KeepQuotas(next));
    policies = std::move(next);
    FairLock lock(mutex_);
    return core_.SetQuota(tenant, bytes);
  };
  return Counted(MasterCall::kSetQuota, ChangeQuotas(set));
}

Result<TenantQuota> MasterService::DeleteQuota(const std::string& tenant, TimePoint) {
  const auto drop = [&](QuotaPolicies& policies) -> Result<TenantQuota> {
    TenantQuota last;
    {
      // From here on nothing new is written, so it stays empty.
      FairLock lock(mutex_);
      ASSIGN_OR_RETURN(last, core_.CloseQuota(tenant));
    }
    QuotaPolicies next = policies;
    next.erase(tenant);
    if (const Status kept = KeepQuotas(next); !kept.ok()) {
      FairLock lock(mutex_);
      core_.ReopenQuota(tenant);
      return kept;
    }
    policies = std::move(next);
    FairLock lock(mutex_);
    core_.DropQuota(tenant);
    return last;
  };
  return Counted(MasterCall::kDeleteQuota, ChangeQuotas(drop));
}

Result<TenantQuota> MasterService::GetQuota(const std::string& tenant, TimePoint) {
  const auto get = [&] {
    FairLock lock(mutex_);
    return core_.GetQuota(tenant);
  };
  return Counted(MasterCall::kGetQuota, get());
}

Result<QuotaList> MasterService::ListQuotas(const std::string& start_after, uint32_t limit,
                                            TimePoint) {
  const auto list = [&] {
    FairLock lock(mutex_);
    return core_.ListQuotas(start_after, limit);
  };
  return Counted(MasterCall::kListQuotas, list());
}

}  // namespace mooncake

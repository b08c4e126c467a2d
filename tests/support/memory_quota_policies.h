// Quota policies in memory, with faults.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "master/tenants/quota_policies.h"
#include "transfer/base/mutex.h"

namespace mooncake::testing {

// Where they are kept: outlives the stores that are opened on it. Thread-safe.
struct PolicyPlace {
  Mutex mutex;
  QuotaPolicies policies MC_GUARDED_BY(mutex);
  uint64_t version MC_GUARDED_BY(mutex) = 0;  // 0: nothing was ever saved, or it was erased
  uint64_t saves MC_GUARDED_BY(mutex) = 0;
  Status fault MC_GUARDED_BY(mutex);  // of all calls, until it is OK again
  // Set before the first call; runs within each Save, without the lock, which answers what it answers unless that is OK.
  std::function<Status()> during_save;

  QuotaPolicies Policies() {
    MutexLock lock(mutex);
    return policies;
  }
  void SetFault(Status value) {
    MutexLock lock(mutex);
    fault = std::move(value);
  }
  void Erase() {
    MutexLock lock(mutex);
    policies.clear();
    version = 0;
  }
};

class MemoryQuotaPolicyStore final : public QuotaPolicyStore {
 public:
  explicit MemoryQuotaPolicyStore(std::shared_ptr<PolicyPlace> place) : place_(std::move(place)) {}

  Result<QuotaPolicies> Load() override {
    MutexLock lock(place_->mutex);
    RETURN_IF_ERROR(place_->fault);
    seen_ = place_->version;
    return place_->policies;
  }
  Status Save(const QuotaPolicies& policies) override {
    RETURN_IF_ERROR(CheckQuotaPolicies(policies));
    if (place_->during_save) RETURN_IF_ERROR(place_->during_save());
    MutexLock lock(place_->mutex);
    RETURN_IF_ERROR(place_->fault);
    if (place_->version != 0 && place_->version != seen_)
      return {ErrorCode::kInvalidVersion, "memory was changed by someone else"};
    place_->policies = policies;
    seen_ = place_->version = ++place_->saves;
    return Status::Ok();
  }
  std::string Describe() const override { return "memory"; }

 private:
  const std::shared_ptr<PolicyPlace> place_;
  uint64_t seen_ = 0;
};

}  // namespace mooncake::testing

// Quotas kept in memory, in a disk that outlives the store, with faults on demand.
#pragma once

#include <functional>
#include <memory>

#include "master/tenants/quota_policies.h"

namespace mooncake::testing {

struct PolicyDisk {
  QuotaPolicies policies;
  Status load_fault;
  std::function<Status()> before_save = [] { return Status::Ok(); };
};

class MemoryQuotaPolicies final : public QuotaPolicyStore {
 public:
  explicit MemoryQuotaPolicies(std::shared_ptr<PolicyDisk> disk) : disk_(std::move(disk)) {}
  Result<QuotaPolicies> Load() override {
    if (!disk_->load_fault.ok()) return disk_->load_fault;
    return disk_->policies;
  }
  Status Save(const QuotaPolicies& policies) override {
    RETURN_IF_ERROR(disk_->before_save());
    disk_->policies = policies;
    return Status::Ok();
  }
  std::string Describe() const override { return "memory"; }

 private:
  const std::shared_ptr<PolicyDisk> disk_;
};

}  // namespace mooncake::testing

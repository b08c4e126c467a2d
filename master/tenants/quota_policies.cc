#include "master/tenants/quota_policies.h"

#include "master/api/types.h"
#include "master/tenants/policy_scalars.h"

namespace mooncake {

Status CheckQuotaPolicies(const QuotaPolicies& policies) {
  for (const auto& [name, quota] : policies) {
    if (name.empty()) return {ErrorCode::kInvalidParams, "a tenant's name is empty"};
    if (name.size() > kMaxTenantBytes) {
      return {ErrorCode::kInvalidParams, "the name " + Shown(name) + " has " +
                                             std::to_string(name.size()) + " bytes; at most " +
                                             std::to_string(kMaxTenantBytes) + " are allowed"};
    }
    if (quota == 0 || quota > kMaxQuotaBytes) {
      return {ErrorCode::kInvalidParams, "tenant " + Shown(name) + ": the quota is " +
                                             std::to_string(quota) + " bytes; 1 to " +
                                             std::to_string(kMaxQuotaBytes) + " are allowed"};
    }
  }
  return Status::Ok();
}

}  // namespace mooncake

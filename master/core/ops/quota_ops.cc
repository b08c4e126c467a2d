// Policies of tenants: who may write, and how much.
#include "master/core/checks.h"
#include "master/core/ops/ops.h"
#include "master/core/quota.h"

namespace mooncake::core {
namespace {

TenantQuota Describe(const Tenant& tenant) {
  TenantQuota quota;
  quota.tenant = tenant.name;
  quota.requested = tenant.books.requested;
  quota.effective = tenant.books.effective;
  quota.charged = tenant.books.charged;
  quota.objects = tenant.objects;
  quota.evicted_bytes = tenant.books.evicted_bytes;
  quota.rejected = tenant.books.rejected;
  quota.admission_closed = tenant.books.closed || tenant.books.requested == 0;
  return quota;
}

Status CheckMode(const State& state) {
  if (state.options.multi_tenants) return Status::Ok();
  return {ErrorCode::kUnavailableInCurrentMode,
          "this master keeps no quotas; start it with --enable_multi_tenants"};
}

// A tenant without a name is one that somebody forgot to give.
Status CheckQuotaTenant(const State& state, const std::string& tenant) {
  RETURN_IF_ERROR(CheckMode(state));
  if (tenant.empty()) return {ErrorCode::kInvalidParams, "no tenant is named"};
  return CheckTenant(tenant);
}

Status NoQuota(const std::string& tenant) {
  return {ErrorCode::kTenantNotRegistered, "tenant " + Quote(tenant) + " has no quota"};
}

Status CheckBytes(const std::string& tenant, uint64_t bytes) {
  if (bytes > 0 && bytes <= kMaxQuotaBytes) return Status::Ok();
  return {ErrorCode::kInvalidParams, "a quota of " + std::to_string(bytes) + " bytes for tenant " +
                                         Quote(tenant) + ", it must be 1 to " +
                                         std::to_string(kMaxQuotaBytes)};
}

}  // namespace

Status CheckQuota(const State& state, const std::string& tenant, uint64_t bytes) {
  RETURN_IF_ERROR(CheckQuotaTenant(state, tenant));
  RETURN_IF_ERROR(CheckBytes(tenant, bytes));
  const Tenant* known = state.table.FindTenant(tenant);
  if (state.quota_count < kMaxQuotas || (known != nullptr && known->books.requested > 0))
    return Status::Ok();
  return {ErrorCode::kInvalidParams,
          std::to_string(kMaxQuotas) + " tenants have a quota, no more are possible; delete some"};
}

static void Request(State& state, Tenant& tenant, uint64_t bytes) {
  state.quota_count += tenant.books.requested == 0;
  tenant.books.requested = bytes;
  tenant.books.closed = false;
}

Result<TenantQuota> SetQuota(State& state, const std::string& tenant, uint64_t bytes) {
  RETURN_IF_ERROR(CheckQuota(state, tenant, bytes));
  Tenant& known = state.table.FindOrAddTenant(tenant);
  Request(state, known, bytes);
  ShareCapacity(state);
  return Describe(known);
}

Status SetQuotas(State& state, const std::map<std::string, uint64_t>& quotas) {
  Status status;
  for (const auto& [tenant, bytes] : quotas) {
    status = CheckQuota(state, tenant, bytes);
    if (!status.ok()) break;
    Request(state, state.table.FindOrAddTenant(tenant), bytes);
  }
  ShareCapacity(state);
  return status;
}

Result<TenantQuota> CloseQuota(State& state, const std::string& tenant) {
  RETURN_IF_ERROR(CheckQuotaTenant(state, tenant));
  Tenant* known = state.table.FindTenant(tenant);
  if (known == nullptr || known->books.requested == 0) return NoQuota(tenant);
  if (known->objects > 0 || known->books.nameless > 0) {
    return Status(
        ErrorCode::kTenantNotEmpty,
        "tenant " + Quote(tenant) + " has " + std::to_string(known->objects) + " objects and " +
            std::to_string(known->books.charged) +
            " bytes; remove them first (what was just read is held until its leases end)");
  }
  known->books.closed = true;
  return Describe(*known);
}

void ReopenQuota(State& state, const std::string& tenant) {
  if (Tenant* known = state.table.FindTenant(tenant)) known->books.closed = false;
}

void DropQuota(State& state, const std::string& tenant) {
  Tenant* known = state.table.FindTenant(tenant);
  if (known == nullptr || known->books.requested == 0) return;
  --state.quota_count;
  known->books.requested = 0;
  known->books.effective = 0;
  known->books.closed = false;
  state.table.ForgetIfUnused(known);
  ShareCapacity(state);
}

Result<TenantQuota> GetQuota(const State& state, const std::string& tenant) {
  RETURN_IF_ERROR(CheckQuotaTenant(state, tenant));
  const Tenant* known = state.table.FindTenant(tenant);
  if (known == nullptr) return NoQuota(tenant);
  return Describe(*known);
}

Result<QuotaList> ListQuotas(const State& state, const std::string& start_after, uint32_t limit) {
  RETURN_IF_ERROR(CheckMode(state));
  RETURN_IF_ERROR(CheckTenant(start_after));
  if (limit == 0 || limit > kMaxListLimit) {
    return {ErrorCode::kInvalidParams, "limit is " + std::to_string(limit) + ", it must be 1 to " +
                                           std::to_string(kMaxListLimit)};
  }
  QuotaList list;
  const TenantMap& tenants = state.table.tenants();
  for (auto it = tenants.upper_bound(start_after); it != tenants.end(); ++it) {
    if (list.quotas.size() == limit) {
      list.truncated = true;
      break;
    }
    list.quotas.push_back(Describe(*it->second));
  }
  return list;
}

}  // namespace mooncake::core

// What is said about tenants' quotas. See wire.h.
#include "master/api/wire.h"
#include "master/api/wire_check.h"

namespace mooncake::wire {

thriftgen::TenantQuota Encode(const TenantQuota& quota) {
  thriftgen::TenantQuota out;
  out.tenant = quota.tenant;
  out.requested = static_cast<int64_t>(quota.requested);
  out.effective = static_cast<int64_t>(quota.effective);
  out.charged = static_cast<int64_t>(quota.charged);
  out.objects = static_cast<int64_t>(quota.objects);
  out.evicted_bytes = static_cast<int64_t>(quota.evicted_bytes);
  out.rejected = static_cast<int64_t>(quota.rejected);
  out.admission_closed = quota.admission_closed;
  return out;
}

Result<TenantQuota> Decode(thriftgen::TenantQuota&& in) {
  Checker check;
  TenantQuota out;
  check.Add(CheckTenant(in.tenant));
  out.tenant = std::move(in.tenant);
  out.requested = check.Unsigned("requested", in.requested, kMaxQuotaBytes);
  out.effective = check.Unsigned("effective", in.effective, kMaxQuotaBytes);
  out.charged = check.Unsigned("charged", in.charged, kMaxQuotaBytes);
  out.objects = check.Unsigned("objects", in.objects, kMaxQuotaBytes);
  out.evicted_bytes = check.Unsigned("evicted_bytes", in.evicted_bytes, kMaxQuotaBytes);
  out.rejected = check.Unsigned("rejected", in.rejected, kMaxQuotaBytes);
  out.admission_closed = in.admission_closed;
  RETURN_IF_ERROR(check.status());
  return out;
}

thriftgen::ListQuotasReply Encode(const QuotaList& list) {
  thriftgen::ListQuotasReply out;
  out.quotas = EncodeAll<thriftgen::TenantQuota>(std::span<const TenantQuota>(list.quotas));
  out.truncated = list.truncated;
  return out;
}

Result<QuotaList> Decode(thriftgen::ListQuotasReply&& in) {
  QuotaList out;
  RETURN_IF_ERROR(CheckCount("quotas", in.quotas.size(), kMaxListLimit));
  for (thriftgen::TenantQuota& quota : in.quotas) {
    ASSIGN_OR_RETURN(TenantQuota decoded, Decode(std::move(quota)));
    out.quotas.push_back(std::move(decoded));
  }
  out.truncated = in.truncated;
  // Who asks for what follows must get on.
  if (out.truncated && out.quotas.empty())
    return {ErrorCode::kInvalidParams, "a list that goes on but has no entry"};
  return out;
}

}  // namespace mooncake::wire

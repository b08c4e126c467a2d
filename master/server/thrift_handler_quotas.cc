// The calls about tenants' quotas; see thrift_handler.h.
#include <utility>

#include "master/api/wire.h"
#include "master/server/thrift_handler.h"

namespace mooncake {

void ThriftHandler::GetQuota(thriftgen::QuotaReply& reply, const thriftgen::QuotaRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    RETURN_IF_ERROR(wire::CheckTenant(request.tenant));
    ASSIGN_OR_RETURN(const TenantQuota quota, master_.GetQuota(request.tenant, deadline));
    reply.__set_value(wire::Encode(quota));
    return Status::Ok();
  });
}

void ThriftHandler::SetQuota(thriftgen::QuotaReply& reply,
                             const thriftgen::SetQuotaRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    RETURN_IF_ERROR(wire::CheckTenant(request.tenant));
    ASSIGN_OR_RETURN(
        const TenantQuota quota,
        master_.SetQuota(request.tenant, static_cast<uint64_t>(request.requested), deadline));
    reply.__set_value(wire::Encode(quota));
    return Status::Ok();
  });
}

void ThriftHandler::DeleteQuota(thriftgen::QuotaReply& reply,
                                const thriftgen::QuotaRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    RETURN_IF_ERROR(wire::CheckTenant(request.tenant));
    ASSIGN_OR_RETURN(const TenantQuota quota, master_.DeleteQuota(request.tenant, deadline));
    reply.__set_value(wire::Encode(quota));
    return Status::Ok();
  });
}

void ThriftHandler::ListQuotas(thriftgen::ListQuotasReply& reply,
                               const thriftgen::ListQuotasRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    RETURN_IF_ERROR(wire::CheckTenant(request.start_after));
    ASSIGN_OR_RETURN(const uint32_t limit,
                     wire::DecodeLimit("limit", request.limit, kMaxListLimit));
    ASSIGN_OR_RETURN(const QuotaList list,
                     master_.ListQuotas(request.start_after, limit, deadline));
    reply = wire::Encode(list);
    return Status::Ok();
  });
}

}  // namespace mooncake

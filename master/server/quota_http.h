// Quotas over HTTP, for scripts: GET, PUT and DELETE of /api/v1/tenant_quotas[?tenant_id=NAME]. README.md, "Quotas", has the bodies.
#pragma once

#include <string>
#include <string_view>

#include "master/api/master_api.h"

namespace mooncake {

inline constexpr std::string_view kQuotaPath = "/api/v1/tenant_quotas";
inline constexpr size_t kMaxQuotaBody = 4096;  // bytes of a request's body

struct QuotaAnswer {
  int status = 200;
  std::string body;  // JSON
};

// `query` as it stands behind the question mark. Any bytes in it and in the body get an answer.
QuotaAnswer AnswerQuotas(MasterApi& master, std::string_view method, std::string_view query,
                         std::string_view body);

}  // namespace mooncake

// Policies as YAML, the form of the file and of the value in etcd:
//
//   version: 1
//   tenants:
//     - name: research
//       quota: 10GB
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "master/tenants/quota_policies.h"

namespace mooncake {

// Enough for 100,000 tenants. The parser takes up to 250 bytes of memory for each byte of nothing but brackets.
inline constexpr size_t kMaxPolicyTextBytes = size_t{4} << 20;

// kInvalidParams: anything that is not wholly in this form; the message names the line, the tenant and the value at fault, and the
// cure. Time and memory are linear in the size, whatever the bytes.
Result<QuotaPolicies> ParsePolicyText(std::string_view text);

// Parses back to the same. kInvalidParams: no policies (CheckQuotaPolicies), or larger than kMaxPolicyTextBytes.
Result<std::string> WritePolicyText(const QuotaPolicies& policies);

}  // namespace mooncake

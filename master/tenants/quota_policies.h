// Where the quotas that operators gave to tenants are kept: a port. Conformance suite: tests/conformance.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "transfer/base/result.h"

namespace mooncake {

// Tenant to bytes that were asked for, 1 to kMaxQuotaBytes.
using QuotaPolicies = std::map<std::string, uint64_t>;

class QuotaPolicyStore {
 public:
  virtual ~QuotaPolicyStore() = default;
  virtual Result<QuotaPolicies> Load() = 0;
  // All of them, at once: afterwards Load answers these, or, after an error or a crash, these or the ones before.
  virtual Status Save(const QuotaPolicies& policies) = 0;
  // For messages: "file /etc/mooncake/quotas.yaml".
  virtual std::string Describe() const = 0;
};

}  // namespace mooncake

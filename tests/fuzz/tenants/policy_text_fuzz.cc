// Any bytes as policies: what is accepted is within the limits and comes back from its own text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "master/tenants/policy_text.h"
#include "transfer/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto policies =
      mooncake::ParsePolicyText(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!policies.ok()) {
    MC_CHECK(policies.code() == mooncake::ErrorCode::kInvalidParams && !policies.message().empty());
    return 0;
  }
  MC_CHECK(mooncake::CheckQuotaPolicies(*policies).ok());
  const auto text = mooncake::WritePolicyText(*policies);
  MC_CHECK(text.ok()) << text.message();
  const auto again = mooncake::ParsePolicyText(*text);
  MC_CHECK(again.ok() && *again == *policies) << *text;
  return 0;
}

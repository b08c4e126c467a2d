// Any bytes as a reply of etcd: none may break the reader, and what it takes for a value has a revision.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "transfer/base/check.h"
#include "transfer/coord/etcd_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using mooncake::ErrorCode;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const auto got = mooncake::etcd_json::ParseGetReply(body);
  if (got.ok()) {
    MC_CHECK(!*got || (*got)->mod_revision > 0);
  } else {
    MC_CHECK(got.code() == ErrorCode::kRpcFail);
  }
  const auto swapped = mooncake::etcd_json::ParseSwapReply(body, {"key", "value", 1});
  if (swapped.ok()) {
    MC_CHECK(!swapped->swapped || swapped->current);
    MC_CHECK(!swapped->current || swapped->current->mod_revision > 0);
  } else {
    MC_CHECK(swapped.code() == ErrorCode::kRpcFail);
  }
  MC_CHECK(!mooncake::etcd_json::ErrorOfReply(500, body).ok());
  return 0;
}

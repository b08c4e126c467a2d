// The requests and replies of etcd's v3 JSON gateway that we use. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "transfer/base/result.h"

namespace mooncake {

// Of a key: its value, and the cluster's revision when that was written.
struct EtcdValue {
  std::string value;
  int64_t mod_revision = 0;
  friend bool operator==(const EtcdValue&, const EtcdValue&) = default;
};

// "Give `key` this value if nobody has written it since `expected_revision`"; 0: if it does not exist.
struct EtcdSwap {
  std::string key;
  std::string value;
  int64_t expected_revision = 0;
};

struct EtcdSwapReply {
  bool swapped = false;
  std::optional<EtcdValue> current;  // what is there now, ours or another's
};

namespace etcd_json {

std::string GetRequest(std::string_view key);
std::string SwapRequest(const EtcdSwap& swap);

// kRpcFail: the reply is not one of etcd, whoever gave it.
Result<std::optional<EtcdValue>> ParseGetReply(std::string_view body);
Result<EtcdSwapReply> ParseSwapReply(std::string_view body, const EtcdSwap& swap);

// What a reply with another HTTP status than 200 means. kInvalidParams: etcd refuses the request itself, as too large for one; kPersistentFail:
// it may not or cannot carry it out (rights, space); kRpcFail: this member cannot now, or it is no etcd: another may.
Status ErrorOfReply(int http_status, std::string_view body);

}  // namespace etcd_json
}  // namespace mooncake

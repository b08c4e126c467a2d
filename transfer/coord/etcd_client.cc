#include "transfer/coord/etcd_client.h"

#include <algorithm>
#include <utility>

#include "transfer/base/units.h"

namespace mooncake {
namespace {

// Base64 and braces around the largest value that we would want of etcd.
constexpr size_t kMaxReplyBytes = size_t{8} << 20;

bool NextMayAnswer(ErrorCode code) {
  return code == ErrorCode::kRpcFail || code == ErrorCode::kRpcTimeout;
}

}  // namespace

Result<std::vector<std::string>> ParseEtcdEndpoints(std::string_view list) {
  constexpr size_t kMostEndpoints = 16;
  std::vector<std::string> endpoints;
  for (bool more = true; more;) {
    const size_t length = std::min(list.find_first_of(",;"), list.size());
    const std::string_view endpoint = list.substr(0, length);
    more = length < list.size();
    list.remove_prefix(more ? length + 1 : length);
    const bool https = endpoint.starts_with("https://");
    std::string_view address = endpoint;
    if (https || endpoint.starts_with("http://")) address.remove_prefix(https ? 8 : 7);
    if (address.ends_with('/')) address.remove_suffix(1);
    const auto parsed = ParseHostPort(address);
    if (!parsed.ok() || address.find_first_of("/@?# \\") != std::string_view::npos) {
      return Status(
          ErrorCode::kInvalidParams,
          "etcd endpoint '" + EscapeForDisplay(endpoint) +
              "' is none; write HOST:PORT or http(s)://HOST:PORT, with commas between several");
    }
    endpoints.push_back((https ? "https://" : "http://") + parsed->ToString());
  }
  if (endpoints.size() > kMostEndpoints) {
    return Status(ErrorCode::kInvalidParams, std::to_string(endpoints.size()) +
                                                 " etcd endpoints, at most " +
                                                 std::to_string(kMostEndpoints) + " are allowed");
  }
  return endpoints;
}

EtcdClient::EtcdClient(std::vector<std::string> endpoints, HttpPost post, const Clock& clock)
    : endpoints_(std::move(endpoints)), post_(std::move(post)), clock_(clock) {}

Status EtcdClient::Ask(const HttpRequest& request,
                       const std::function<Status(std::string_view)>& parse) const {
  ASSIGN_OR_RETURN(const HttpReply reply, post_(request));
  if (reply.status != 200) return etcd_json::ErrorOfReply(reply.status, reply.body);
  return parse(reply.body);
}

Result<size_t> EtcdClient::Call(const std::string& path, const std::string& body,
                                TimePoint deadline,
                                const std::function<Status(std::string_view)>& parse) {
  ErrorCode code = ErrorCode::kRpcFail;
  std::string failures;
  const size_t first = first_.load(std::memory_order_relaxed);
  for (size_t i = 0; i < endpoints_.size(); ++i) {
    const size_t at = (first + i) % endpoints_.size();
    const Duration left = deadline - clock_.Now();
    const Status status = left <= Duration::zero()
                              ? Status(ErrorCode::kRpcTimeout, "no time was left to ask it")
                              : Ask({.url = endpoints_[at] + path,
                                     .body = body,
                                     .timeout = left / static_cast<int64_t>(endpoints_.size() - i),
                                     .max_reply_bytes = kMaxReplyBytes},
                                    parse);
    if (!NextMayAnswer(status.code())) {
      first_.store(at, std::memory_order_relaxed);
      RETURN_IF_ERROR(Annotate(status, endpoints_[at]));
      return i;
    }
    if (status.code() == ErrorCode::kRpcTimeout) code = status.code();
    failures += (failures.empty() ? "" : "; ") + endpoints_[at] + ": " + status.message();
  }
  return Status(code, "no member of etcd answers: " + failures);
}

Result<std::optional<EtcdValue>> EtcdClient::Get(const std::string& key, TimePoint deadline) {
  std::optional<EtcdValue> value;
  RETURN_IF_ERROR(Call("/v3/kv/range", etcd_json::GetRequest(key), deadline,
                       [&](std::string_view body) -> Status {
                         ASSIGN_OR_RETURN(value, etcd_json::ParseGetReply(body));
                         return Status::Ok();
                       }));
  return value;
}

Result<EtcdSwapReply> EtcdClient::CompareAndSwap(const EtcdSwap& swap, TimePoint deadline) {
  EtcdSwapReply reply;
  const auto take = [&](std::string_view body) -> Status {
    ASSIGN_OR_RETURN(reply, etcd_json::ParseSwapReply(body, swap));
    return Status::Ok();
  };
  ASSIGN_OR_RETURN(const size_t in_vain,
                   Call("/v3/kv/txn", etcd_json::SwapRequest(swap), deadline, take));
  // One of those may have done it before it fell silent.
  if (in_vain > 0 && reply.current && reply.current->value == swap.value) reply.swapped = true;
  return reply;
}

}  // namespace mooncake

#include "transfer/coord/etcd_json.h"

#include <charconv>

#include <nlohmann/json.hpp>

#include "transfer/base/base64.h"
#include "transfer/base/units.h"

namespace mooncake::etcd_json {
namespace {

using Json = nlohmann::json;

Status NotEtcd(const std::string& why) {
  return {ErrorCode::kRpcFail, "this is no reply of etcd's v3 gateway: " + why};
}

const Json* Find(const Json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

// 64-bit numbers travel as strings; what is missing is 0. nullopt: something else stands there.
std::optional<int64_t> Number(const Json& object, const char* name) {
  const Json* const field = Find(object, name);
  if (field == nullptr) return 0;
  if (!field->is_string()) return std::nullopt;
  const auto& text = field->get_ref<const std::string&>();
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The object, and the revision in its header, without which it is none of etcd: an empty object would pass for a key that does not exist.
struct Reply {
  Json body;
  int64_t revision = 0;
};

Result<Reply> ParseReply(std::string_view text) {
  Reply reply{Json::parse(text, nullptr, /*allow_exceptions=*/false)};
  const Json* const header = Find(reply.body, "header");
  const auto revision = header == nullptr ? std::nullopt : Number(*header, "revision");
  if (!revision || *revision <= 0) return NotEtcd("it has no header with a revision");
  reply.revision = *revision;
  return reply;
}

// Of a range over one key.
Result<std::optional<EtcdValue>> ValueOf(const Json& range) {
  const Json* const kvs = Find(range, "kvs");
  if (kvs == nullptr) return std::optional<EtcdValue>();
  if (!kvs->is_array() || kvs->size() != 1) return NotEtcd("it has not one value for one key");
  const Json* const value = Find(kvs->front(), "value");
  const auto revision = Number(kvs->front(), "mod_revision");
  const bool text = value == nullptr || value->is_string();
  const auto bytes =
      value != nullptr && text ? DecodeBase64(value->get_ref<const std::string&>()) : std::string();
  if (!text || !bytes || !revision || *revision <= 0)
    return NotEtcd("its value or revision is none");
  return std::optional(EtcdValue{*bytes, *revision});
}

}  // namespace

std::string GetRequest(std::string_view key) { return Json{{"key", EncodeBase64(key)}}.dump(); }

std::string SwapRequest(const EtcdSwap& swap) {
  const std::string key = EncodeBase64(swap.key);
  const Json compare = {{"target", "MOD"},
                        {"result", "EQUAL"},
                        {"key", key},
                        {"mod_revision", std::to_string(swap.expected_revision)}};
  const Json put = {{"request_put", {{"key", key}, {"value", EncodeBase64(swap.value)}}}};
  const Json get = {{"request_range", {{"key", key}}}};
  return Json{{"compare", Json::array({compare})},
              {"success", Json::array({put})},
              {"failure", Json::array({get})}}
      .dump();
}

Result<std::optional<EtcdValue>> ParseGetReply(std::string_view body) {
  ASSIGN_OR_RETURN(const Reply reply, ParseReply(body));
  return ValueOf(reply.body);
}

Result<EtcdSwapReply> ParseSwapReply(std::string_view body, const EtcdSwap& swap) {
  ASSIGN_OR_RETURN(const Reply reply, ParseReply(body));
  const Json* const succeeded = Find(reply.body, "succeeded");
  if (succeeded != nullptr && *succeeded == true)
    return EtcdSwapReply{true, EtcdValue{swap.value, reply.revision}};
  const Json* const responses = Find(reply.body, "responses");
  if (responses == nullptr || !responses->is_array() || responses->size() != 1)
    return NotEtcd("it has no result");
  const Json* const range = Find(responses->front(), "response_range");
  if (range == nullptr) return NotEtcd("it has no range");
  ASSIGN_OR_RETURN(auto current, ValueOf(*range));
  return EtcdSwapReply{false, std::move(current)};
}

Status ErrorOfReply(int http_status, std::string_view body) {
  const Json reply = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  const Json* const error = Find(reply, "error");
  const Json* const code = Find(reply, "code");
  if (error == nullptr || !error->is_string() || code == nullptr || !code->is_number_integer())
    return NotEtcd("HTTP status " + std::to_string(http_status) + "; etcd 3.4 or newer is needed");
  constexpr size_t kShown = 300;
  const std::string words =
      "etcd says: " +
      EscapeForDisplay(std::string_view(error->get_ref<const std::string&>()).substr(0, kShown));
  switch (code->get<int>()) {  // of gRPC
    case 3:                    // invalid argument
    case 11:                   // out of range
      return {ErrorCode::kInvalidParams, words};
    case 5:   // not found
    case 7:   // permission denied
    case 8:   // resource exhausted
    case 9:   // failed precondition
    case 12:  // not implemented
    case 16:  // not authenticated
      return {ErrorCode::kPersistentFail, words};
    default:  // no leader, time-out, shutting down
      return {ErrorCode::kRpcFail, words};
  }
}

}  // namespace mooncake::etcd_json

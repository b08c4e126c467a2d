#include "master/server/quota_http.h"

#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

namespace mooncake {
namespace {

using Json = nlohmann::ordered_json;

// Names are any bytes, JSON wants UTF-8.
std::string Line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

int HttpStatus(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidParams:
      return 400;
    case ErrorCode::kTenantNotRegistered:
      return 404;
    case ErrorCode::kTenantNotEmpty:
    case ErrorCode::kUnavailableInCurrentMode:
    case ErrorCode::kUnavailableInCurrentStatus:
      return 409;
    default:
      return 500;
  }
}

QuotaAnswer Refuse(const Status& status) {
  return {HttpStatus(status.code()), Line({{"success", false},
                                           {"error_code", static_cast<int>(status.code())},
                                           {"error_message", status.message()}})};
}

Json ToJson(const TenantQuota& quota) {
  return {{"tenant_id", quota.tenant},
          {"requested_quota_bytes", quota.requested},
          {"effective_quota_bytes", quota.effective},
          {"charged_bytes", quota.charged},
          {"admission_closed", quota.admission_closed},
          {"over_quota", quota.over_quota()},
          {"has_explicit_policy", quota.requested > 0}};
}

QuotaAnswer Tell(Json data) { return {200, Line({{"success", true}, {"data", std::move(data)}})}; }

QuotaAnswer Tell(const Result<TenantQuota>& quota) {
  return quota.ok() ? Tell(ToJson(*quota)) : Refuse(quota.status());
}

std::optional<unsigned> HexDigit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

// nullopt: a percent sign without two hexadecimal digits.
std::optional<std::string> Unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const auto high = i + 1 < text.size() ? HexDigit(text[i + 1]) : std::nullopt;
    const auto low = i + 2 < text.size() ? HexDigit(text[i + 2]) : std::nullopt;
    if (!high || !low) return std::nullopt;
    out += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  return out;
}

Status Invalid(const std::string& words) { return {ErrorCode::kInvalidParams, words}; }

// nullopt: none is named.
Result<std::optional<std::string>> TenantIn(std::string_view query) {
  std::optional<std::string> tenant;
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view field = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    constexpr std::string_view kName = "tenant_id=";
    if (!field.starts_with(kName)) continue;
    if (tenant) return Invalid("tenant_id is given twice");
    tenant = Unescape(field.substr(kName.size()));
    if (!tenant) return Invalid("tenant_id: % must be followed by two hexadecimal digits");
    if (tenant->empty()) return Invalid("tenant_id is empty");
  }
  return tenant;
}

Result<uint64_t> BytesIn(std::string_view body) {
  constexpr const char* kForm = "the body must be {\"requested_quota_bytes\": N}";
  if (body.size() > kMaxQuotaBody)
    return Invalid("the body is longer than " + std::to_string(kMaxQuotaBody) + " bytes");
  const Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("requested_quota_bytes")) return Invalid(kForm);
  const Json& bytes = json["requested_quota_bytes"];
  if (!bytes.is_number_unsigned())
    return Invalid("requested_quota_bytes must be a whole number, at least 1");
  return bytes.get<uint64_t>();
}

QuotaAnswer ListAll(MasterApi& master) {
  Json data = Json::array();
  std::string after;
  for (;;) {
    const auto page = master.ListQuotas(after, kMaxListLimit, kNever);
    if (!page.ok()) return Refuse(page.status());
    for (const TenantQuota& quota : page->quotas) data.push_back(ToJson(quota));
    if (!page->truncated) return Tell(std::move(data));
    after = page->quotas.back().tenant;
  }
}

}  // namespace

QuotaAnswer AnswerQuotas(MasterApi& master, std::string_view method, std::string_view query,
                         std::string_view body) {
  const auto tenant = TenantIn(query);
  if (!tenant.ok()) return Refuse(tenant.status());
  const bool one = tenant->has_value();
  if (method == "GET") return one ? Tell(master.GetQuota(**tenant, kNever)) : ListAll(master);
  if (method != "PUT" && method != "DELETE") {
    QuotaAnswer answer = Refuse(Invalid("only GET, PUT and DELETE"));
    answer.status = 405;
    return answer;
  }
  if (!one) return Refuse(Invalid("tenant_id is missing"));
  if (method == "DELETE") return Tell(master.DeleteQuota(**tenant, kNever));
  const auto bytes = BytesIn(body);
  if (!bytes.ok()) return Refuse(bytes.status());
  return Tell(master.SetQuota(**tenant, *bytes, kNever));
}

}  // namespace mooncake

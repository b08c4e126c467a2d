#include "master/tenants/policy_etcd.h"

#include <algorithm>
#include <utility>

#include "master/tenants/policy_scalars.h"
#include "master/tenants/policy_text.h"

namespace mooncake {
namespace {

constexpr size_t kMostUnsure = 4;

std::string DescriptionOf(const std::vector<std::string>& endpoints) {
  constexpr std::string_view kUsual = "http://";
  std::string text;
  for (const std::string& endpoint : endpoints) {
    text += text.empty() ? "etcd " : ",";
    text += endpoint.starts_with(kUsual) ? endpoint.substr(kUsual.size()) : endpoint;
  }
  return text;
}

}  // namespace

bool IsClusterId(std::string_view id) {
  constexpr size_t kLongest = 128;
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  };
  return !id.empty() && id.size() <= kLongest && std::all_of(id.begin(), id.end(), allowed);
}

Result<std::unique_ptr<PolicyEtcd>> PolicyEtcd::Create(const PolicyEtcdOptions& options,
                                                       HttpPost post, const Clock& clock) {
  if (!IsClusterId(options.cluster_id)) {
    return Status(ErrorCode::kInvalidParams,
                  "the cluster's id " + Shown(options.cluster_id) +
                      " is none; it is 1 to 128 of A-Z, a-z, 0-9, _ . and -");
  }
  ASSIGN_OR_RETURN(const auto endpoints, ParseEtcdEndpoints(options.endpoints));
  return std::unique_ptr<PolicyEtcd>(new PolicyEtcd(endpoints, options, std::move(post), clock));
}

PolicyEtcd::PolicyEtcd(const std::vector<std::string>& endpoints, const PolicyEtcdOptions& options,
                       HttpPost post, const Clock& clock)
    : key_("mooncake-store/" + options.cluster_id + "/tenant_quota_policy"),
      description_(DescriptionOf(endpoints)),
      timeout_(options.timeout),
      clock_(clock),
      client_(endpoints, std::move(post), clock) {}

Result<QuotaPolicies> PolicyEtcd::Load() {
  const auto value = client_.Get(key_, SaturatingAdd(clock_.Now(), timeout_));
  if (!value.ok()) return Annotate(value.status(), "quota policies cannot be read");
  QuotaPolicies policies;
  if (*value) {
    auto parsed = ParsePolicyText((*value)->value);
    if (!parsed.ok()) return Annotate(parsed.status(), Describe() + ", key " + key_);
    policies = std::move(*parsed);
  }
  seen_revision_ = *value ? (*value)->mod_revision : 0;
  seen_text_ = *value ? std::optional((*value)->value) : std::nullopt;
  return policies;
}

bool PolicyEtcd::IsKnown(const std::string& text) const {
  return text == seen_text_ || std::find(unsure_.begin(), unsure_.end(), text) != unsure_.end();
}

Status PolicyEtcd::Swap(const std::string& text, TimePoint deadline) {
  constexpr int kTries = 4;  // more of what may be in the way than this is another master's doing
  for (int i = 0; i < kTries; ++i) {
    ASSIGN_OR_RETURN(const EtcdSwapReply reply,
                     client_.CompareAndSwap({key_, text, seen_revision_}, deadline));
    const int64_t revision = reply.current ? reply.current->mod_revision : 0;
    if (reply.swapped) {
      seen_revision_ = revision;
      seen_text_ = text;
      return Status::Ok();
    }
    if (reply.current && !IsKnown(reply.current->value)) break;
    seen_revision_ = revision;
  }
  return {
      ErrorCode::kInvalidVersion,
      Describe() + ", key " + key_ +
          " was changed by someone else since this master read it; start the master again to take "
          "it over, and see to it that one master uses it"};
}

Status PolicyEtcd::Save(const QuotaPolicies& policies) {
  ASSIGN_OR_RETURN(const std::string text, WritePolicyText(policies));
  const Status status = Swap(text, SaturatingAdd(clock_.Now(), timeout_));
  if (status.ok()) {
    unsure_.clear();  // what has not arrived by now compares with a revision that is gone
    return status;
  }
  if (status.code() == ErrorCode::kInvalidParams) {
    return Annotate(
        status,
        "quota policies of " + std::to_string(text.size()) +
            " bytes cannot be saved; etcd takes 1.5 MiB unless its --max-request-bytes says more");
  }
  if (status.code() == ErrorCode::kRpcFail || status.code() == ErrorCode::kRpcTimeout) {
    unsure_.push_back(text);
    if (unsure_.size() > kMostUnsure) unsure_.pop_front();
    return Annotate(status, "quota policies may not be saved");
  }
  return status;
}

}  // namespace mooncake

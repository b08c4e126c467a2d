#include "master/tenants/policy_file.h"

#include <utility>

#include "master/tenants/policy_text.h"
#include "master/tenants/replaced_file.h"

namespace mooncake {
namespace {

constexpr mode_t kNewMode = 0644;  // policies are no secret

}  // namespace

PolicyFile::PolicyFile(PolicyFileOptions options) : options_(std::move(options)) {}

Result<std::string> PolicyFile::LoadText() {
  ASSIGN_OR_RETURN(const std::string target, FollowLinks(options_.path));
  Replacement::Tidy(target);
  ASSIGN_OR_RETURN(auto text, ReadWhole(target, kMaxPolicyTextBytes));
  if (text) return std::move(*text);
  if (!options_.create_if_missing) {
    const std::string link = target == options_.path ? "" : " (a symbolic link to " + target + ")";
    return {
        ErrorCode::kObjectNotFound,
        "file " + options_.path + link +
            " does not exist; create it with the two lines `version: 1` and `tenants: []`, correct "
            "the path, or leave it out so that --state_dir says where policies are kept"};
  }
  ASSIGN_OR_RETURN(std::string empty, WritePolicyText({}));
  RETURN_IF_ERROR(Replace(target, empty));
  return empty;
}

Result<QuotaPolicies> PolicyFile::Load() {
  ASSIGN_OR_RETURN(std::string text, LoadText());
  auto policies = ParsePolicyText(text);
  if (!policies.ok()) return Annotate(policies.status(), Describe());
  seen_ = std::move(text);
  return policies;
}

Status PolicyFile::Replace(const std::string& target, const std::string& text) {
  ASSIGN_OR_RETURN(Replacement replacement, Replacement::Begin(target));
  ASSIGN_OR_RETURN(const auto current, ReadWhole(target, kMaxPolicyTextBytes));
  if (current && current != seen_) {
    return {ErrorCode::kInvalidVersion, Describe() +
                                            " was changed by someone else since this master read "
                                            "it; start the master again to take it over"};
  }
  const Replacement::Outcome outcome = replacement.Commit(text, kNewMode);
  if (outcome.replaced) seen_ = text;
  return outcome.status;
}

Status PolicyFile::Save(const QuotaPolicies& policies) {
  ASSIGN_OR_RETURN(const std::string text, WritePolicyText(policies));
  ASSIGN_OR_RETURN(const std::string target, FollowLinks(options_.path));
  return Replace(target, text);
}

}  // namespace mooncake

// Quota policies in a YAML file on a local file system.
#pragma once

#include <optional>
#include <string>

#include "master/tenants/quota_policies.h"

namespace mooncake {

struct PolicyFileOptions {
  std::string path;
  // Load makes an empty one where there is none. Without, that is kObjectNotFound: a path that is mistyped must not begin a cluster
  // in which no tenant may write.
  bool create_if_missing = false;
};

class PolicyFile final : public QuotaPolicyStore {
 public:
  explicit PolicyFile(PolicyFileOptions options);

  Result<QuotaPolicies> Load() override;
  Status Save(const QuotaPolicies& policies) override;
  std::string Describe() const override { return "file " + options_.path; }

 private:
  Result<std::string> LoadText();
  Status Replace(const std::string& target, const std::string& text);

  const PolicyFileOptions options_;
  std::optional<std::string> seen_;  // the text, as this object last read or wrote it
};

}  // namespace mooncake

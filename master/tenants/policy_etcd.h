// Quota policies in etcd, the same text under one key of the cluster.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "master/tenants/quota_policies.h"
#include "transfer/base/clock.h"
#include "transfer/coord/etcd_client.h"

namespace mooncake {

// 1 to 128 of A-Z a-z 0-9 _ . -
bool IsClusterId(std::string_view id);

struct PolicyEtcdOptions {
  std::string endpoints;          // see ParseEtcdEndpoints
  std::string cluster_id;         // see IsClusterId
  Duration timeout = Seconds(5);  // of a Load or a Save, whatever it takes
};

class PolicyEtcd final : public QuotaPolicyStore {
 public:
  // Asks nobody yet. kInvalidParams: the endpoints or the cluster's id are malformed. `post` is PostByCurl but in tests.
  static Result<std::unique_ptr<PolicyEtcd>> Create(const PolicyEtcdOptions& options, HttpPost post,
                                                    const Clock& clock);

  // A key that does not exist is no policies.
  Result<QuotaPolicies> Load() override;
  Status Save(const QuotaPolicies& policies) override;
  std::string Describe() const override { return description_; }

 private:
  PolicyEtcd(const std::vector<std::string>& endpoints, const PolicyEtcdOptions& options,
             HttpPost post, const Clock& clock);

  bool IsKnown(const std::string& text) const;
  // Tries the swap until it is done or another's value is in the way.
  Status Swap(const std::string& text, TimePoint deadline);

  const std::string key_;
  const std::string description_;
  const Duration timeout_;
  const Clock& clock_;
  EtcdClient client_;
  int64_t seen_revision_ = 0;
  std::optional<std::string> seen_text_;
  // What this object tried to save and got no answer for: it may be there, or arrive yet.
  std::deque<std::string> unsure_;
};

}  // namespace mooncake

// Policies in a real etcd.
#include "master/tenants/policy_etcd.h"
#include "tests/conformance/quota_policies_suite.h"
#include "tests/support/etcd_cluster.h"

namespace mooncake::testing {
namespace {

class EtcdWorld final : public QuotaPoliciesWorld {
 public:
  std::unique_ptr<QuotaPolicyStore> Open() override {
    auto store = PolicyEtcd::Create(
        {.endpoints = etcd_.endpoints(), .cluster_id = "suite", .timeout = Seconds(20)}, PostByCurl,
        SystemClock());
    EXPECT_TRUE(store.ok()) << store.message();
    return std::move(store).value();
  }
  void Erase() override { etcd_.Erase("mooncake-store/suite/tenant_quota_policy"); }

 private:
  EtcdCluster etcd_;
};

MC_INSTANTIATE_QUOTA_POLICIES_SUITE(Etcd, [] {
  return std::unique_ptr<QuotaPoliciesWorld>(std::make_unique<EtcdWorld>());
});

}  // namespace
}  // namespace mooncake::testing

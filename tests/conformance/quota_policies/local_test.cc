// Policies in memory, as tests have them, in a file, and in an etcd in memory.
#include <filesystem>

#include "master/tenants/policy_etcd.h"
#include "master/tenants/policy_file.h"
#include "tests/conformance/quota_policies_suite.h"
#include "tests/support/fake_etcd.h"
#include "tests/support/memory_quota_policies.h"
#include "tests/support/process.h"

namespace mooncake::testing {
namespace {

class MemoryWorld final : public QuotaPoliciesWorld {
 public:
  std::unique_ptr<QuotaPolicyStore> Open() override {
    return std::make_unique<MemoryQuotaPolicyStore>(place_);
  }
  void Erase() override { place_->Erase(); }

 private:
  const std::shared_ptr<PolicyPlace> place_ = std::make_shared<PolicyPlace>();
};

class FileWorld final : public QuotaPoliciesWorld {
 public:
  std::unique_ptr<QuotaPolicyStore> Open() override {
    return std::make_unique<PolicyFile>(
        PolicyFileOptions{.path = path_, .create_if_missing = true});
  }
  void Erase() override { std::filesystem::remove(path_); }

 private:
  const TempFolder folder_;
  const std::string path_ = folder_ / "tenants.yaml";
};

class FakeEtcdWorld final : public QuotaPoliciesWorld {
 public:
  std::unique_ptr<QuotaPolicyStore> Open() override {
    return PolicyEtcd::Create({.endpoints = "fake:1", .cluster_id = "suite"}, etcd_.Post(),
                              SystemClock())
        .value();
  }
  void Erase() override { etcd_.Erase("mooncake-store/suite/tenant_quota_policy"); }

 private:
  FakeEtcd etcd_;
};

MC_INSTANTIATE_QUOTA_POLICIES_SUITE(Memory, [] {
  return std::unique_ptr<QuotaPoliciesWorld>(std::make_unique<MemoryWorld>());
});
MC_INSTANTIATE_QUOTA_POLICIES_SUITE(File, [] {
  return std::unique_ptr<QuotaPoliciesWorld>(std::make_unique<FileWorld>());
});
MC_INSTANTIATE_QUOTA_POLICIES_SUITE(FakeEtcd, [] {
  return std::unique_ptr<QuotaPoliciesWorld>(std::make_unique<FakeEtcdWorld>());
});

}  // namespace
}  // namespace mooncake::testing

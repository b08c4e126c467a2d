// What every QuotaPolicyStore must do, wherever it keeps them. A test program includes this file once and says
// MC_INSTANTIATE_QUOTA_POLICIES_SUITE(Name, factory);  the tests are in quota_policies/suite.cc, linked to it.
#pragma once

#include <memory>

#include <gtest/gtest.h>

#include "master/tenants/quota_policies.h"

namespace mooncake::testing {

// A place that keeps policies, with none at first.
class QuotaPoliciesWorld {
 public:
  virtual ~QuotaPoliciesWorld() = default;
  // A store on it, as of a master that starts.
  virtual std::unique_ptr<QuotaPolicyStore> Open() = 0;
  // Whatever is kept goes, by other hands.
  virtual void Erase() = 0;
};
using QuotaPoliciesWorldFactory = std::unique_ptr<QuotaPoliciesWorld> (*)();

class QuotaPoliciesSuite : public ::testing::TestWithParam<QuotaPoliciesWorldFactory> {
 protected:
  QuotaPoliciesSuite() : world_(GetParam()()) {}

  QuotaPoliciesWorld& world() { return *world_; }
  // A store that has loaded.
  std::unique_ptr<QuotaPolicyStore> Started() {
    auto store = world_->Open();
    const auto policies = store->Load();
    EXPECT_TRUE(policies.ok()) << policies.message();
    return store;
  }
  // What a master that starts now would find.
  QuotaPolicies Kept() {
    auto policies = world_->Open()->Load();
    EXPECT_TRUE(policies.ok()) << policies.message();
    return policies.ok() ? *policies : QuotaPolicies{{"(unreadable)", 1}};
  }

 private:
  std::unique_ptr<QuotaPoliciesWorld> world_;
};

}  // namespace mooncake::testing

#define MC_INSTANTIATE_QUOTA_POLICIES_SUITE(Name, factory) \
  INSTANTIATE_TEST_SUITE_P(Name, QuotaPoliciesSuite, ::testing::Values(factory))

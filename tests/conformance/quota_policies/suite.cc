#include <memory>
#include <string>
#include <vector>

#include "master/api/types.h"
#include "tests/conformance/quota_policies_suite.h"
#include "tests/support/seeds.h"
#include "transfer/base/rng.h"

namespace mooncake::testing {
namespace {

const QuotaPolicies kTwo = {{"a", 1}, {"b", uint64_t{10} << 30}};

TEST_P(QuotaPoliciesSuite, BeginsWithNone) {
  EXPECT_EQ(Kept(), QuotaPolicies());
  EXPECT_FALSE(world().Open()->Describe().empty());
}

TEST_P(QuotaPoliciesSuite, WhatIsSavedIsThereAtTheNextStart) {
  const auto store = Started();
  ASSERT_EQ(store->Save(kTwo), Status::Ok());
  EXPECT_EQ(Kept(), kTwo);
  ASSERT_EQ(store->Save({{"b", 5}}), Status::Ok());
  EXPECT_EQ(Kept(), (QuotaPolicies{{"b", 5}}));
  ASSERT_EQ(store->Save({}), Status::Ok());
  EXPECT_EQ(Kept(), QuotaPolicies());
  ASSERT_EQ(store->Save({}), Status::Ok());
}

TEST_P(QuotaPoliciesSuite, NamesAndQuotasMayBeWhateverIsAllowed) {
  const QuotaPolicies policies = {{std::string(1, '\0'), 1},
                                  {"\xff\x80", kMaxQuotaBytes},
                                  {"null", 1023},
                                  {" \n: \"'{}#", uint64_t{1} << 62},
                                  {"\xe5\xbc\xa0", 1025},
                                  {std::string(kMaxTenantBytes, '/'), 7}};
  ASSERT_EQ(Started()->Save(policies), Status::Ok());
  EXPECT_EQ(Kept(), policies);
}

TEST_P(QuotaPoliciesSuite, ThousandsOfTenantsAreKept) {
  QuotaPolicies policies;
  for (uint64_t i = 0; i < 20000; ++i) policies["tenant-" + std::to_string(i)] = (i + 1) << 20;
  ASSERT_EQ(Started()->Save(policies), Status::Ok());
  EXPECT_EQ(Kept(), policies);
}

TEST_P(QuotaPoliciesSuite, WhatIsNotAllowedIsRefusedAndChangesNothing) {
  const auto store = Started();
  ASSERT_EQ(store->Save(kTwo), Status::Ok());
  for (const auto& [name, quota] :
       std::vector<std::pair<std::string, uint64_t>>{{"c", 0},
                                                     {"c", kMaxQuotaBytes + 1},
                                                     {"", 1},
                                                     {std::string(kMaxTenantBytes + 1, 'x'), 1}}) {
    QuotaPolicies policies = kTwo;
    policies[name] = quota;
    EXPECT_EQ(store->Save(policies).code(), ErrorCode::kInvalidParams);
  }
  EXPECT_EQ(Kept(), kTwo);
  EXPECT_EQ(store->Save({}), Status::Ok());
}

TEST_P(QuotaPoliciesSuite, OfTwoThatSawTheSameTheSecondToSaveIsRefused) {
  ASSERT_EQ(Started()->Save(kTwo), Status::Ok());
  const auto first = Started();
  const auto second = Started();
  ASSERT_EQ(first->Save({{"a", 2}}), Status::Ok());
  EXPECT_EQ(second->Save({{"b", 2}}).code(), ErrorCode::kInvalidVersion);
  EXPECT_EQ(second->Save({{"b", 2}}).code(), ErrorCode::kInvalidVersion)
      << "a repeat must not pass";
  EXPECT_EQ(Kept(), (QuotaPolicies{{"a", 2}}));

  ASSERT_TRUE(second->Load().ok());
  EXPECT_EQ(second->Save({{"b", 2}}), Status::Ok());
  EXPECT_EQ(first->Save({{"a", 3}}).code(), ErrorCode::kInvalidVersion);
  EXPECT_EQ(Kept(), (QuotaPolicies{{"b", 2}}));
}

TEST_P(QuotaPoliciesSuite, OneThatSawTheEmptyPlaceDoesNotReplaceWhatCameSince) {
  const auto first = Started();
  const auto second = Started();
  ASSERT_EQ(first->Save(kTwo), Status::Ok());
  EXPECT_EQ(second->Save({{"c", 1}}).code(), ErrorCode::kInvalidVersion);
  EXPECT_EQ(Kept(), kTwo);
}

TEST_P(QuotaPoliciesSuite, WithoutALoadNothingIsReplaced) {
  ASSERT_EQ(world().Open()->Save(kTwo), Status::Ok()) << "there was nothing to replace";
  EXPECT_EQ(world().Open()->Save({}).code(), ErrorCode::kInvalidVersion);
  EXPECT_EQ(Kept(), kTwo);
}

TEST_P(QuotaPoliciesSuite, WhatWasErasedIsSavedAgain) {
  const auto store = Started();
  ASSERT_EQ(store->Save(kTwo), Status::Ok());
  world().Erase();
  QuotaPolicies more = kTwo;
  more["c"] = 3;
  ASSERT_EQ(store->Save(more), Status::Ok());
  EXPECT_EQ(Kept(), more);
  ASSERT_EQ(store->Save(kTwo), Status::Ok());
  EXPECT_EQ(Kept(), kTwo);
}

// Masters that come, go and save in any order: a save passes exactly when its master has seen what is there.
TEST_P(QuotaPoliciesSuite, NoHistoryLosesAChangeThatNobodySaw) {
  for (const uint64_t seed : Seeds(3)) {
    Rng rng(seed);
    world().Erase();
    struct Master {
      std::unique_ptr<QuotaPolicyStore> store;
      uint64_t seen = 0;
    };
    std::vector<Master> masters(3);
    uint64_t current = 0;  // number of the last save
    for (uint64_t step = 1; step <= 40; ++step) {
      Master& master = masters[rng.Below(masters.size())];
      if (master.store == nullptr || rng.Chance(1, 4)) {
        if (master.store == nullptr || rng.Chance(1, 2)) master.store = world().Open();
        const auto policies = master.store->Load();
        ASSERT_TRUE(policies.ok()) << "seed " << seed << ": " << policies.message();
        ASSERT_EQ(*policies, current == 0 ? QuotaPolicies() : (QuotaPolicies{{"step", current}}))
            << "seed " << seed;
        master.seen = current;
      } else {
        const bool passes = current == 0 || master.seen == current;
        ASSERT_EQ(master.store->Save({{"step", step}}).code(),
                  passes ? ErrorCode::kOk : ErrorCode::kInvalidVersion)
            << "seed " << seed << " step " << step;
        if (passes) master.seen = current = step;
      }
    }
  }
}

}  // namespace
}  // namespace mooncake::testing

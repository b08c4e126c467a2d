#include <set>

#include "tests/unit/master/core/core_fixture.h"

namespace mooncake::core {
namespace {

using Removal = CoreTest;

class ReplicaClear : public CoreTest {
 protected:
  Status Clear(const std::string& key, const std::string& segment) {
    return core().ClearReplicas(now_, Name(key), segment);
  }
};

TEST_F(Removal, OfALeasedObjectNeedsForceOrPatience) {
  Mount("a", kMiB);
  Put("k", 1);
  ASSERT_TRUE(Get("k").ok());
  EXPECT_EQ(Remove("k").code(), ErrorCode::kObjectHasLease);
  Advance(Seconds(10));
  EXPECT_EQ(Remove("k"), Status::Ok());
  Put("k", 1);
  ASSERT_TRUE(Get("k").ok());
  EXPECT_EQ(Remove("k", true), Status::Ok());
  EXPECT_EQ(Remove("k", true).code(), ErrorCode::kObjectNotFound);
}

TEST_F(Removal, LeavesAWriteInProgressAlone) {
  Mount("a", kMiB);
  const auto start = Start("k", 1);
  EXPECT_EQ(Remove("k", true).code(), ErrorCode::kReplicaIsNotReady);
  EXPECT_EQ(End("k", start.value_or({}).put_id), Status::Ok());
}

TEST_F(ReplicaClear, WithoutASegmentRemovesTheObject) {
  Mount("a", kMiB);
  Mount("b", kMiB);
  Put("k", 1000, {.replica_num = 2});
  Put("stays", 1000);
  EXPECT_EQ(Clear("k", ""), Status::Ok());
  EXPECT_EQ(Clear("k", "").code(), ErrorCode::kObjectNotFound);
  EXPECT_EQ(Keys(), std::vector<std::string>{"stays"});
}

TEST_F(ReplicaClear, OfASegmentLeavesTheOtherReplicas) {
  for (const char* name : {"a", "b", "c"}) Mount(name, kMiB);
  Put("k", 1000, {.replica_num = 3});
  const uint64_t used = Used();
  EXPECT_EQ(Clear("k", "b"), Status::Ok());
  EXPECT_EQ(Used(), used / 3 * 2);
  EXPECT_EQ(core().CheckInvariants(now_).value_or(""), "");
  EXPECT_EQ(core().GetCounters().under_replicated_objects, 1u);
  EXPECT_EQ(Clear("k", "b").code(), ErrorCode::kReplicaNotFound);
  const auto names = core().SegmentNames(Get("k").value_or({}).replicas);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()), (std::set<std::string>{"a", "c"}));
}

TEST_F(ReplicaClear, OfTheLastReplicaRemovesTheObject) {
  const auto a = Mount("a", kMiB);
  Mount("b", kMiB);
  Put("k", 1000, {.replica_num = 2});
  Unmount(a);  // not swept yet
  EXPECT_EQ(Clear("k", "b"), Status::Ok());
  EXPECT_FALSE(Exists("k"));
  EXPECT_EQ(Used(), 0u);
  TickAll();
}

TEST_F(ReplicaClear, SkipsWhatIsLeasedMissingOrNotReady) {
  Mount("a", kMiB);
  Put("leased", 1000);
  ASSERT_TRUE(Get("leased").ok());
  ASSERT_TRUE(Start("writing", 1000).ok());
  Put("empty", 0);
  for (const char* segment : {"", "a"}) {
    EXPECT_EQ(Clear("leased", segment).code(), ErrorCode::kObjectHasLease);
    EXPECT_EQ(Clear("missing", segment).code(), ErrorCode::kObjectNotFound);
    EXPECT_EQ(Clear("writing", segment).code(), ErrorCode::kReplicaIsNotReady);
    EXPECT_EQ(Clear("", segment).code(), ErrorCode::kInvalidKey);
  }
  EXPECT_EQ(Clear("empty", "a").code(), ErrorCode::kReplicaNotFound);
  EXPECT_EQ(Clear("leased", "b").code(), ErrorCode::kSegmentNotFound);
  Advance(Seconds(10));
  EXPECT_EQ(Clear("leased", "a"), Status::Ok());
}

TEST_F(ReplicaClear, LeavesAnUpsertInProgressAlone) {
  Mount("a", kMiB);
  Put("k", 1000);
  const auto start = Start("k", 10, {}, WriteMode::kReplace);
  EXPECT_EQ(Clear("k", "a"), Status::Ok());
  EXPECT_FALSE(Exists("k"));
  EXPECT_EQ(End("k", start.value_or({}).put_id), Status::Ok());
  EXPECT_TRUE(Exists("k"));
}

TEST_F(Removal, ByRegexSearchesAnywhereInTheKey) {
  Mount("a", kMiB);
  for (const char* key : {"abc", "xabcx", "abd", "zzz"}) Put(key, 1);
  const auto dry = core().RemoveByRegex(now_, {.pattern = "abc", .dry_run = true});
  EXPECT_EQ(dry.value_or({}).matched, 2u);
  EXPECT_EQ(dry.value_or({}).removed, 0u);
  EXPECT_EQ(dry.value_or({}).sample.size(), 2u);
  EXPECT_EQ(core().RemoveByRegex(now_, {.pattern = "^ab[cd]$"}).value_or({}).removed, 2u);
  EXPECT_EQ(Keys(), (std::vector<std::string>{"xabcx", "zzz"}));
  EXPECT_EQ(core().RemoveByRegex(now_, {.pattern = "nothing"}).value_or({}).matched, 0u);
}

TEST_F(Removal, ByRegexSkipsLeasedUnlessForced) {
  Mount("a", kMiB);
  Put("k1", 1);
  Put("k2", 1);
  ASSERT_TRUE(Get("k1").ok());
  const auto reply = core().RemoveByRegex(now_, {.pattern = "k"});
  EXPECT_EQ(reply.value_or({}).matched, 2u);
  EXPECT_EQ(reply.value_or({}).removed, 1u);
  EXPECT_EQ(reply.value_or({}).skipped, 1u);
  EXPECT_EQ(core().RemoveByRegex(now_, {.pattern = "k", .force = true}).value_or({}).removed, 1u);
}

TEST_F(Removal, ByRegexKeepsToItsTenant) {
  Mount("a", kMiB);
  Put("k1", 1);
  const ObjectName other{"other", "k2"};
  const auto start = core().PutStart(now_, {.client = kWriter, .name = other, .size = 1});
  ASSERT_EQ(core().PutEnd(now_, 0, {kWriter, other, start.value_or({}).put_id, {}}), Status::Ok());
  EXPECT_EQ(core().RemoveByRegex(now_, {.pattern = "^k"}).value_or({}).removed, 1u);
  EXPECT_TRUE(core().ExistKey(now_, other, false).value_or(false));
}

TEST_F(Removal, ByRegexKnowsAnchorsClassesAndAlternatives) {
  Mount("a", kMiB);
  for (const char* key : {"cat1", "cat22", "dog3", "bird"}) Put(key, 1);
  const auto matched = [&](const std::string& pattern) {
    return core().RemoveByRegex(now_, {.pattern = pattern, .dry_run = true}).value_or({}).matched;
  };
  EXPECT_EQ(matched("^cat[0-9]$"), 1u);
  EXPECT_EQ(matched("cat|dog"), 3u);
  EXPECT_EQ(matched("\\d+$"), 3u);
  EXPECT_EQ(matched("^at"), 0u);
}

TEST_F(Removal, BadPatternsRemoveNothing) {
  Mount("a", kMiB);
  Put("k", 1);
  for (const std::string& pattern :
       {std::string(), std::string("("), std::string(5000, 'a'), std::string("(a{900}){900}")}) {
    EXPECT_EQ(core().RemoveByRegex(now_, {.pattern = pattern}).code(), ErrorCode::kInvalidParams);
  }
  EXPECT_TRUE(Exists("k"));
}

TEST_F(Removal, PatternsMatchKeysOfAnyBytes) {
  Mount("a", kMiB);
  Put(std::string("a\xff\0b\n", 5), 1);
  EXPECT_EQ(core().RemoveByRegex(now_, {.pattern = "^a...\\n$"}).value_or({}).removed, 1u);
}

TEST_F(Removal, InStepsSeesEachKeyOnce) {
  Mount("a", kMiB);
  for (int i = 0; i < 100; ++i) Put("k" + std::to_string(i), 1);
  auto walk = core().StartRemoveByRegex({.pattern = "[13579]$"});
  ASSERT_TRUE(walk.ok());
  int steps = 1;
  while (!core().Step(now_, walk.value(), 7)) ++steps;
  EXPECT_EQ(walk.value().reply.removed, 50u);
  EXPECT_GE(steps, 100 / 7);
  EXPECT_EQ(Keys().size(), 50u);
}

// F108: one step holds the shell's lock, so a costly pattern over long keys has to come in small steps.
TEST_F(Removal, CostlyPatternsTakeFewKeysAStep) {
  Mount("a", kMiB);
  for (int i = 0; i < 10; ++i) Put(std::string(4000, 'a') + std::to_string(i), 1);
  auto walk = core().StartRemoveByRegex({.pattern = "(?:a?){500}a{500}z", .dry_run = true});
  ASSERT_TRUE(walk.ok());
  int steps = 1;
  while (!core().Step(now_, walk.value(), 1000)) ++steps;
  EXPECT_GE(steps, 10);
  EXPECT_EQ(walk.value().reply.matched, 0u);
}

TEST_F(Removal, InStepsSurvivesChangesInBetween) {
  Mount("a", kMiB);
  for (int i = 0; i < 30; ++i) Put("k" + std::to_string(i), 1);
  auto walk = core().StartRemoveAll(kDefaultTenant, false);
  ASSERT_TRUE(walk.ok());
  core().Step(now_, walk.value(), 10);
  EXPECT_EQ(core().RemoveAll(now_, kDefaultTenant, false).value_or(0), 20u);
  EXPECT_TRUE(core().Step(now_, walk.value(), 10));
  EXPECT_EQ(walk.value().removed, 10u);
}

TEST_F(Removal, OfAllKeepsToItsTenant) {
  Mount("a", kMiB);
  for (const char* tenant : {"t1", "t2", "t3"}) {
    for (int i = 0; i < 10; ++i) {
      const ObjectName name{tenant, "k" + std::to_string(i)};
      const auto start = core().PutStart(now_, {.client = kWriter, .name = name, .size = 1});
      ASSERT_TRUE(start.ok());
      ASSERT_EQ(core().PutEnd(now_, 0, {kWriter, name, start.value().put_id, {}}), Status::Ok());
    }
  }
  EXPECT_EQ(core().RemoveAll(now_, "t2", false).value_or(0), 10u);
  EXPECT_EQ(core().RemoveAll(now_, "none", false).value_or(99), 0u);
  auto walk = core().StartRemoveAll("", false);
  while (!core().Step(now_, walk.value(), 3)) {
  }
  EXPECT_EQ(walk.value().removed, 20u);
  EXPECT_EQ(Used(), 0u);
}

TEST_F(Removal, ReplicaListsByRegexGrantLeasesUpToTheLimit) {
  Mount("a", kMiB);
  for (int i = 0; i < 10; ++i) Put("k" + std::to_string(i), 1);
  auto walk = core().StartGetReplicaListByRegex(kDefaultTenant, "k[0-7]", 5);
  ASSERT_TRUE(walk.ok());
  while (!core().Step(now_, walk.value(), 2)) {
  }
  ASSERT_EQ(walk.value().found.size(), 5u);
  EXPECT_EQ(walk.value().found[0].first, "k0");
  EXPECT_EQ(walk.value().found[0].second.lease, Seconds(10));
  EXPECT_EQ(Remove("k4").code(), ErrorCode::kObjectHasLease);
  EXPECT_EQ(Remove("k5"), Status::Ok());
  EXPECT_EQ(core().StartGetReplicaListByRegex(kDefaultTenant, "k", 0).code(),
            ErrorCode::kInvalidParams);
}

}  // namespace
}  // namespace mooncake::core

#include "tests/unit/master/core/core_fixture.h"
#include "transfer/base/seal.h"

namespace mooncake::core {
namespace {

class RenameOp : public CoreTest {
 protected:
  Status Rename(const std::string& from, const std::string& to, bool no_replace = false) {
    return core().Rename(now_, Name(from), Name(to), no_replace);
  }
  Result<uint64_t> RenamePrefix(const std::string& from, const std::string& to) {
    return core().RenamePrefix(now_, kDefaultTenant, from, to);
  }
  using Strings = std::vector<std::string>;
};

TEST_F(RenameOp, MovesTheNameAndKeepsTheVersion) {
  Mount("a", kMiB);
  const PutId id = Put("x", 10, {.soft_pin = SoftPinAction::kEnable, .group = "g"});
  EXPECT_EQ(Rename("x", "y"), Status::Ok());
  EXPECT_FALSE(Exists("x"));
  const auto stat = core().Stat(now_, Name("y"));
  EXPECT_EQ(stat.value_or({}).put_id, id);
  EXPECT_EQ(stat.value_or({}).group, "g");
  EXPECT_EQ(stat.value_or({}).soft_pin_left, options_.soft_pin_ttl);
  EXPECT_EQ(Keys(), Strings{"y"});
}

TEST_F(RenameOp, ReplacesTheTargetUnlessToldNotTo) {
  Mount("a", kMiB);
  const PutId id = Put("x", 10);
  Put("y", 20);
  EXPECT_EQ(Rename("x", "y", true).code(), ErrorCode::kObjectAlreadyExists);
  EXPECT_EQ(Rename("x", "y"), Status::Ok());
  EXPECT_EQ(Get("y").value_or({}).put_id, id);
  EXPECT_EQ(Used(), ExtentFootprint(10));
}

TEST_F(RenameOp, OntoItselfIsOk) {
  Mount("a", kMiB);
  Put("x", 1);
  EXPECT_EQ(Rename("x", "x", true), Status::Ok());
  EXPECT_EQ(Rename("none", "none").code(), ErrorCode::kObjectNotFound);
}

TEST_F(RenameOp, WaitsForWritesOnEitherName) {
  Mount("a", kMiB);
  Put("x", 1);
  const auto write = Start("y", 1);
  EXPECT_EQ(Rename("x", "y").code(), ErrorCode::kObjectReplicaBusy);
  EXPECT_EQ(Revoke("y", write.value_or({}).put_id, true), Status::Ok());
  Start("x", 1, {}, WriteMode::kReplace).Ignore("in progress");
  EXPECT_EQ(Rename("x", "y").code(), ErrorCode::kObjectReplicaBusy);
}

TEST_F(RenameOp, ALeaseUnderTheOldNameIsRenewed) {
  Mount("a", kMiB);
  const PutId id = Put("x", 1000);
  ASSERT_TRUE(Get("x").ok());
  EXPECT_EQ(Rename("x", "y"), Status::Ok());
  EXPECT_EQ(Rename("y", "z"), Status::Ok());
  Advance(Seconds(9));
  TickAll();
  EXPECT_TRUE(core().RenewLease(now_, {Name("x"), id}).ok());
  EXPECT_EQ(Remove("z").code(), ErrorCode::kObjectHasLease);
  EXPECT_EQ(Remove("z", true), Status::Ok());
  EXPECT_TRUE(core().RenewLease(now_, {Name("x"), id}).ok());  // detached now
  Advance(Seconds(10));
  TickAll();
  EXPECT_EQ(Used(), 0u);
}

TEST_F(RenameOp, TheOldNameIsForgottenWhenTheLeaseEnds) {
  Mount("a", kMiB);
  const PutId id = Put("x", 1000);
  ASSERT_TRUE(Get("x").ok());
  EXPECT_EQ(Rename("x", "y"), Status::Ok());
  Advance(Seconds(10));
  TickAll();
  EXPECT_EQ(core().RenewLease(now_, {Name("x"), id}).code(), ErrorCode::kObjectNotFound);
  EXPECT_TRUE(core().RenewLease(now_, {Name("y"), id}).ok());
}

TEST_F(RenameOp, AReplacedLeasedTargetIsDetached) {
  Mount("a", kMiB);
  Put("x", 10);
  const PutId old_id = Put("y", 20);
  ASSERT_TRUE(Get("y").ok());
  EXPECT_EQ(Rename("x", "y"), Status::Ok());
  EXPECT_TRUE(core().RenewLease(now_, {Name("y"), old_id}).ok());
}

TEST_F(RenameOp, KeepsTheOrderOfEviction) {
  Mount("a", kMiB);
  Put("first", 1000);
  Advance(Millis(1));
  Put("second", 1000);
  EXPECT_EQ(Rename("first", "renamed"), Status::Ok());
  core().Evict(now_, 1, 10);
  EXPECT_EQ(Keys(), Strings{"second"});
}

TEST_F(RenameOp, OfAPrefixMovesEveryKeyBelow) {
  Mount("a", kMiB);
  for (const char* key : {"d/", "d/1", "d/x/2", "dd", "e"}) Put(key, 10);
  EXPECT_EQ(RenamePrefix("d/", "n/").value_or(0), 3u);
  EXPECT_EQ(Keys(), (Strings{"dd", "e", "n/", "n/1", "n/x/2"}));
  EXPECT_EQ(RenamePrefix("none/", "m/").value_or(99), 0u);
  EXPECT_EQ(RenamePrefix("n/", "n/").value_or(9), 0u);  // nothing to do
}

TEST_F(RenameOp, OfAPrefixIsRefusedWholeWhenATargetExists) {
  Mount("a", kMiB);
  for (const char* key : {"d/1", "d/2", "n/2"}) Put(key, 10);
  EXPECT_EQ(RenamePrefix("d/", "n/").code(), ErrorCode::kObjectAlreadyExists);
  EXPECT_EQ(Keys(), (Strings{"d/1", "d/2", "n/2"}));
  EXPECT_EQ(Remove("n/2"), Status::Ok());
  Put("n/3", 1);
  EXPECT_EQ(RenamePrefix("d/", "n/").value_or(0), 2u);
}

TEST_F(RenameOp, OfAPrefixIsRefusedWhileAWriteBelowIsInProgress) {
  Mount("a", kMiB);
  Put("d/1", 10);
  const auto write = Start("n/5", 1);
  EXPECT_EQ(RenamePrefix("d/", "n/").code(), ErrorCode::kObjectReplicaBusy);
  EXPECT_EQ(Revoke("n/5", write.value_or({}).put_id, true), Status::Ok());
  Start("d/6", 1).Ignore("in progress");
  EXPECT_EQ(RenamePrefix("d/", "n/").code(), ErrorCode::kObjectReplicaBusy);
}

class PrefixRenameInSteps : public RenameOp {
 protected:
  // d/0 to d/9 have become n/0 to n/9, and `moved` of them are there already.
  RenamePrefixWalk Begin(uint32_t moved) {
    Mount("a", kMiB);
    for (int i = 0; i < 10; ++i) ids_.push_back(Put("d/" + std::to_string(i), 10));
    auto walk = core().StartRenamePrefix(now_, kDefaultTenant, "d/", "n/");
    EXPECT_TRUE(walk.ok()) << walk.status();
    if (moved > 0) {
      EXPECT_FALSE(core().Step(now_, walk.value(), moved));
    }
    return walk.value();
  }
  void Finish(RenamePrefixWalk& walk) {
    while (!core().Step(now_, walk, 3)) {
    }
  }
  std::vector<PutId> ids_;
};

TEST_F(PrefixRenameInSteps, TheNamesChangeInTheFirst) {
  auto walk = Begin(0);
  EXPECT_FALSE(Exists("d/5"));
  EXPECT_TRUE(Exists("n/5"));
  EXPECT_EQ(Get("n/7").value_or({}).put_id, ids_[7]);
  EXPECT_EQ(core().Stat(now_, Name("d/1")).code(), ErrorCode::kObjectNotFound);
  EXPECT_EQ(Remove("n/2"), Status::Ok());
  EXPECT_FALSE(Exists("n/2"));
  Finish(walk);
  EXPECT_EQ(walk.moved, 10u);
  EXPECT_EQ(Keys("n/").size(), 9u);
}

TEST_F(PrefixRenameInSteps, ANewObjectUnderTheOldNameStaysThere) {
  auto walk = Begin(2);
  Put("d/1", 77);  // behind the place of the walk
  Put("d/5", 88);  // before it
  EXPECT_EQ(core().Rename(now_, Name("n/6"), Name("d/7"), true), Status::Ok());
  Finish(walk);
  EXPECT_EQ(Keys("d/"), (Strings{"d/1", "d/5", "d/7"}));
  EXPECT_EQ(Get("d/5").value_or({}).size, 88u);
  EXPECT_EQ(Get("n/5").value_or({}).put_id, ids_[5]);
  EXPECT_EQ(Keys("n/").size(), 9u);
}

TEST_F(PrefixRenameInSteps, AnUpsertUnderTheNewNameReplacesWhatMoves) {
  auto walk = Begin(0);
  EXPECT_EQ(Start("n/3", 5).code(), ErrorCode::kObjectAlreadyExists);
  Upsert("n/3", 99);
  Finish(walk);
  EXPECT_EQ(Get("n/3").value_or({}).size, 99u);
  EXPECT_EQ(Keys().size(), 10u);
}

TEST_F(PrefixRenameInSteps, AListingAndAnOverlappingRenameComeAfterIt) {
  auto walk = Begin(1);
  EXPECT_EQ(Keys("n/").size(), 10u);
  EXPECT_TRUE(core().Step(now_, walk, 1));
  EXPECT_EQ(walk.moved, 10u);
  auto there = core().StartRenamePrefix(now_, kDefaultTenant, "n/", "m/");
  auto back = core().StartRenamePrefix(now_, kDefaultTenant, "m/", "d/");
  ASSERT_TRUE(there.ok() && back.ok());
  EXPECT_EQ(Get("d/4").value_or({}).put_id, ids_[4]);
  TickAll();
  EXPECT_EQ(Keys("d/").size(), 10u);
  EXPECT_TRUE(core().Step(now_, there.value(), 1));
  EXPECT_EQ(there.value().moved, 10u);
}

TEST_F(PrefixRenameInSteps, ALeaseUnderTheOldNameIsRenewed) {
  Mount("a", kMiB);
  const PutId id = Put("d/1", 10);
  ASSERT_TRUE(Get("d/1").ok());
  auto walk = core().StartRenamePrefix(now_, kDefaultTenant, "d/", "n/");
  ASSERT_TRUE(walk.ok());
  Advance(Seconds(9));
  EXPECT_TRUE(core().RenewLease(now_, {Name("d/1"), id}).ok());
  Finish(walk.value());
}

TEST_F(RenameOp, OfAPrefixRefusesNestingAndNamesTooLong) {
  Mount("a", kMiB);
  Put("d/" + std::string(4000, 'x'), 1);
  EXPECT_EQ(RenamePrefix("d/", "d/e/").code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(RenamePrefix("d/", "d").code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(RenamePrefix("d/", "").code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(RenamePrefix("d/", std::string(100, 'n')).code(), ErrorCode::kInvalidKey);
}

}  // namespace
}  // namespace mooncake::core

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
  EXPECT_EQ(RenamePrefix("n/", "n/").value_or(0), 3u);
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

#include "tests/unit/master/core/core_fixture.h"

namespace mooncake::core {
namespace {

using Groups = CoreTest;
using Pins = CoreTest;

TEST_F(Groups, AReadLeasesEveryMember) {
  Mount("a", kMiB);
  Put("g0", 1, {.group = "g"});
  Put("g1", 1, {.group = "g"});
  ASSERT_TRUE(Get("g0").ok());
  EXPECT_EQ(Remove("g1").code(), ErrorCode::kObjectHasLease);
  Put("g2", 1, {.group = "g"});  // new members are covered at once
  EXPECT_EQ(Remove("g2").code(), ErrorCode::kObjectHasLease);
  Advance(Seconds(10));
  EXPECT_EQ(Remove("g1"), Status::Ok());
}

TEST_F(Groups, RemovingAMemberKeepsTheOthersAndTheLastDropsTheGroup) {
  Mount("a", kMiB);
  Put("g0", 1, {.group = "g"});
  Put("g1", 1, {.group = "g"});
  EXPECT_EQ(Remove("g0"), Status::Ok());
  EXPECT_TRUE(Exists("g1"));
  EXPECT_EQ(core().GetCounters().groups, 1u);
  EXPECT_EQ(Remove("g1"), Status::Ok());
  EXPECT_EQ(core().GetCounters().groups, 0u);
  Put("g0", 1);
  EXPECT_EQ(core().Stat(now_, Name("g0")).value_or({}).group, "");
}

TEST_F(Groups, AKeyRemovedInAnyWayMayComeBackWithoutItsGroup) {
  Mount("a", kMiB);
  const auto stat_group = [&] { return core().Stat(now_, Name("k")).value_or({}).group; };
  Put("k", 1, {.group = "g"});
  EXPECT_EQ(core().RemoveByRegex(now_, {.pattern = "^k$"}).value_or({}).removed, 1u);
  Put("k", 1);
  EXPECT_EQ(stat_group(), "");
  EXPECT_EQ(Remove("k"), Status::Ok());
  Put("k", 1, {.group = "h"});
  EXPECT_EQ(stat_group(), "h");
  EXPECT_EQ(core().RemoveAll(now_, kDefaultTenant, false).value_or(0), 1u);
  EXPECT_EQ(core().GetCounters().groups, 0u);
}

TEST_F(Groups, BelongToATenant) {
  Mount("a", kMiB);
  Put("k", 1, {.group = "g"});
  const auto start = core().PutStart(
      now_, {.client = kWriter, .name = {"t", "k"}, .size = 1, .config = {.group = "g"}});
  ASSERT_TRUE(start.ok());
  EXPECT_EQ(core().PutEnd(now_, 0, {kWriter, {"t", "k"}, start.value().put_id, {}}), Status::Ok());
  ASSERT_TRUE(Get("k").ok());
  EXPECT_EQ(core().Remove(now_, {"t", "k"}, false), Status::Ok());
}

TEST_F(Pins, AreCheckedAtPutStart) {
  Mount("a", kMiB);
  struct Case {
    SoftPinAction action;
    std::optional<Duration> ttl;
    ErrorCode code;
  };
  const Case cases[] = {
      {SoftPinAction::kPreserve, Seconds(1), ErrorCode::kInvalidParams},
      {SoftPinAction::kDisable, Seconds(1), ErrorCode::kInvalidParams},
      {SoftPinAction::kEnable, Seconds(86401), ErrorCode::kInvalidParams},
      {SoftPinAction::kEnable, Seconds(-1), ErrorCode::kInvalidParams},
      {static_cast<SoftPinAction>(9), std::nullopt, ErrorCode::kInvalidParams},
      {SoftPinAction::kEnable, Seconds(86400), ErrorCode::kOk},
      {SoftPinAction::kDisable, std::nullopt, ErrorCode::kOk},
  };
  int i = 0;
  for (const Case& c : cases) {
    EXPECT_EQ(
        Start("k" + std::to_string(++i), 1, {.soft_pin = c.action, .soft_pin_ttl = c.ttl}).code(),
        c.code)
        << i;
  }
}

TEST_F(Pins, ATtlOfZeroIsNoPin) {
  Mount("a", kMiB);
  Put("k", 1, {.soft_pin = SoftPinAction::kEnable, .soft_pin_ttl = Duration::zero()});
  EXPECT_EQ(core().GetCounters().soft_pinned_objects, 0u);
}

TEST_F(Pins, AreCommittedAtEndAndNotRefreshedByReads) {
  Mount("a", kMiB);
  const auto start = Start("k", 1, {.soft_pin = SoftPinAction::kEnable});
  EXPECT_EQ(core().GetCounters().soft_pinned_objects, 0u);
  Advance(Seconds(20));
  EXPECT_EQ(End("k", start.value_or({}).put_id), Status::Ok());
  EXPECT_EQ(core().Stat(now_, Name("k")).value_or({}).soft_pin_left, options_.soft_pin_ttl);
  Advance(Seconds(20));
  EXPECT_EQ(End("k", start.value_or({}).put_id), Status::Ok());
  ASSERT_TRUE(Get("k").ok());
  EXPECT_EQ(core().Stat(now_, Name("k")).value_or({}).soft_pin_left,
            options_.soft_pin_ttl - Seconds(20));
}

TEST_F(Pins, ExpireOneByOne) {
  Mount("a", kMiB);
  Put("short", 1, {.soft_pin = SoftPinAction::kEnable, .soft_pin_ttl = Seconds(10)});
  Put("long", 1, {.soft_pin = SoftPinAction::kEnable, .soft_pin_ttl = Seconds(20)});
  Advance(Seconds(10));
  TickAll();
  EXPECT_EQ(core().GetCounters().soft_pinned_objects, 1u);
  ASSERT_TRUE(Get("short").ok());  // does not revive it
  EXPECT_EQ(core().Stat(now_, Name("short")).value_or({}).soft_pin_left, Duration::zero());
  EXPECT_EQ(core().Stat(now_, Name("long")).value_or({}).soft_pin_left, Seconds(10));
}

TEST_F(Pins, PinnedObjectsCanBeRemoved) {
  Mount("a", kMiB);
  Put("soft", 1, {.soft_pin = SoftPinAction::kEnable});
  Put("hard", 1, {.hard_pin = true});
  EXPECT_EQ(Remove("soft"), Status::Ok());
  EXPECT_EQ(Remove("hard"), Status::Ok());
  EXPECT_EQ(core().GetCounters().soft_pinned_objects, 0u);
  EXPECT_EQ(core().GetCounters().hard_pinned_objects, 0u);
}

TEST_F(Pins, CanBeSetAndEndedAfterwards) {
  Mount("a", kMiB);
  Put("k", 1);
  const auto stat = [&] { return core().Stat(now_, Name("k")).value_or({}); };
  const auto set = [&](SetPinArgs args) {
    args.name = Name("k");
    return core().SetPin(now_, args);
  };
  EXPECT_EQ(set({.soft = SoftPinAction::kEnable, .soft_ttl = Seconds(9)}), Status::Ok());
  EXPECT_EQ(stat().soft_pin_left, Seconds(9));
  EXPECT_EQ(set({.hard = true}), Status::Ok());
  EXPECT_TRUE(stat().hard_pin);
  EXPECT_EQ(stat().soft_pin_left, Seconds(9)) << "what is not said stays";
  EXPECT_EQ(set({.soft = SoftPinAction::kEnable}), Status::Ok());
  EXPECT_EQ(stat().soft_pin_left, options_.soft_pin_ttl);
  EXPECT_EQ(set({.soft = SoftPinAction::kDisable, .hard = false}), Status::Ok());
  EXPECT_EQ(stat().soft_pin_left, Duration::zero());
  EXPECT_FALSE(stat().hard_pin);
  EXPECT_EQ(core().GetCounters().soft_pinned_objects, 0u);
  EXPECT_EQ(core().GetCounters().hard_pinned_objects, 0u);
}

TEST_F(Pins, SetAfterwardsAreCheckedAsThoseOfAPut) {
  Mount("a", kMiB);
  Put("k", 1);
  const SetPinArgs refused[] = {
      {Name("k"), SoftPinAction::kDisable, Seconds(1), {}},
      {Name("k"), SoftPinAction::kEnable, Seconds(86401), {}},
      {Name("k"), static_cast<SoftPinAction>(9), {}, {}},
  };
  for (const SetPinArgs& args : refused)
    EXPECT_EQ(core().SetPin(now_, args).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(core().SetPin(now_, {.name = Name("none")}).code(), ErrorCode::kObjectNotFound);
  EXPECT_EQ(core().SetPin(now_, {.name = Name("")}).code(), ErrorCode::kInvalidKey);
}

// A write in progress takes the object out of the queues; it must not be put back by a pin, and the pin counts after a revoke.
TEST_F(Pins, SetWhileAWriteIsInProgressCount) {
  Mount("a", kMiB);
  Put("k", 1);
  const auto start = Start("k", 1, {}, WriteMode::kReplace);
  ASSERT_TRUE(start.ok()) << start.status();
  EXPECT_EQ(core().SetPin(now_, {.name = Name("k"), .hard = true}), Status::Ok());
  EXPECT_EQ(core().CheckInvariants(now_).value_or(""), "");
  EXPECT_EQ(core().PutRevoke(now_, {kWriter, Name("k"), start->put_id, true}), Status::Ok());
  EXPECT_EQ(core().SetPin(now_, {.name = Name("k"), .hard = false}), Status::Ok());
  EXPECT_EQ(core().CheckInvariants(now_).value_or(""), "");
}

}  // namespace
}  // namespace mooncake::core

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

}  // namespace
}  // namespace mooncake::core

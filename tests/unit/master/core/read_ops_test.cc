#include "tests/unit/master/core/core_fixture.h"

namespace mooncake::core {
namespace {

using Reads = CoreTest;

TEST_F(Reads, AMissingKeyIsNotFoundAndDoesNotExist) {
  EXPECT_EQ(Get("k").code(), ErrorCode::kObjectNotFound);
  EXPECT_EQ(core().Stat(now_, Name("k")).code(), ErrorCode::kObjectNotFound);
  EXPECT_FALSE(Exists("k"));
  EXPECT_EQ(Remove("k").code(), ErrorCode::kObjectNotFound);
}

TEST_F(Reads, GetGrantsALeaseAndStatDoesNot) {
  Mount("a", kMiB);
  Put("k", 1);
  EXPECT_EQ(core().Stat(now_, Name("k")).value_or({}).lease_left, Duration::zero());
  EXPECT_EQ(Get("k").value_or({}).lease, Seconds(10));
  Advance(Seconds(4));
  EXPECT_EQ(core().Stat(now_, Name("k")).value_or({}).lease_left, Seconds(6));
  EXPECT_EQ(Get("k").value_or({}).lease, Seconds(10));
}

TEST_F(Reads, ExistGrantsALeaseOnlyWhenAsked) {
  Mount("a", kMiB);
  Put("k", 1);
  EXPECT_TRUE(core().ExistKey(now_, Name("k"), false).value_or(false));
  EXPECT_EQ(core().GetCounters().leases_granted, 0u);
  EXPECT_TRUE(core().ExistKey(now_, Name("k"), true).value_or(false));
  EXPECT_EQ(Remove("k").code(), ErrorCode::kObjectHasLease);
}

TEST_F(Reads, RenewExtendsExactlyTheVersionThatWasRead) {
  Mount("a", kMiB);
  const PutId id = Put("k", 1);
  EXPECT_EQ(core().RenewLease(now_, {Name("k"), PutId{id.value + 1}}).code(),
            ErrorCode::kObjectNotFound);
  ASSERT_TRUE(Get("k").ok());
  Advance(Seconds(9));
  EXPECT_EQ(core().RenewLease(now_, {Name("k"), id}).value_or({}), Seconds(10));
  Advance(Seconds(9));
  EXPECT_EQ(Remove("k").code(), ErrorCode::kObjectHasLease);
}

TEST_F(Reads, ARemovedLeasedVersionIsRenewedUntilItsLeaseEnds) {
  Mount("a", kMiB);
  const PutId id = Put("k", 1000);
  ASSERT_TRUE(Get("k").ok());
  EXPECT_EQ(Remove("k", true), Status::Ok());
  EXPECT_FALSE(Exists("k"));
  for (int i = 0; i < 5; ++i) {
    Advance(Seconds(9));
    TickAll();
    EXPECT_TRUE(core().RenewLease(now_, {Name("k"), id}).ok());
  }
  Advance(Seconds(10));
  EXPECT_EQ(core().RenewLease(now_, {Name("k"), id}).code(), ErrorCode::kObjectNotFound);
  TickAll();
  EXPECT_EQ(Used(), 0u);
}

TEST_F(Reads, SetAttributesChecksTheVersion) {
  Mount("a", kMiB);
  const PutId id = Put("k", 1);
  const ObjectAttributes attributes{.mode = 0600};
  EXPECT_EQ(core().SetAttributes(now_, Name("k"), PutId{1}, attributes).code(),
            ErrorCode::kInvalidVersion);
  EXPECT_EQ(core().SetAttributes(now_, Name("none"), kNoPut, attributes).code(),
            ErrorCode::kObjectNotFound);
  EXPECT_EQ(core().SetAttributes(now_, Name("k"), id, attributes), Status::Ok());
  EXPECT_EQ(core().Stat(now_, Name("k")).value_or({}).attributes, attributes);
  EXPECT_EQ(core().SetAttributes(now_, Name("k"), kNoPut, {}), Status::Ok());
}

TEST_F(Reads, TenantsDoNotSeeEachOther) {
  Mount("a", kMiB);
  Put("k", 1);
  EXPECT_EQ(core().GetReplicaList(now_, {"other", "k"}).code(), ErrorCode::kObjectNotFound);
  const auto start = core().PutStart(now_, {.client = kWriter, .name = {"other", "k"}, .size = 2});
  ASSERT_TRUE(start.ok());
  EXPECT_EQ(core().PutEnd(now_, 0, {kWriter, {"other", "k"}, start.value().put_id, {}}),
            Status::Ok());
  EXPECT_EQ(core().Stat(now_, {"other", "k"}).value_or({}).size, 2u);
  EXPECT_EQ(core().Stat(now_, {"", "k"}).value_or({}).size, 1u);  // "" is the default tenant
}

TEST_F(Reads, OfUnmountedSegmentsVanishAtOnce) {
  const auto a = Mount("a", kMiB);
  Put("k", 1000);
  ASSERT_TRUE(Get("k").ok());
  Unmount(a);
  EXPECT_EQ(Get("k").code(), ErrorCode::kObjectNotFound);
  EXPECT_FALSE(Exists("k"));
  EXPECT_TRUE(Keys().empty());
  EXPECT_EQ(Used(), 0u);
  Mount("b", kMiB);
  Put("k", 5);  // before any clean-up
  EXPECT_EQ(Get("k").value_or({}).size, 5u);
}

TEST_F(Reads, GoOnWithTheReplicaThatIsLeft) {
  const auto a = Mount("a", kMiB);
  Mount("b", kMiB);
  Put("k", 1000, {.replica_num = 2});
  EXPECT_EQ(Get("k").value_or({}).replicas.size(), 2u);
  Unmount(a);
  EXPECT_EQ(Get("k").value_or({}).replicas.size(), 1u);
  TickAll();
  EXPECT_EQ(Get("k").value_or({}).replicas.size(), 1u);
  EXPECT_EQ(core().GetCounters().under_replicated_objects, 1u);
}

}  // namespace
}  // namespace mooncake::core

#include "master/core/quota.h"

#include <algorithm>
#include <numeric>

#include "tests/unit/master/core/core_fixture.h"
#include "transfer/base/seal.h"

namespace mooncake::core {
namespace {

constexpr uint64_t kValue = 4096 - 64;  // one object occupies 4096 bytes
constexpr uint64_t kCharge = 4096;

TEST(SharesOfCapacity, AreWhatWasAskedForWhileItIsThere) {
  const std::vector<uint64_t> asked = {10, 20, 30};
  EXPECT_EQ(SharesOf(60, asked), asked);
  EXPECT_EQ(SharesOf(1000, asked), asked);
  EXPECT_EQ(SharesOf(0, {}), std::vector<uint64_t>{});
}

TEST(SharesOfCapacity, AreProportionalWithTheRestToTheLargestRemainders) {
  EXPECT_EQ(SharesOf(30, std::vector<uint64_t>{10, 20, 30}), (std::vector<uint64_t>{5, 10, 15}));
  // 10 * {1, 1, 1} / 3: ties go to the first.
  EXPECT_EQ(SharesOf(10, std::vector<uint64_t>{7, 7, 7}), (std::vector<uint64_t>{4, 3, 3}));
  // 5 * {1, 2, 4} / 7 = 0.71, 1.43, 2.86: the last and the first get one more.
  EXPECT_EQ(SharesOf(5, std::vector<uint64_t>{1, 2, 4}), (std::vector<uint64_t>{1, 1, 3}));
  EXPECT_EQ(SharesOf(0, std::vector<uint64_t>{5, 6}), (std::vector<uint64_t>{0, 0}));
}

TEST(SharesOfCapacity, DoNotOverflow) {
  const std::vector<uint64_t> asked(5, kMaxQuotaBytes);
  const std::vector<uint64_t> shares = SharesOf(uint64_t{1} << 60, asked);
  EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), uint64_t{0}), uint64_t{1} << 60);
  EXPECT_EQ(shares.front() - shares.back(), 1u);
}

class Quotas : public CoreTest {
 protected:
  Quotas() {
    options_.multi_tenants = true;
    options_.lease_ttl = Seconds(5);
  }

  static ObjectName Of(const std::string& tenant, const std::string& key) { return {tenant, key}; }
  Result<PutStartReply> StartFor(const std::string& tenant, const std::string& key, uint64_t size,
                                 const ReplicateConfig& config = {},
                                 WriteMode mode = WriteMode::kReplace) {
    return core().PutStart(now_, {kWriter, Of(tenant, key), size, mode, config, kNoPut});
  }
  Status EndFor(const std::string& tenant, const std::string& key, PutId id) {
    return core().PutEnd(now_, 1, {kWriter, Of(tenant, key), id, std::nullopt});
  }
  Status PutFor(const std::string& tenant, const std::string& key, uint64_t size,
                const ReplicateConfig& config = {}) {
    const auto start = StartFor(tenant, key, size, config);
    if (!start.ok()) return start.status();
    return EndFor(tenant, key, start->put_id);
  }
  // Nothing that is read just now can be evicted.
  void Lease(const std::string& tenant, const std::string& key) {
    ASSERT_TRUE(core().GetReplicaList(now_, Of(tenant, key)).ok());
  }
  uint64_t Charged(const std::string& tenant) {
    return core().GetQuota(tenant).value_or(TenantQuota{}).charged;
  }
  uint64_t Effective(const std::string& tenant) { return core().GetQuota(tenant)->effective; }
  void SetQuota(const std::string& tenant, uint64_t bytes) {
    ASSERT_TRUE(core().SetQuota(tenant, bytes).ok());
  }
};

TEST_F(Quotas, WithoutOneATenantMayNotWrite) {
  Mount("a", kMiB);
  EXPECT_EQ(PutFor("t", "k", kValue).code(), ErrorCode::kTenantNotRegistered);
  EXPECT_EQ(PutFor("", "k", kValue).code(), ErrorCode::kTenantNotRegistered)
      << "the default tenant";
  EXPECT_EQ(PutFor("t", "empty", 0).code(), ErrorCode::kTenantNotRegistered);
  EXPECT_EQ(core().GetCounters().unregistered_rejections, 3u);
  EXPECT_EQ(core().GetReplicaList(now_, Of("t", "k")).code(), ErrorCode::kObjectNotFound);
  EXPECT_EQ(core().GetQuota("t").code(), ErrorCode::kTenantNotRegistered)
      << "nothing is left of it";
}

TEST_F(Quotas, AreAnsweredOnlyInTheirMode) {
  options_.multi_tenants = false;
  Mount("a", kMiB);
  EXPECT_EQ(core().SetQuota("t", 1).code(), ErrorCode::kUnavailableInCurrentMode);
  EXPECT_EQ(core().ListQuotas("", 10).code(), ErrorCode::kUnavailableInCurrentMode);
  EXPECT_EQ(core().CloseQuota("t").code(), ErrorCode::kUnavailableInCurrentMode);
  EXPECT_EQ(PutFor("t", "k", kValue), Status::Ok());
}

// F077: what is really allocated counts, seal and rounding included.
TEST_F(Quotas, AreExactAtTheEdge) {
  Mount("a", kMiB);
  SetQuota("t", 2 * kCharge);
  ASSERT_EQ(PutFor("t", "a", kValue), Status::Ok());
  Lease("t", "a");
  EXPECT_EQ(StartFor("t", "b", kValue + 1).code(), ErrorCode::kTenantQuotaExceeded);
  ASSERT_EQ(PutFor("t", "b", kValue), Status::Ok()) << "to the byte";
  Lease("t", "b");
  EXPECT_EQ(Charged("t"), 2 * kCharge);
  EXPECT_EQ(StartFor("t", "c", 1).code(), ErrorCode::kTenantQuotaExceeded);
  EXPECT_EQ(StartFor("t", "b", kValue + 1).code(), ErrorCode::kTenantQuotaExceeded)
      << "an upsert that grows";
  EXPECT_EQ(PutFor("t", "empty", 0), Status::Ok()) << "no bytes, no charge";
  EXPECT_EQ(core().GetQuota("t")->rejected, 3u);
  EXPECT_EQ(Charged("t"), 2 * kCharge);
}

TEST_F(Quotas, ChargeEachReplicaThatWasPlaced) {
  Mount("a", kMiB);
  Mount("b", kMiB);
  SetQuota("t", 3 * kCharge);
  ASSERT_EQ(PutFor("t", "two", kValue, {.replica_num = 2}), Status::Ok());
  EXPECT_EQ(Charged("t"), 2 * kCharge);
  // Three are asked for and two segments there: admission counts three, the books two.
  EXPECT_EQ(StartFor("t", "three", kValue, {.replica_num = 3}).ok(), true) << "two gives way";
  EXPECT_EQ(Charged("t"), 2 * kCharge);
}

TEST_F(Quotas, AreFreeAgainHoweverAWriteEnds) {
  Mount("a", kMiB);
  SetQuota("t", kCharge);
  auto start = StartFor("t", "k", kValue);
  ASSERT_TRUE(start.ok());
  EXPECT_EQ(Charged("t"), kCharge);
  EXPECT_EQ(StartFor("t", "other", kValue).code(), ErrorCode::kTenantQuotaExceeded);
  ASSERT_EQ(core().PutRevoke(now_, {kWriter, Of("t", "k"), start->put_id, true}), Status::Ok());
  EXPECT_EQ(Charged("t"), 0u);

  // Revoked while bytes may still arrive: charged until nobody can write.
  start = StartFor("t", "k", kValue);
  ASSERT_EQ(core().PutRevoke(now_, {kWriter, Of("t", "k"), start->put_id, false}), Status::Ok());
  EXPECT_EQ(Charged("t"), kCharge);
  Advance(options_.put_start_release_timeout + Seconds(1));
  TickAll();
  EXPECT_EQ(Charged("t"), 0u);

  // The writer is gone.
  ASSERT_TRUE(StartFor("t", "k", kValue).ok());
  Advance(options_.put_start_release_timeout + Seconds(1));
  TickAll();
  EXPECT_EQ(Charged("t"), 0u);
}

// F076: each way in which an object goes.
TEST_F(Quotas, ReachExactlyZeroAfterCleaningUp) {
  const SegmentDescriptor a = Mount("a", kMiB);
  SetQuota("t", 64 * kCharge);
  for (int i = 0; i < 50; ++i)
    ASSERT_EQ(PutFor("t", "k" + std::to_string(i), 100 + 70 * static_cast<uint64_t>(i)),
              Status::Ok());
  EXPECT_EQ(Charged("t"), Used());
  for (int i = 0; i < 10; ++i)
    ASSERT_EQ(core().Remove(now_, Of("t", "k" + std::to_string(i)), false), Status::Ok());
  EXPECT_EQ(Charged("t"), Used());
  ASSERT_TRUE(core().RemoveByRegex(now_, {.tenant = "t", .pattern = "^k1"}).ok());
  EXPECT_EQ(Charged("t"), Used());
  ASSERT_EQ(core().ClearReplicas(now_, Of("t", "k20"), "a"), Status::Ok());
  core().Evict(now_, 3000, 100);
  EXPECT_EQ(Charged("t"), Used());
  Lease("t", "k40");
  ASSERT_EQ(core().Remove(now_, Of("t", "k40"), true), Status::Ok());
  EXPECT_EQ(Charged("t"), Used()) << "it has no name, but its reader holds its bytes";
  ASSERT_TRUE(core().RemoveAll(now_, "t", true).ok());
  EXPECT_GT(Charged("t"), 0u);
  EXPECT_EQ(core().CloseQuota("t").code(), ErrorCode::kTenantNotEmpty);
  Advance(Seconds(6));
  TickAll();
  EXPECT_EQ(Charged("t"), 0u);
  EXPECT_EQ(Used(), 0u);

  // A node's death is a refund at once, before anything is swept.
  ASSERT_EQ(PutFor("t", "k", kValue), Status::Ok());
  Lease("t", "k");
  Unmount(a);
  EXPECT_EQ(Charged("t"), 0u);
  TickAll();
  ASSERT_TRUE(core().CloseQuota("t").ok());
  core().DropQuota("t");
  EXPECT_EQ(core().GetQuota("t").code(), ErrorCode::kTenantNotRegistered);
}

TEST_F(Quotas, AnUpsertChargesBothValuesUntilItEnds) {
  Mount("a", kMiB);
  SetQuota("t", 3 * kCharge);
  ASSERT_EQ(PutFor("t", "k", kValue), Status::Ok());
  const auto start = StartFor("t", "k", 2 * kCharge - 64);
  ASSERT_TRUE(start.ok());
  EXPECT_EQ(Charged("t"), 3 * kCharge);
  ASSERT_EQ(EndFor("t", "k", start->put_id), Status::Ok());
  EXPECT_EQ(Charged("t"), 2 * kCharge);
  // One more of that size does not fit beside the old value, which may not be evicted for it.
  EXPECT_EQ(StartFor("t", "k", 2 * kCharge - 64).code(), ErrorCode::kTenantQuotaExceeded);
  EXPECT_TRUE(core().GetReplicaList(now_, Of("t", "k")).ok());
}

TEST_F(Quotas, AtTheEdgeTheTenantsOwnColdObjectsGo) {
  Mount("a", kMiB);
  SetQuota("t", 10 * kCharge);
  SetQuota("u", 10 * kCharge);
  for (int i = 0; i < 5; ++i)
    ASSERT_EQ(PutFor("u", "older" + std::to_string(i), kValue), Status::Ok());
  for (int i = 0; i < 30; ++i) {
    Advance(Millis(1));
    ASSERT_EQ(PutFor("t", "k" + std::to_string(i), kValue), Status::Ok()) << i;
  }
  EXPECT_EQ(Charged("t"), 10 * kCharge);
  EXPECT_EQ(Charged("u"), 5 * kCharge) << "nobody else pays for it";
  EXPECT_EQ(core().GetQuota("t")->evicted_bytes, 20 * kCharge);
  for (int i = 20; i < 30; ++i)
    EXPECT_TRUE(core().ExistKey(now_, Of("t", "k" + std::to_string(i)), false).value()) << i;
}

TEST_F(Quotas, SoftPinnedObjectsGoWhenNothingElseIsLeft) {
  Mount("a", kMiB);
  SetQuota("t", 4 * kCharge);
  const ReplicateConfig soft = {.soft_pin = SoftPinAction::kEnable};
  const ReplicateConfig hard = {.hard_pin = true};
  ASSERT_EQ(PutFor("t", "soft", kValue, soft), Status::Ok());
  ASSERT_EQ(PutFor("t", "hard", kValue, hard), Status::Ok());
  ASSERT_EQ(PutFor("t", "plain", kValue), Status::Ok());
  ASSERT_EQ(PutFor("t", "leased", kValue), Status::Ok());
  Lease("t", "leased");
  ASSERT_EQ(PutFor("t", "x", kValue, hard), Status::Ok());
  EXPECT_FALSE(core().ExistKey(now_, Of("t", "plain"), false).value());
  EXPECT_TRUE(core().ExistKey(now_, Of("t", "soft"), false).value());
  ASSERT_EQ(PutFor("t", "y", kValue, hard), Status::Ok());
  EXPECT_FALSE(core().ExistKey(now_, Of("t", "soft"), false).value());
  EXPECT_EQ(StartFor("t", "z", kValue).code(), ErrorCode::kTenantQuotaExceeded);
  EXPECT_TRUE(core().ExistKey(now_, Of("t", "leased"), false).value());
}

TEST_F(Quotas, WhatCannotBeEvictedAtOnceIsEvictedInTheBackground) {
  options_.inline_eviction_limit = 20;
  Mount("a", 16 * kMiB);
  SetQuota("t", 1000 * kCharge);
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(PutFor("t", "k" + std::to_string(i), kValue), Status::Ok());
  const Status refused = StartFor("t", "large", 500 * kCharge).status();
  EXPECT_EQ(refused.code(), ErrorCode::kTenantQuotaExceeded);
  EXPECT_NE(refused.message().find("try again"), std::string::npos) << refused;
  TickAll();
  EXPECT_EQ(PutFor("t", "large", 500 * kCharge), Status::Ok());
  EXPECT_LE(Charged("t"), 1000 * kCharge);
  EXPECT_EQ(StartFor("t", "too large", 1000 * kCharge).code(), ErrorCode::kTenantQuotaExceeded);
  const uint64_t left = core().GetQuota("t")->objects;
  TickAll();
  EXPECT_EQ(core().GetQuota("t")->objects, left) << "nothing goes for what can never fit";
}

TEST_F(Quotas, FollowTheCapacity) {
  const SegmentDescriptor a = Mount("a", 8 * kMiB);
  Mount("b", 4 * kMiB);
  SetQuota("t", 8 * kMiB);
  SetQuota("u", 4 * kMiB);
  EXPECT_EQ(Effective("t"), 8 * kMiB);
  ASSERT_EQ(PutFor("t", "k", 3 * kMiB, {.preferred_segments = {"b"}}), Status::Ok());
  Unmount(a);
  EXPECT_EQ(Effective("u"), 4 * kMiB / 3);
  EXPECT_EQ(Effective("t"), 8 * kMiB / 3 + 1) << "its remainder is the larger one";
  const auto over = core().GetQuota("t");
  EXPECT_TRUE(over->over_quota());
  EXPECT_EQ(PutFor("t", "empty", 0), Status::Ok()) << "being over blocks bytes only";
  Mount("c", 8 * kMiB);
  EXPECT_EQ(Effective("t"), 8 * kMiB);
}

TEST_F(Quotas, DeletingOneNeedsAnEmptyTenantAndClosesItFirst) {
  Mount("a", kMiB);
  SetQuota("t", kMiB);
  EXPECT_EQ(core().CloseQuota("nobody").code(), ErrorCode::kTenantNotRegistered);
  ASSERT_EQ(PutFor("t", "k", kValue), Status::Ok());
  EXPECT_EQ(core().CloseQuota("t").code(), ErrorCode::kTenantNotEmpty);
  ASSERT_EQ(PutFor("t", "k2", kValue), Status::Ok()) << "a refused deletion closes nothing";
  ASSERT_TRUE(core().RemoveAll(now_, "t", false).ok());
  ASSERT_TRUE(core().CloseQuota("t").ok());
  EXPECT_EQ(PutFor("t", "k", kValue).code(), ErrorCode::kTenantNotRegistered);
  core().ReopenQuota("t");
  EXPECT_EQ(PutFor("t", "k", kValue), Status::Ok());
}

TEST_F(Quotas, OrphansAreListedAndCanDrain) {
  options_.durability = Durability::kAsync;
  Mount("a", kMiB);
  core().LogDurable(1);
  SetQuota("t", kMiB);
  ASSERT_EQ(PutFor("t", "k", kValue), Status::Ok());
  Restorer restorer;
  for (const LogRecord& record : core().TakeLog()) restorer.Apply(record.record);
  MetadataCore next(options_, Term{6}, 1);
  next.Restore(now_, restorer, {.sequence = 10});
  const auto orphan = next.GetQuota("t");
  ASSERT_TRUE(orphan.ok());
  EXPECT_EQ(orphan->charged, kCharge);
  EXPECT_EQ(orphan->requested, 0u);
  EXPECT_TRUE(orphan->admission_closed);
  EXPECT_EQ(next.ListQuotas("", 10)->quotas.size(), 1u);
  EXPECT_EQ(next.CheckInvariants(now_).value_or(""), "");
  EXPECT_EQ(next.Remove(now_, Of("t", "k"), true), Status::Ok());
}

TEST_F(Quotas, AreListedInPages) {
  Mount("a", kMiB);
  for (const char* tenant : {"c", "a", "b"}) SetQuota(tenant, 1000);
  auto page = core().ListQuotas("", 2);
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->quotas.size(), 2u);
  EXPECT_EQ(page->quotas[1].tenant, "b");
  EXPECT_TRUE(page->truncated);
  page = core().ListQuotas("b", 2);
  ASSERT_EQ(page->quotas.size(), 1u);
  EXPECT_EQ(page->quotas[0].tenant, "c");
  EXPECT_FALSE(page->truncated);
  EXPECT_EQ(core().ListQuotas("", 0).code(), ErrorCode::kInvalidParams);
}

TEST_F(Quotas, ThatMakeNoSenseAreRefused) {
  Mount("a", kMiB);
  EXPECT_EQ(core().SetQuota("t", 0).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(core().SetQuota("t", kMaxQuotaBytes + 1).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(core().SetQuota("", 1).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(core().SetQuota(std::string(kMaxTenantBytes + 1, 'x'), 1).code(),
            ErrorCode::kInvalidParams);
}

}  // namespace
}  // namespace mooncake::core

// The service on a state store: what a restart keeps, what answers wait for, and what a full disk does.
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "master/server/master_service.h"
#include "tests/support/memory_state_store.h"
#include "tests/support/wait.h"
#include "transfer/base/clock.h"
#include "transfer/base/seal.h"

namespace mooncake {
namespace {

class MasterDurabilityTest : public ::testing::Test {
 protected:
  MasterDurabilityTest() { options_.log.retry_every = Millis(1); }

  void Start(core::Durability mode = core::Durability::kSync) {
    options_.core.durability = mode;
    auto made = MasterService::Create(options_, SystemClock(),
                                      std::make_unique<testing::MemoryStateStore>(disk_));
    ASSERT_TRUE(made.ok()) << made.message();
    service_ = std::move(made).value();
    ASSERT_TRUE(service_->Ping(node_, "node", Soon()).ok());
    SegmentDescriptor segment;
    segment.id = {7, 1};
    segment.name = "segment";
    segment.size = kSegment;
    segment.epoch = AccessEpoch{++epoch_};
    segment.owner = node_;
    segment.protocol = "tcp";
    segment.endpoint = "h:1";
    ASSERT_EQ(service_->ReMountSegments(node_, {&segment, 1}, 0, Soon()), Status::Ok());
    // The mount has first to be in the log.
    ASSERT_TRUE(testing::Eventually(
        [&] { return service_->GetSegments({}, Soon()).value()[0].status == SegmentStatus::kOk; }));
  }
  // What a crash leaves: nothing but the disk.
  void Restart(core::Durability mode = core::Durability::kSync) {
    service_.reset();
    Start(mode);
  }
  Status Put(const std::string& key, uint64_t size = 100, Duration patience = Seconds(30)) {
    const TimePoint deadline = SystemClock().Now() + patience;
    const PutStartArgs start{client_, {kDefaultTenant, key}, size, WriteMode::kReplace};
    auto started = service_->BatchPutStart({&start, 1}, deadline);
    if (!started[0].ok()) return started[0].status();
    const PutEndArgs end{client_, {kDefaultTenant, key}, started[0]->put_id, std::nullopt};
    last_put_ = started[0]->put_id;
    return service_->BatchPutEnd({&end, 1}, deadline)[0];
  }
  Status Remove(const std::string& key, Duration patience = Seconds(30)) {
    const ObjectName name{kDefaultTenant, key};
    return service_->BatchRemove({&name, 1}, true, SystemClock().Now() + patience)[0];
  }
  Result<ReplicaList> Get(const std::string& key, Duration patience = Seconds(30)) {
    const ObjectName name{kDefaultTenant, key};
    return service_->BatchGetReplicaList({&name, 1}, SystemClock().Now() + patience)[0];
  }
  static TimePoint Soon() { return SystemClock().Now() + Seconds(30); }

  static constexpr uint64_t kSegment = uint64_t{1} << 20;
  const ClientId node_{8, 1};
  const ClientId client_{9, 9};
  uint64_t epoch_ = 0;
  PutId last_put_;
  MasterServiceOptions options_;
  std::shared_ptr<testing::MemoryDisk> disk_ = std::make_shared<testing::MemoryDisk>();
  std::unique_ptr<MasterService> service_;
};

TEST_F(MasterDurabilityTest, AStoreWithoutADurabilityOrTheOtherWayRoundIsRefused) {
  EXPECT_EQ(
      MasterService::Create({}, SystemClock(), std::make_unique<testing::MemoryStateStore>(disk_))
          .code(),
      ErrorCode::kInvalidParams);
  options_.core.durability = core::Durability::kAsync;
  EXPECT_EQ(MasterService::Create(options_, SystemClock()).code(), ErrorCode::kInvalidParams);
}

TEST_F(MasterDurabilityTest, ARestartKnowsWhatWasPutReplacedAndRemoved) {
  Start();
  ASSERT_EQ(Put("kept"), Status::Ok());
  ASSERT_EQ(Put("gone"), Status::Ok());
  ASSERT_EQ(Put("replaced"), Status::Ok());
  ASSERT_EQ(Put("replaced", 200), Status::Ok());
  const PutId version = last_put_;
  ASSERT_EQ(Remove("gone"), Status::Ok());
  const Term before = service_->term();
  Restart();
  EXPECT_LT(before, service_->term());
  EXPECT_TRUE(Get("kept").ok());
  EXPECT_EQ(Get("gone").code(), ErrorCode::kObjectNotFound);
  ASSERT_TRUE(Get("replaced").ok());
  EXPECT_EQ(Get("replaced")->put_id, version);
  EXPECT_EQ(service_->restored()->state.versions, 2u);
  ASSERT_EQ(Put("new"), Status::Ok());
  EXPECT_LT(version, last_put_) << "put ids go on rising";
}

TEST_F(MasterDurabilityTest, ASnapshotAndTheLogAfterItMakeTheSameState) {
  Start();
  ASSERT_EQ(Put("a"), Status::Ok());
  ASSERT_EQ(Put("b"), Status::Ok());
  const auto taken = service_->TakeSnapshot(Soon());
  ASSERT_TRUE(taken.ok()) << taken.message();
  ASSERT_EQ(Remove("a"), Status::Ok());
  ASSERT_EQ(Put("c"), Status::Ok());
  Restart();
  EXPECT_EQ(service_->restored()->snapshot, taken->id);
  EXPECT_EQ(Get("a").code(), ErrorCode::kObjectNotFound);
  EXPECT_TRUE(Get("b").ok());
  EXPECT_TRUE(Get("c").ok());
}

TEST_F(MasterDurabilityTest, WhatIsUsedAfterARestartIsWhatIsThere) {
  Start();
  for (int i = 0; i < 10; ++i) ASSERT_EQ(Put("k" + std::to_string(i), 1000), Status::Ok());
  const uint64_t used = service_->core_counters().used;
  Restart();
  EXPECT_EQ(service_->core_counters().used, used);
  for (int i = 0; i < 10; ++i) ASSERT_EQ(Remove("k" + std::to_string(i)), Status::Ok());
  // A restored version is leased for one full lease, then its space is free; nothing may wrap.
  EXPECT_LE(service_->core_counters().used, used);
  EXPECT_EQ(service_->core_counters().objects, 0u);
}

// F073.
TEST_F(MasterDurabilityTest, ARestoredStateCanBeEmptiedAndFilledToTheLastByte) {
  options_.core.eviction_high_watermark = options_.core.segment_high_watermark = 1.0;
  options_.core.lease_ttl = Millis(1);
  Start();
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(Put("k" + std::to_string(i), 700), Status::Ok());
  Restart();
  EXPECT_EQ(service_->core_counters().used, 1000 * ExtentFootprint(700));
  ASSERT_TRUE(service_->RemoveAll("", true, Soon()).ok());
  EXPECT_TRUE(testing::Eventually([&] { return service_->core_counters().used == 0; }));
  const core::Counters counters = service_->core_counters();
  for (const uint64_t rest : {counters.objects, counters.held, counters.detached_bytes,
                              service_->GetSegments({}, Soon()).value()[0].used})
    EXPECT_EQ(rest, 0u);
  EXPECT_EQ(Put("all of it", kSegment - kSealBytes), Status::Ok());
  EXPECT_EQ(service_->core_counters().used, kSegment);
}

// F100, with restarts.
TEST_F(MasterDurabilityTest, AfterRestartsCapacityIsExactAndEvictionBeginsAtTheWatermark) {
  options_.core.lease_ttl = Millis(1);
  Start(core::Durability::kAsync);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 10; ++i) ASSERT_EQ(Put("k" + std::to_string(i), 10000), Status::Ok());
    Restart(core::Durability::kAsync);
    EXPECT_EQ(service_->core_counters().capacity, kSegment);
  }
  EXPECT_EQ(service_->core_counters().evicted_objects, 0u);
  for (int i = 0; i < 200; ++i) ASSERT_EQ(Put("l" + std::to_string(i), 10000), Status::Ok()) << i;
  EXPECT_GT(service_->core_counters().evicted_objects, 0u);
  const auto mark =
      static_cast<uint64_t>(options_.core.eviction_high_watermark * static_cast<double>(kSegment));
  EXPECT_TRUE(testing::Eventually([&] { return service_->core_counters().used <= mark; }));
}

TEST_F(MasterDurabilityTest, InSyncModeNothingIsAcknowledgedThatIsNotInTheLog) {
  Start(core::Durability::kSync);
  disk_->SetFull(true);
  const Status status = Put("k", 100, Millis(50));
  EXPECT_EQ(status.code(), ErrorCode::kRpcTimeout);
  EXPECT_NE(status.message().find("no space left"), std::string::npos) << status.message();
  EXPECT_EQ(Get("k", Millis(50)).code(), ErrorCode::kRpcTimeout)
      << "nor shown: a restart could undo it";
  disk_->SetFull(false);
  EXPECT_TRUE(Get("k").ok());
  Restart();
  EXPECT_TRUE(Get("k").ok());
}

TEST_F(MasterDurabilityTest, InAsyncModeANewKeyDoesNotWaitButARemovalDoes) {
  Start(core::Durability::kAsync);
  ASSERT_EQ(Put("old"), Status::Ok());
  disk_->SetFull(true);
  EXPECT_EQ(Put("k", 100, Millis(50)), Status::Ok());
  EXPECT_TRUE(Get("k", Millis(50)).ok());
  EXPECT_EQ(Remove("old", Millis(50)).code(), ErrorCode::kRpcTimeout);
  EXPECT_TRUE(Get("k", Millis(50)).ok()) << "others are not in its way";
  disk_->SetFull(false);
  EXPECT_EQ(Remove("old").code(), ErrorCode::kObjectNotFound);
}

TEST_F(MasterDurabilityTest, APutThatEvictsWaitsForTheSpaceInsteadOfFailing) {
  options_.core.lease_ttl = Millis(1);
  Start(core::Durability::kAsync);
  for (int i = 0; i < 40; ++i)
    ASSERT_EQ(Put("k" + std::to_string(i), kSegment / 8), Status::Ok()) << i;
}

TEST_F(MasterDurabilityTest, WhenTooMuchWaitsForTheDiskNothingNewIsBegun) {
  options_.log.max_waiting = 4;
  Start(core::Durability::kAsync);
  ASSERT_EQ(Put("first"), Status::Ok());
  disk_->SetFull(true);
  Status status;
  for (int i = 0; i < 10 && status.ok(); ++i) status = Put("k" + std::to_string(i));
  EXPECT_EQ(status.code(), ErrorCode::kPersistentFail) << status.message();
  EXPECT_TRUE(Get("first").ok()) << "reading goes on";
  disk_->SetFull(false);
  ASSERT_TRUE(testing::Eventually([&] { return service_->durability()->log.waiting == 0; }));
  EXPECT_EQ(Put("later"), Status::Ok());
}

TEST_F(MasterDurabilityTest, AStopWithAFullDiskIsQuick) {
  Start(core::Durability::kAsync);
  disk_->SetFull(true);
  ASSERT_EQ(Put("k"), Status::Ok());
  service_->BeginShutdown();
  service_.reset();
}

TEST_F(MasterDurabilityTest, AStopEndsTheSnapshotThatSomebodyWaitsFor) {
  Start(core::Durability::kAsync);
  disk_->SetFull(true);
  ASSERT_EQ(Put("k"), Status::Ok());
  Status taken;
  std::thread caller([&] { taken = service_->TakeSnapshot(kNever).status(); });
  service_->BeginShutdown();
  caller.join();
  EXPECT_EQ(taken.code(), ErrorCode::kUnavailableInCurrentStatus) << taken;
}

TEST_F(MasterDurabilityTest, WithoutAStoreThereAreNoSnapshots) {
  auto made = MasterService::Create({}, SystemClock());
  ASSERT_TRUE(made.ok());
  EXPECT_FALSE((*made)->durability().has_value());
}

TEST_F(MasterDurabilityTest, SnapshotsAreListedVerifiedAndCounted) {
  Start();
  EXPECT_FALSE(service_->GetDurability(Soon())->snapshot_age.has_value());
  for (int i = 0; i < 10; ++i) ASSERT_EQ(Put("k" + std::to_string(i)), Status::Ok());
  const auto taken = service_->TakeSnapshot(Soon());
  ASSERT_TRUE(taken.ok()) << taken.message();
  EXPECT_EQ(taken->term, service_->term());
  EXPECT_EQ(taken->trouble, "");
  EXPECT_GE(taken->until, taken->from);
  const auto listed = service_->ListSnapshots(Soon());
  ASSERT_TRUE(listed.ok()) << listed.message();
  EXPECT_EQ(*listed, std::vector<SnapshotDescriptor>{*taken});
  EXPECT_EQ(service_->VerifySnapshot(taken->id, Soon()).value(),
            (SnapshotVerdict{.records = 11, .damaged = 0}))
      << "ten versions and their segment";
  const auto status = service_->GetDurability(Soon());
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(status->sync);
  EXPECT_GE(status->log_durable, taken->until);
  EXPECT_EQ(status->snapshots_taken, 1u);
  EXPECT_TRUE(status->snapshot_age.has_value());
  EXPECT_EQ(service_->counters().of(MasterCall::kTakeSnapshot).requests, 1u);
  EXPECT_EQ(service_->counters().of(MasterCall::kVerifySnapshot).failures, 0u);
}

TEST_F(MasterDurabilityTest, OnlyIdsOfSnapshotsAreLookedFor) {
  Start();
  for (const char* id : {"", "../1", "a", "1.sst", "1234567890123456789012345678901234567890_"})
    EXPECT_EQ(service_->VerifySnapshot(id, Soon()).code(), ErrorCode::kInvalidParams) << id;
  EXPECT_EQ(service_->VerifySnapshot("20260101_000000_000", Soon()).code(),
            ErrorCode::kObjectNotFound);
}

TEST_F(MasterDurabilityTest, TroubleOfTheStorageIsTold) {
  Start(core::Durability::kAsync);
  disk_->SetFull(true);
  ASSERT_EQ(Put("k"), Status::Ok());
  EXPECT_EQ(service_->TakeSnapshot(SystemClock().Now() + Millis(50)).code(), ErrorCode::kRpcTimeout)
      << "it waits for the log";
  EXPECT_EQ(service_->GetDurability(Soon())->snapshots_failed, 0u);
  EXPECT_TRUE(
      testing::Eventually([&] { return !service_->GetDurability(Soon())->log_trouble.empty(); }));
  EXPECT_GT(service_->GetDurability(Soon())->log_waiting, 0u);
  disk_->SetFull(false);
  EXPECT_TRUE(service_->TakeSnapshot(Soon()).ok());
  EXPECT_EQ(service_->GetDurability(Soon())->log_trouble, "");
}

}  // namespace
}  // namespace mooncake

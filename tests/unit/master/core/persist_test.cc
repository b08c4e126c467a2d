// Outcomes in the log, space that waits for it, answers that wait for it, and what a restart makes of it.
#include <gtest/gtest.h>

#include "master/core/object.h"
#include "tests/unit/master/core/core_fixture.h"

namespace mooncake::core {
namespace {

class PersistTest : public CoreTest {
 protected:
  PersistTest() {
    options_.durability = Durability::kAsync;
    options_.client_ttl = Seconds(30);
    options_.lease_ttl = Seconds(10);
  }

  // And durable, so that it takes extents.
  SegmentDescriptor Mount(const std::string& name, uint64_t size) {
    const SegmentDescriptor d = CoreTest::Mount(name, size);
    Sync();
    return d;
  }

  void Write() {
    for (LogRecord& record : core().TakeLog()) log_.push_back(std::move(record));
  }
  uint64_t Last() {
    Write();
    return log_.empty() ? 0 : log_.back().sequence;
  }
  void Sync() { core().LogDurable(Last()); }

  // A core of the next term out of what a restorer made of a snapshot and the log.
  std::unique_ptr<MetadataCore> Restart(std::vector<Record> records, uint64_t after, uint64_t until,
                                        Duration quiet = {}) {
    Restorer restorer;
    for (Record& record : records) restorer.Apply(std::move(record));
    for (const LogRecord& record : log_) {
      if (record.sequence > after && record.sequence <= until) restorer.Apply(record.record);
    }
    auto next = std::make_unique<MetadataCore>(options_, Term{6}, 2);
    report_ = next->Restore(now_, std::move(restorer), {until, options_.lease_ttl, quiet});
    EXPECT_EQ(next->CheckInvariants(now_).value_or(""), "");
    return next;
  }
  std::unique_ptr<MetadataCore> RestartWith(uint64_t until) { return Restart({}, 0, until); }

  static Status ReMount(MetadataCore& core, TimePoint now, SegmentDescriptor d, uint64_t epoch) {
    d.epoch = {epoch};
    return core.ReMountSegments(now, d.owner, std::span(&d, 1));
  }
  // And durable.
  static Status Attach(MetadataCore& next, TimePoint now, const SegmentDescriptor& d,
                       uint64_t epoch) {
    const Status status = ReMount(next, now, d, epoch);
    const std::vector<LogRecord> records = next.TakeLog();
    if (!records.empty()) next.LogDurable(records.back().sequence);
    return status;
  }
  std::vector<Record> Snapshot(uint64_t& from) {
    SnapshotWalk walk = core().StartSnapshot();
    while (!core().Step(now_, walk, 1)) {
    }
    from = walk.from;
    return std::move(walk.records);
  }
  ErrorCode Look(MetadataCore& next, const std::string& key) {
    return next.GetReplicaList(now_, Name(key)).code();
  }

  std::vector<LogRecord> log_;
  RestoreReport report_;
};

TEST_F(PersistTest, NothingIsRecordedWithoutDurability) {
  options_.durability = Durability::kNone;
  CoreTest::Mount("a", kMiB);
  Put("k", 1000);
  EXPECT_EQ(core().AnswerAfter(), 0u);
  EXPECT_TRUE(core().TakeLog().empty());
}

TEST_F(PersistTest, SpaceOfARemovedVersionIsFreeOnlyWhenTheRemovalIsDurable) {
  Mount("a", kMiB);
  Put("k", kMiB / 2 + 1000);
  Sync();
  ASSERT_EQ(Remove("k"), Status::Ok());
  const uint64_t removal = Last();
  EXPECT_EQ(core().AnswerAfter(), removal);
  EXPECT_EQ(Start("l", kMiB / 2 + 1000).code(), ErrorCode::kNoAvailableHandle);
  core().LogDurable(removal - 1);
  EXPECT_GT(core().GetCounters().held, 0u);
  core().LogDurable(removal);
  EXPECT_EQ(core().GetCounters().held, 0u);
  EXPECT_TRUE(Start("l", kMiB / 2 + 1000).ok());
}

TEST_F(PersistTest, EvictionCountsHeldSpaceAsFreedAndDoesNotEvictForItTwice) {
  Mount("a", kMiB);
  for (int i = 0; i < 8; ++i) Put("k" + std::to_string(i), kMiB / 8 - 64);
  Sync();
  Advance(Seconds(60));
  EXPECT_EQ(Start("new", kMiB / 8 - 64).code(), ErrorCode::kNoAvailableHandle);
  EXPECT_EQ(Start("new", kMiB / 8 - 64).code(), ErrorCode::kNoAvailableHandle);
  EXPECT_EQ(Keys().size(), 7u);
  Sync();
  EXPECT_TRUE(Start("new", kMiB / 8 - 64).ok());
}

TEST_F(PersistTest, AnEndOfANewKeyWaitsOnlyInSyncMode) {
  for (const Durability mode : {Durability::kAsync, Durability::kSync}) {
    CoreOptions options = options_;
    options.durability = mode;
    MetadataCore one(options, Term{5}, 1);
    const SegmentDescriptor d = Describe("a", kMiB);
    ASSERT_EQ(one.MountSegment(now_, d.owner, d), Status::Ok());
    one.LogDurable(one.TakeLog().back().sequence);
    const auto start = one.PutStart(now_, {kWriter, Name("k"), 100, WriteMode::kCreate, {}, {}});
    ASSERT_TRUE(start.ok());
    ASSERT_EQ(one.PutEnd(now_, 0, {kWriter, Name("k"), start->put_id, {}}), Status::Ok());
    EXPECT_EQ(one.AnswerAfter() != 0, mode == Durability::kSync);
  }
}

TEST_F(PersistTest, AnswersAboutANameWaitForWhatTookItsVersion) {
  Mount("a", kMiB);
  Put("k", 100);
  Put("other", 100);
  Sync();
  Upsert("k", 200);
  const uint64_t replaced = Last();
  EXPECT_EQ(core().AnswerAfter(), replaced);
  ASSERT_TRUE(Get("k").ok());
  EXPECT_EQ(core().AnswerAfter(), replaced) << "a reader who saw the new version was told of it";
  ASSERT_TRUE(Get("other").ok());
  EXPECT_EQ(core().AnswerAfter(), 0u);
  ASSERT_EQ(Keys().size(), 2u);
  EXPECT_EQ(core().AnswerAfter(), replaced);
  core().LogDurable(replaced);
  ASSERT_TRUE(Get("k").ok());
  EXPECT_EQ(core().AnswerAfter(), 0u);
}

TEST_F(PersistTest, AnUpsertIsOneRecordSoThatTheLogNeverEndsInTheMiddleOfIt) {
  Mount("a", kMiB);
  Put("k", 100);
  const uint64_t before = Last();
  Upsert("k", 200);
  EXPECT_EQ(Last(), before + 1);
  EXPECT_TRUE(std::holds_alternative<VersionRecord>(log_.back().record));
}

TEST_F(PersistTest, APutAfterAnEvictionWaitsForTheEviction) {
  Mount("a", kMiB);
  Put("k", kMiB / 2 + 1000);
  Sync();
  Advance(Seconds(60));
  EXPECT_EQ(Start("other", kMiB / 2 + 1000).code(), ErrorCode::kNoAvailableHandle);
  ASSERT_FALSE(Exists("k"));
  Put("k", 100);
  EXPECT_NE(core().AnswerAfter(), 0u) << "or a restart would bring the evicted version back";
}

TEST_F(PersistTest, RestoredObjectsAreReadOnlyAfterTheirNodeMountedWithANewEpoch) {
  const SegmentDescriptor d = Mount("a", kMiB);
  const PutId id = Put("k", 1000);
  const auto before = Get("k").value().replicas;
  auto next = RestartWith(Last());
  EXPECT_EQ(report_.versions, 1u);
  EXPECT_EQ(Look(*next, "k"), ErrorCode::kUnavailableInCurrentStatus);
  EXPECT_EQ(next->PutStart(now_, {kWriter, Name("l"), 10, WriteMode::kCreate, {}, {}}).code(),
            ErrorCode::kUnavailableInCurrentStatus);
  EXPECT_EQ(next->Ping(now_, d.owner, "a")->status, PingStatus::kNeedRemount);
  EXPECT_EQ(Attach(*next, now_, d, 1).code(), ErrorCode::kInvalidVersion);
  ASSERT_EQ(Attach(*next, now_, d, 2), Status::Ok());
  const auto list = next->GetReplicaList(now_, Name("k"));
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->put_id, id);
  EXPECT_EQ(list->replicas[0].extents[0].offset, before[0].extents[0].offset);
  EXPECT_EQ(list->replicas[0].extents[0].epoch, AccessEpoch{2});
  const auto start = next->PutStart(now_, {kWriter, Name("l"), 10, WriteMode::kCreate, {}, {}});
  ASSERT_TRUE(start.ok());
  EXPECT_GT(start->put_id, id);
}

TEST_F(PersistTest, EverythingOfAVersionIsRestored) {
  const SegmentDescriptor a = Mount("a", kMiB);
  const SegmentDescriptor b = Mount("b", kMiB);
  const auto start = Start("k", 1000, {.replica_num = 2, .hard_pin = true, .group = "g"});
  ASSERT_TRUE(start.ok());
  const ObjectAttributes attributes{ObjectKind::kFile, 0644, 1, 2, 3};
  ASSERT_EQ(core().PutEnd(now_, 77, {kWriter, Name("k"), start->put_id, attributes}), Status::Ok());
  auto next = RestartWith(Last());
  ASSERT_EQ(Attach(*next, now_, a, 2), Status::Ok());
  ASSERT_EQ(Attach(*next, now_, b, 2), Status::Ok());
  const auto stat = next->Stat(now_, Name("k"));
  ASSERT_TRUE(stat.ok());
  EXPECT_EQ(stat->replica_count, 2u);
  EXPECT_TRUE(stat->hard_pin);
  EXPECT_EQ(stat->group, "g");
  EXPECT_EQ(stat->attributes, attributes);
  EXPECT_EQ(stat->created_ms, 77);
  EXPECT_EQ(next->GetStatus().used, Used());
}

TEST_F(PersistTest, RestoredObjectsAreLeasedForOneLease) {
  const SegmentDescriptor d = Mount("a", kMiB);
  Put("k", 1000);
  auto next = Restart({}, 0, Last(), Seconds(2));
  ASSERT_EQ(Attach(*next, now_, d, 2), Status::Ok());
  EXPECT_EQ(next->Remove(now_, Name("k"), true).code(), ErrorCode::kUnavailableInCurrentStatus);
  Advance(Seconds(2) +
          Millis(9999));  // the predecessor may have granted one until the quiet time ended
  ASSERT_EQ(next->Ping(now_, d.owner, "a").code(), ErrorCode::kOk);
  EXPECT_EQ(next->Remove(now_, Name("k"), false).code(), ErrorCode::kObjectHasLease);
  Advance(Millis(1));
  EXPECT_EQ(next->Remove(now_, Name("k"), false), Status::Ok());
}

TEST_F(PersistTest, ANodeThatDoesNotComeBackIsGivenUpAfterTheClientTtl) {
  Mount("a", kMiB);
  Put("k", 1000);
  auto next = RestartWith(Last());
  Advance(Seconds(31));
  while (next->Tick(now_, 100).more) {
  }
  EXPECT_EQ(Look(*next, "k"), ErrorCode::kObjectNotFound);
  EXPECT_EQ(next->CheckInvariants(now_).value_or(""), "");
}

TEST_F(PersistTest, UnfinishedWritesAndDetachedVersionsAreDropped) {
  Mount("a", kMiB);
  Put("k", 1000);
  ASSERT_TRUE(Get("k").ok());
  ASSERT_EQ(Remove("k", true), Status::Ok());
  ASSERT_TRUE(Start("w", 1000).ok());
  auto next = RestartWith(Last());
  EXPECT_EQ(next->GetStatus().used, 0u);
  EXPECT_EQ(report_.versions, 0u);
}

TEST_F(PersistTest, ARenameMovesTheVersionAndReplacesTheTargetInOneRecord) {
  const SegmentDescriptor d = Mount("a", kMiB);
  const PutId id = Put("from", 1000);
  Put("to", 2000);
  const uint64_t before = Last();
  ASSERT_EQ(core().Rename(now_, Name("from"), Name("to"), false), Status::Ok());
  ASSERT_EQ(Last(), before + 1);
  auto old = RestartWith(before);
  EXPECT_EQ(old->Stat(now_, Name("from"))->put_id, id);
  EXPECT_TRUE(old->Stat(now_, Name("to")).ok());
  auto next = RestartWith(before + 1);
  EXPECT_EQ(next->Stat(now_, Name("to"))->put_id, id);
  EXPECT_FALSE(next->Stat(now_, Name("from")).ok());
}

TEST_F(PersistTest, APrefixRenameIsWholeWhereverTheLogEnds) {
  Mount("a", kMiB);
  for (int i = 0; i < 5; ++i) Put("old/" + std::to_string(i), 100);
  const uint64_t before = Last();
  auto walk = core().StartRenamePrefix(now_, kDefaultTenant, "old/", "new/");
  ASSERT_TRUE(walk.ok());
  core().Step(now_, *walk, 2);
  const PutId newer = Put("old/4", 300);  // created behind the back of the rename
  while (!core().Step(now_, *walk, 2)) {
  }
  const uint64_t end = Last();
  for (uint64_t until = before; until <= end; ++until) {
    auto next = RestartWith(until);
    size_t at_old = 0;
    size_t at_new = 0;
    for (int i = 0; i < 5; ++i) {
      const auto stat = next->Stat(now_, Name("old/" + std::to_string(i)));
      at_old += stat.ok() && stat->put_id != newer;
      at_new += next->Stat(now_, Name("new/" + std::to_string(i))).ok();
    }
    EXPECT_EQ(at_old, until == before ? 5u : 0u) << until;
    EXPECT_EQ(at_new, until == before ? 0u : 5u) << until;
  }
}

TEST_F(PersistTest, SegmentsMountedAgainUnderTheirIdHaveLostWhatWasInThem) {
  const SegmentDescriptor d = Mount("a", kMiB);
  Put("k", 1000);
  Unmount(d);
  CoreTest::Mount("a", kMiB);
  // Not before its death is durable: a restart would find the old objects, written over.
  EXPECT_EQ(Start("l", 1000).code(), ErrorCode::kUnavailableInCurrentStatus);
  Sync();
  Put("l", 1000);
  auto next = RestartWith(Last());
  EXPECT_FALSE(next->Stat(now_, Name("k")).ok());
  EXPECT_TRUE(next->Stat(now_, Name("l")).ok());
}

// Or a restart would forget the epoch, and the request that mounted it, sent a second time, would let in those who hold it.
TEST_F(PersistTest, ANewerEpochIsGivenToNobodyBeforeItIsDurable) {
  const SegmentDescriptor a = Mount("a", kMiB);
  Put("k", 100);
  Sync();
  ASSERT_EQ(ReMount(core(), now_, a, 2), Status::Ok());
  ASSERT_EQ(ReMount(core(), now_, a, 2), Status::Ok()) << "a repeated request";
  EXPECT_EQ(Get("k").code(), ErrorCode::kUnavailableInCurrentStatus);
  EXPECT_EQ(Start("l", 100).code(), ErrorCode::kUnavailableInCurrentStatus);
  Sync();
  EXPECT_EQ(Get("k")->replicas[0].extents[0].epoch, AccessEpoch{2});
  EXPECT_TRUE(Start("l", 100).ok());
  auto next = RestartWith(Last());
  EXPECT_EQ(Attach(*next, now_, a, 2).code(), ErrorCode::kInvalidVersion);
}

TEST_F(PersistTest, ASnapshotTakenInStepsIsMadeWholeByTheLog) {
  Mount("a", kMiB);
  for (int i = 0; i < 20; ++i) Put("k" + std::to_string(10 + i), 100);
  Sync();
  SnapshotWalk walk = core().StartSnapshot();
  core().Step(now_, walk, 5);
  ASSERT_EQ(core().Rename(now_, Name("k25"), Name("a"), false), Status::Ok());
  ASSERT_EQ(core().Rename(now_, Name("k10"), Name("z"), false), Status::Ok());
  ASSERT_EQ(Remove("k11"), Status::Ok());
  ASSERT_EQ(Remove("k26"), Status::Ok());
  const PutId upserted = Upsert("k12", 300);
  while (!core().Step(now_, walk, 5)) {
  }
  Put("late", 100);
  const uint64_t end = Last();
  auto next = Restart(walk.records, walk.from, end);
  const auto list = next->ListObjects(now_, {.limit = 100});
  ASSERT_TRUE(list.ok());
  std::vector<std::string> keys;
  for (const ListEntry& entry : list->entries) keys.push_back(entry.key);
  EXPECT_EQ(keys, Keys());
  EXPECT_EQ(next->Stat(now_, Name("k12"))->put_id, upserted);
}

// The snapshot holds a name under the old prefix that is younger than the rename, and whose twin under the new one is older.
TEST_F(PersistTest, APrefixRenameAfterTheStartOfASnapshotTakesNothingAway) {
  const SegmentDescriptor a = Mount("a", kMiB);
  Put("old/x", 100);
  Put("new/y", 100);
  SnapshotWalk walk = core().StartSnapshot();
  ASSERT_TRUE(core().RenamePrefix(now_, "default", "old/", "new/").ok());
  Put("old/y", 200);
  while (!core().Step(now_, walk, 1)) {
  }
  auto next = Restart(std::move(walk.records), walk.from, Last());
  ASSERT_EQ(Attach(*next, now_, a, 2), Status::Ok());
  for (const char* key : {"new/x", "new/y", "old/y"})
    EXPECT_EQ(Look(*next, key), ErrorCode::kOk) << key;
}

TEST_F(PersistTest, WhatAnswersShowOfTheDeathOfASegmentIsDurable) {
  const SegmentDescriptor a = Mount("a", kMiB);
  Put("k", 100);
  Sync();
  ASSERT_EQ(core().UnmountSegment(now_, a.owner, a.id), Status::Ok());
  ASSERT_EQ(Get("k").code(), ErrorCode::kObjectNotFound);
  EXPECT_EQ(core().AnswerAfter(), Last()) << "until then a restart could bring it back";
  Sync();
  ASSERT_EQ(Get("k").code(), ErrorCode::kObjectNotFound);
  EXPECT_EQ(core().AnswerAfter(), 0u);
}

TEST_F(PersistTest, TheLogMayBeAppliedTwice) {
  Mount("a", kMiB);
  Put("k", 100);
  Upsert("k", 200);
  Put("l", 100);
  ASSERT_EQ(Remove("l"), Status::Ok());
  const uint64_t end = Last();
  std::vector<Record> once;
  for (const LogRecord& record : log_) once.push_back(record.record);
  auto next = Restart(once, 0, end);
  EXPECT_EQ(next->GetStatus().object_count, 1u);
  EXPECT_EQ(next->Stat(now_, Name("k"))->size, 200u);
}

TEST_F(PersistTest, ABadRecordCostsOnlyItself) {
  Mount("a", kMiB);
  Put("good", 100);
  Put("bad", 100);
  Put("late", 100);
  const uint64_t end = Last();
  for (LogRecord& record : log_) {
    auto* version = std::get_if<VersionRecord>(&record.record);
    if (version == nullptr) continue;
    if (version->key == "bad") version->extents[0].length = 99;     // does not add up
    if (version->key == "late") version->extents[0].offset = kMiB;  // outside
  }
  auto next = RestartWith(end);
  EXPECT_EQ(report_.bad_records, 2u);
  EXPECT_TRUE(next->Stat(now_, Name("good")).ok());
  EXPECT_EQ(next->GetStatus().object_count, 1u);
}

TEST_F(PersistTest, OfTwoVersionsInTheSameBytesTheYoungerOneIsRestored) {
  Mount("a", kMiB);
  Put("older", 100);
  Put("younger", 100);
  const uint64_t end = Last();
  uint64_t offset = UINT64_MAX;
  for (LogRecord& record : log_) {
    auto* version = std::get_if<VersionRecord>(&record.record);
    if (version == nullptr) continue;
    if (offset == UINT64_MAX) offset = version->extents[0].offset;
    version->extents[0].offset = offset;
  }
  auto next = RestartWith(end);
  EXPECT_FALSE(next->Stat(now_, Name("older")).ok());
  EXPECT_TRUE(next->Stat(now_, Name("younger")).ok());
  EXPECT_EQ(report_.bad_records, 1u);
}

TEST_F(PersistTest, ARecordOfOurOwnTermIsRefused) {
  Mount("a", kMiB);
  Put("k", 100);
  const uint64_t end = Last();
  std::get<VersionRecord>(log_.back().record).put_id = FirstPutIdOf(Term{6});
  auto next = RestartWith(end);
  EXPECT_EQ(report_.bad_records, 1u);
  EXPECT_EQ(next->GetStatus().object_count, 0u);
}

TEST_F(PersistTest, WhoeverHeardOfALaterStateMakesTheRestoredOneWorthNothing) {
  const SegmentDescriptor a = Mount("a", kMiB);
  const SegmentDescriptor b = Mount("b", kMiB);
  Put("k", 1000);
  Put("l", 1000);
  Sync();
  auto next = RestartWith(Last());
  ASSERT_EQ(Attach(*next, now_, a, 2), Status::Ok());
  SegmentDescriptor again = b;
  again.epoch = {2};
  ASSERT_EQ(next->ReMountSegments(now_, b.owner, {&again, 1}, Last() + 1), Status::Ok());
  EXPECT_EQ(Look(*next, "k"), ErrorCode::kObjectNotFound);
  EXPECT_EQ(Look(*next, "l"), ErrorCode::kObjectNotFound);
  EXPECT_EQ(next->Ping(now_, a.owner, "a")->status, PingStatus::kNeedRemount);
  EXPECT_EQ(next->Ping(now_, b.owner, "b")->status, PingStatus::kOk);
  EXPECT_EQ(next->GetCounters().distrusted_segments, 2u);
  EXPECT_EQ(next->CheckInvariants(now_).value_or(""), "");
}

TEST_F(PersistTest, WhoeverHeardOfTheRestoredStateOrOfAnOlderOneKeepsIt) {
  const SegmentDescriptor a = Mount("a", kMiB);
  Put("k", 1000);
  Sync();
  auto next = RestartWith(Last());
  SegmentDescriptor again = a;
  again.epoch = {2};
  ASSERT_EQ(next->ReMountSegments(now_, a.owner, {&again, 1}, Last()), Status::Ok());
  next->LogDurable(next->TakeLog().back().sequence);
  EXPECT_EQ(Look(*next, "k"), ErrorCode::kOk);
}

TEST_F(PersistTest, AHardPinThatWasSetAfterwardsOutlivesTheMasterAndASoftOneDoesNot) {
  const SegmentDescriptor a = Mount("a", kMiB);
  Put("k", 1);
  Put("soft", 1);
  EXPECT_EQ(core().SetPin(now_, {.name = Name("k"), .hard = true}), Status::Ok());
  const uint64_t before = Last();
  EXPECT_EQ(core().SetPin(now_, {.name = Name("soft"), .soft = SoftPinAction::kEnable}),
            Status::Ok());
  EXPECT_EQ(Last(), before);
  auto next = RestartWith(Last());
  ASSERT_EQ(Attach(*next, now_, a, 2), Status::Ok());
  EXPECT_TRUE(next->Stat(now_, Name("k")).value_or({}).hard_pin);
  EXPECT_EQ(next->Stat(now_, Name("soft")).value_or({}).soft_pin_left, Duration::zero());
}

}  // namespace
}  // namespace mooncake::core

// MasterApi: the life of objects.
#include "tests/conformance/master_api_suite.h"

namespace mooncake::testing {
namespace {

TEST_P(MasterApiSuite, AWrittenObjectIsReadable) {
  Mount(1);
  const ObjectAttributes attributes{ObjectKind::kFile, 0644, 1, 2, 3};
  const auto started = Start(Name("k"), 1000);
  ASSERT_TRUE(started.ok()) << started.status();
  EXPECT_NE(started->put_id, kNoPut);
  EXPECT_GT(started->grant, Duration::zero());
  ASSERT_EQ(started->replicas.size(), 1u);
  EXPECT_EQ(started->replicas[0].status, ReplicaStatus::kProcessing);
  ASSERT_EQ(End(Name("k"), started->put_id, attributes), Status::Ok());

  const auto list = Get(Name("k"));
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->put_id, started->put_id);
  EXPECT_EQ(list->size, 1000u);
  EXPECT_GT(list->lease, Duration::zero());
  EXPECT_EQ(list->attributes, attributes);
  ASSERT_EQ(list->replicas.size(), 1u);
  EXPECT_EQ(list->replicas[0].status, ReplicaStatus::kComplete);
  EXPECT_EQ(list->replicas[0].extents, started->replicas[0].extents);
  EXPECT_EQ(list->replicas[0].extents[0].segment, (SegmentId{7, 1}));
}

TEST_P(MasterApiSuite, AFirstWriteInProgressIsNotReadable) {
  Mount(1);
  ASSERT_TRUE(Start(Name("k"), 10).ok());
  EXPECT_EQ(Get(Name("k")).code(), ErrorCode::kReplicaIsNotReady);
  EXPECT_EQ(Stat(Name("k")).code(), ErrorCode::kObjectNotFound);
  const auto exists = Exists(Name("k"));
  ASSERT_TRUE(exists.ok()) << exists.status();
  EXPECT_FALSE(*exists);
}

TEST_P(MasterApiSuite, WhatIsNotThereIsNotFound) {
  EXPECT_EQ(Get(Name("k")).code(), ErrorCode::kObjectNotFound);
  EXPECT_EQ(Stat(Name("k")).code(), ErrorCode::kObjectNotFound);
  EXPECT_EQ(Remove(Name("k")).code(), ErrorCode::kObjectNotFound);
  EXPECT_EQ(Renew(Name("k"), PutId{1}).code(), ErrorCode::kObjectNotFound);
  const auto exists = Exists(Name("k"));
  ASSERT_TRUE(exists.ok()) << exists.status();
  EXPECT_FALSE(*exists);
}

TEST_P(MasterApiSuite, CreateIsRefusedWhereAnObjectIs) {
  Mount(1);
  Put(Name("k"));
  EXPECT_EQ(Start(Name("k"), 10).code(), ErrorCode::kObjectAlreadyExists);
}

TEST_P(MasterApiSuite, ReplaceKeepsTheOldValueUntilItsEnd) {
  Mount(1);
  const PutId old = Put(Name("k"), 100);
  const auto started = Start(Name("k"), 200, WriteMode::kReplace);
  ASSERT_TRUE(started.ok()) << started.status();
  EXPECT_EQ(Stat(Name("k"))->put_id, old);
  ASSERT_EQ(End(Name("k"), started->put_id), Status::Ok());
  const auto stat = Stat(Name("k"));
  ASSERT_TRUE(stat.ok()) << stat.status();
  EXPECT_EQ(stat->put_id, started->put_id);
  EXPECT_EQ(stat->size, 200u);
}

TEST_P(MasterApiSuite, ReplaceOfAnotherVersionThanExpectedIsRefused) {
  Mount(1);
  const PutId old = Put(Name("k"));
  EXPECT_EQ(Start(Name("k"), 10, WriteMode::kReplace, PutId{old.value + 1000}).code(),
            ErrorCode::kInvalidVersion);
  EXPECT_TRUE(Start(Name("k"), 10, WriteMode::kReplace, old).ok());
}

TEST_P(MasterApiSuite, EndCanBeRepeatedAndNeedsTheRightPut) {
  Mount(1);
  const PutId put = Put(Name("k"));
  EXPECT_EQ(End(Name("k"), put), Status::Ok());
  EXPECT_FALSE(End(Name("k"), PutId{put.value + 1}).ok());
  EXPECT_EQ(End(Name("nothing"), put).code(), ErrorCode::kObjectNotFound);
}

TEST_P(MasterApiSuite, RevokeLeavesNothingAndTheOldValueAlone) {
  Mount(1);
  const auto first = Start(Name("new"), 10);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(Revoke(Name("new"), first->put_id), Status::Ok());
  EXPECT_EQ(Get(Name("new")).code(), ErrorCode::kObjectNotFound);
  EXPECT_FALSE(End(Name("new"), first->put_id).ok());

  const PutId old = Put(Name("k"));
  const auto second = Start(Name("k"), 10, WriteMode::kReplace);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(Revoke(Name("k"), second->put_id), Status::Ok());
  EXPECT_EQ(Stat(Name("k"))->put_id, old);
}

TEST_P(MasterApiSuite, AnEmptyObjectHasNoExtents) {
  // Nor does it need a segment.
  const auto started = Start(Name("k"), 0);
  ASSERT_TRUE(started.ok()) << started.status();
  ASSERT_EQ(End(Name("k"), started->put_id), Status::Ok());
  const auto list = Get(Name("k"));
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->size, 0u);
  for (const ReplicaDescriptor& replica : list->replicas) EXPECT_TRUE(replica.extents.empty());
}

TEST_P(MasterApiSuite, WithoutRoomAWriteIsRefused) {
  EXPECT_EQ(Start(Name("k"), 10).code(), ErrorCode::kNoAvailableHandle);
  Mount(1);
  EXPECT_EQ(Start(Name("k"), 2 * kSegmentBytes).code(), ErrorCode::kNoAvailableHandle);
}

TEST_P(MasterApiSuite, ALeasedObjectIsRemovedByForceOnlyAndItsBytesOutliveIt) {
  Mount(1);
  const PutId put = Put(Name("k"));
  ASSERT_TRUE(Get(Name("k")).ok());
  EXPECT_EQ(Remove(Name("k")).code(), ErrorCode::kObjectHasLease);
  EXPECT_EQ(Remove(Name("k"), true), Status::Ok());
  EXPECT_EQ(Get(Name("k")).code(), ErrorCode::kObjectNotFound);
  const auto lease = Renew(Name("k"), put);
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_GT(*lease, Duration::zero());
  Pass(Seconds(3600));
  EXPECT_EQ(Renew(Name("k"), put).code(), ErrorCode::kObjectNotFound);
}

TEST_P(MasterApiSuite, LeasesEndByThemselves) {
  Mount(1);
  Put(Name("k"));
  ASSERT_TRUE(Exists(Name("k"), true).value());
  EXPECT_EQ(Remove(Name("k")).code(), ErrorCode::kObjectHasLease);
  world_->clock().Advance(Seconds(3600));
  EXPECT_EQ(Remove(Name("k")), Status::Ok());
}

TEST_P(MasterApiSuite, AskingWithoutALeaseGrantsNone) {
  Mount(1);
  Put(Name("k"));
  EXPECT_TRUE(Exists(Name("k"), false).value());
  EXPECT_TRUE(Stat(Name("k")).ok());
  EXPECT_EQ(Keys(""), (std::vector<std::string>{"k"}));
  EXPECT_EQ(Remove(Name("k")), Status::Ok());
}

TEST_P(MasterApiSuite, KeysMayBeAnyBytes) {
  Mount(1);
  for (const std::string& key :
       {std::string("\0\xff\n/%", 5), std::string(kMaxKeyBytes, '\x80'), std::string("ä")}) {
    const PutId put = Put(Name(key));
    const auto list = Get(Name(key));
    ASSERT_TRUE(list.ok()) << list.status();
    EXPECT_EQ(list->put_id, put);
  }
  EXPECT_EQ(Keys("").size(), 3u);
}

TEST_P(MasterApiSuite, BadKeysAreRefusedByThemselves) {
  Mount(1);
  Put(Name("a"));
  const std::vector<ObjectName> names = {Name("a"), Name(""),
                                         Name(std::string(kMaxKeyBytes + 1, 'x')), Name("a")};
  const auto stats = api().BatchStat(names, Soon());
  ASSERT_EQ(stats.size(), 4u);
  EXPECT_TRUE(stats[0].ok());
  EXPECT_EQ(stats[1].code(), ErrorCode::kInvalidKey);
  EXPECT_EQ(stats[2].code(), ErrorCode::kInvalidKey);
  EXPECT_TRUE(stats[3].ok());
  EXPECT_EQ(Start(Name(""), 1).code(), ErrorCode::kInvalidKey);
  EXPECT_EQ(Remove(Name("")).code(), ErrorCode::kInvalidKey);
  EXPECT_EQ(Get(Name("")).code(), ErrorCode::kInvalidKey);
  EXPECT_EQ(Exists(Name("")).code(), ErrorCode::kInvalidKey);
  EXPECT_EQ(api().Rename(Name("a"), Name(""), false, Soon()).code(), ErrorCode::kInvalidKey);
}

TEST_P(MasterApiSuite, BatchesAnswerInOrderAndEachMentionOfAKey) {
  Mount(1);
  std::vector<PutStartArgs> puts;
  for (const char* key : {"a", "b", "a"}) puts.push_back({client_, Name(key), 10});
  const auto started = api().BatchPutStart(puts, Soon());
  ASSERT_EQ(started.size(), 3u);
  EXPECT_TRUE(started[0].ok());
  EXPECT_TRUE(started[1].ok());
  EXPECT_EQ(started[2].code(), ErrorCode::kObjectAlreadyExists);
  const std::vector<PutEndArgs> ends = {{client_, Name("b"), started[1]->put_id},
                                        {client_, Name("x"), PutId{1}},
                                        {client_, Name("a"), started[0]->put_id}};
  const auto ended = api().BatchPutEnd(ends, Soon());
  ASSERT_EQ(ended.size(), 3u);
  EXPECT_TRUE(ended[0].ok());
  EXPECT_EQ(ended[1].code(), ErrorCode::kObjectNotFound);
  EXPECT_TRUE(ended[2].ok());
  const std::vector<ObjectName> names = {Name("b"), Name("c"), Name("a"), Name("b")};
  const auto exist = api().BatchExistKey(names, false, Soon());
  ASSERT_EQ(exist.size(), 4u);
  EXPECT_TRUE(exist[0].value());
  EXPECT_FALSE(exist[1].value());
  EXPECT_TRUE(exist[2].value());
  EXPECT_TRUE(exist[3].value());
}

TEST_P(MasterApiSuite, ABatchOfUpsertsMixesNewAndOldKeys) {
  Mount(1);
  const PutId same = Put(Name("same"), 10);
  Put(Name("other"), 10);
  std::vector<PutStartArgs> puts;
  for (const auto& [key, size] : {std::pair{"new", 5}, {"same", 10}, {"other", 20}}) {
    puts.push_back({client_, Name(key), static_cast<uint64_t>(size), WriteMode::kReplace});
  }
  const auto started = api().BatchPutStart(puts, Soon());
  ASSERT_EQ(started.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(started[i].ok()) << started[i].status();
    EXPECT_EQ(End(puts[i].name, started[i]->put_id), Status::Ok());
    EXPECT_EQ(Stat(puts[i].name)->size, puts[i].size);
  }
  EXPECT_NE(Stat(Name("same"))->put_id, same);
}

TEST_P(MasterApiSuite, GroupsBelongToTheEntriesOfABatch) {
  Mount(1);
  std::vector<PutStartArgs> puts;
  const std::string groups[] = {"g", "", "h", "g"};
  for (size_t i = 0; i < 4; ++i) {
    puts.push_back({client_, Name("k" + std::to_string(i)), 10});
    puts.back().config.group = groups[i];
  }
  const auto started = api().BatchPutStart(puts, Soon());
  ASSERT_EQ(started.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    ASSERT_TRUE(started[i].ok()) << started[i].status();
    ASSERT_EQ(End(puts[i].name, started[i]->put_id), Status::Ok());
    EXPECT_EQ(Stat(puts[i].name)->group, groups[i]);
  }
}

TEST_P(MasterApiSuite, ABatchOfRemovesAnswersPerKeyAndTheSecondMentionFindsNothing) {
  Mount(1);
  Put(Name("a"));
  Put(Name("b /#%\xff\n"));
  Put(Name("leased"));
  ASSERT_TRUE(Get(Name("leased")).ok());
  const std::vector<ObjectName> names = {Name("a"), Name("missing"), Name("a"), Name("b /#%\xff\n"),
                                         Name("leased")};
  const auto removed = api().BatchRemove(names, false, Soon());
  ASSERT_EQ(removed.size(), 5u);
  EXPECT_EQ(removed[0], Status::Ok());
  EXPECT_EQ(removed[1].code(), ErrorCode::kObjectNotFound);
  EXPECT_EQ(removed[2].code(), ErrorCode::kObjectNotFound);
  EXPECT_EQ(removed[3], Status::Ok());
  EXPECT_EQ(removed[4].code(), ErrorCode::kObjectHasLease);
  EXPECT_TRUE(api().BatchRemove({}, false, Soon()).empty());
}

TEST_P(MasterApiSuite, BatchesMayBeEmptyOrLargeButNotTooLarge) {
  EXPECT_TRUE(api().BatchStat({}, Soon()).empty());
  EXPECT_TRUE(api().BatchPutStart({}, Soon()).empty());
  std::vector<ObjectName> names(kMaxBatch, Name("k"));
  EXPECT_EQ(api().BatchStat(names, Soon()).back().code(), ErrorCode::kObjectNotFound);
  names.push_back(Name("k"));
  const auto refused = api().BatchStat(names, Soon());
  ASSERT_EQ(refused.size(), names.size());
  EXPECT_EQ(refused.front().code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(refused.back().code(), ErrorCode::kInvalidParams);
}

TEST_P(MasterApiSuite, TenantsDoNotSeeEachOther) {
  Mount(1);
  Put({"one", "k"});
  EXPECT_TRUE(Exists({"one", "k"}).value());
  EXPECT_FALSE(Exists({"two", "k"}).value());
  Put({"two", "k"});
  const auto removed = api().RemoveAll("one", true, Soon());
  ASSERT_TRUE(removed.ok()) << removed.status();
  EXPECT_EQ(*removed, 1u);
  EXPECT_FALSE(Exists({"one", "k"}).value());
  EXPECT_TRUE(Exists({"two", "k"}).value());
}

TEST_P(MasterApiSuite, AttributesCanBeSetForOneVersion) {
  Mount(1);
  const PutId put = Put(Name("k"));
  const ObjectAttributes attributes{ObjectKind::kSymlink, 0777, 5, 6, 7};
  EXPECT_EQ(api().SetAttributes(Name("k"), put, attributes, Soon()), Status::Ok());
  EXPECT_EQ(Stat(Name("k"))->attributes, attributes);
  EXPECT_EQ(api().SetAttributes(Name("k"), kNoPut, {}, Soon()), Status::Ok());
  EXPECT_EQ(Stat(Name("k"))->attributes, ObjectAttributes{});
  EXPECT_EQ(api().SetAttributes(Name("k"), PutId{put.value + 1}, {}, Soon()).code(),
            ErrorCode::kInvalidVersion);
  EXPECT_EQ(api().SetAttributes(Name("x"), kNoPut, {}, Soon()).code(), ErrorCode::kObjectNotFound);
}

TEST_P(MasterApiSuite, PinsCanBeSetKeyByKey) {
  Mount(1);
  Put(Name("soft"));
  Put(Name("hard"));
  const std::vector<SetPinArgs> args = {
      {Name("soft"), SoftPinAction::kEnable, Seconds(5), std::nullopt},
      {Name("none"), SoftPinAction::kEnable, std::nullopt, std::nullopt},
      {Name("hard"), SoftPinAction::kPreserve, std::nullopt, true},
      {Name("hard"), SoftPinAction::kDisable, Seconds(5), std::nullopt}};
  const std::vector<Status> answers = api().BatchSetPin(args, Soon());
  ASSERT_EQ(answers.size(), args.size());
  EXPECT_EQ(answers[0], Status::Ok());
  EXPECT_EQ(answers[1].code(), ErrorCode::kObjectNotFound);
  EXPECT_EQ(answers[2], Status::Ok());
  EXPECT_EQ(answers[3].code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(Stat(Name("soft"))->soft_pin_left, Seconds(5));
  EXPECT_TRUE(Stat(Name("hard"))->hard_pin);
}

}  // namespace
}  // namespace mooncake::testing

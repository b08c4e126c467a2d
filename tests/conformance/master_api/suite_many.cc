// MasterApi: what concerns many keys, and the segments and clients.
#include <algorithm>

#include "tests/conformance/master_api_suite.h"

namespace mooncake::testing {
namespace {

using KeyList = std::vector<std::string>;

TEST_P(MasterApiSuite, ListsByPrefixDelimiterAndPage) {
  Mount(1);
  for (const char* key : {"a", "d/1", "d/2", "d/e/3", "f"}) Put(Name(key));
  EXPECT_EQ(Keys(""), (KeyList{"a", "d/1", "d/2", "d/e/3", "f"}));
  EXPECT_EQ(Keys("", "/"), (KeyList{"a", "d/", "f"}));
  EXPECT_EQ(Keys("d/", "/"), (KeyList{"d/1", "d/2", "d/e/"}));
  EXPECT_EQ(Keys("zz"), KeyList{});

  const auto first = api().ListObjects({.limit = 2}, Soon());
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_EQ(first->entries.size(), 2u);
  EXPECT_TRUE(first->truncated);
  EXPECT_EQ(first->entries[0].stat.size, 100u);
  const auto rest = api().ListObjects({.start_after = first->entries.back().key}, Soon());
  ASSERT_TRUE(rest.ok()) << rest.status();
  EXPECT_EQ(rest->entries.size(), 3u);
  EXPECT_FALSE(rest->truncated);
}

TEST_P(MasterApiSuite, ListingRefusesBadLimits) {
  EXPECT_EQ(api().ListObjects({.limit = 0}, Soon()).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(api().ListObjects({.limit = kMaxListLimit + 1}, Soon()).code(),
            ErrorCode::kInvalidParams);
  EXPECT_EQ(api().ListObjects({.delimiter = std::string(17, '/')}, Soon()).code(),
            ErrorCode::kInvalidParams);
}

TEST_P(MasterApiSuite, RenameMovesAVersion) {
  Mount(1);
  const PutId put = Put(Name("a"));
  EXPECT_EQ(api().Rename(Name("a"), Name("b"), false, Soon()), Status::Ok());
  EXPECT_FALSE(Exists(Name("a")).value());
  EXPECT_EQ(Stat(Name("b"))->put_id, put);
  EXPECT_EQ(api().Rename(Name("a"), Name("c"), false, Soon()).code(), ErrorCode::kObjectNotFound);
  EXPECT_EQ(api().Rename(Name("b"), Name("b"), false, Soon()), Status::Ok());

  Put(Name("other"));
  EXPECT_EQ(api().Rename(Name("b"), Name("other"), true, Soon()).code(),
            ErrorCode::kObjectAlreadyExists);
  EXPECT_EQ(api().Rename(Name("b"), Name("other"), false, Soon()), Status::Ok());
  EXPECT_EQ(Stat(Name("other"))->put_id, put);
}

TEST_P(MasterApiSuite, RenamePrefixMovesAllOrNothing) {
  Mount(1);
  for (const char* key : {"d/1", "d/2", "dd", "x/2"}) Put(Name(key));
  EXPECT_EQ(api().RenamePrefix(kDefaultTenant, "d/", "x/", Soon()).code(),
            ErrorCode::kObjectAlreadyExists);
  EXPECT_EQ(Keys(""), (KeyList{"d/1", "d/2", "dd", "x/2"}));
  const auto moved = api().RenamePrefix(kDefaultTenant, "d/", "e/", Soon());
  ASSERT_TRUE(moved.ok()) << moved.status();
  EXPECT_EQ(*moved, 2u);
  EXPECT_EQ(Keys(""), (KeyList{"dd", "e/1", "e/2", "x/2"}));
}

TEST_P(MasterApiSuite, RenamePrefixWaitsForNoWriteBelow) {
  Mount(1);
  Put(Name("d/1"));
  ASSERT_TRUE(Start(Name("d/2"), 10).ok());
  EXPECT_EQ(api().RenamePrefix(kDefaultTenant, "d/", "e/", Soon()).code(),
            ErrorCode::kObjectReplicaBusy);
}

TEST_P(MasterApiSuite, ReplicasAreClearedEverywhereOrOnOneSegment) {
  Mount(1);
  Mount(2);
  std::vector<ObjectName> names;
  for (const char* key : {"both", "leased", "missing", "both"}) names.push_back(Name(key));
  for (const char* key : {"both", "leased", "other"}) {
    PutStartArgs args{client_, Name(key), 100};
    args.config.replica_num = 2;
    const auto started = api().BatchPutStart({&args, 1}, Soon());
    ASSERT_TRUE(started[0].ok()) << started[0].status();
    ASSERT_EQ(End(Name(key), started[0]->put_id), Status::Ok());
  }
  ASSERT_TRUE(Get(Name("leased")).ok());

  const auto on_one = api().BatchReplicaClear(names, "segment1", Soon());
  ASSERT_EQ(on_one.size(), 4u);
  EXPECT_EQ(on_one[0], Status::Ok());
  EXPECT_EQ(on_one[1].code(), ErrorCode::kObjectHasLease);
  EXPECT_EQ(on_one[2].code(), ErrorCode::kObjectNotFound);
  EXPECT_EQ(on_one[3].code(), ErrorCode::kReplicaNotFound);
  EXPECT_EQ(Stat(Name("both"))->replica_count, 1u);
  EXPECT_EQ(Stat(Name("other"))->replica_count, 2u);
  EXPECT_EQ(api().BatchReplicaClear(names, "nowhere", Soon())[0].code(),
            ErrorCode::kSegmentNotFound);

  EXPECT_EQ(api().BatchReplicaClear(names, "", Soon())[0], Status::Ok());
  EXPECT_EQ(Keys(""), (KeyList{"leased", "other"}));
  EXPECT_TRUE(api().BatchReplicaClear({}, "", Soon()).empty());
}

TEST_P(MasterApiSuite, RemoveByRegexSearchesCountsAndSamples) {
  Mount(1);
  for (const char* key : {"log1", "log2", "mylog3", "other"}) Put(Name(key));
  const auto dry =
      api().RemoveByRegex({.pattern = "log\\d", .dry_run = true, .sample_limit = 2}, Soon());
  ASSERT_TRUE(dry.ok()) << dry.status();
  EXPECT_EQ(dry->matched, 3u);
  EXPECT_EQ(dry->removed, 0u);
  EXPECT_EQ(dry->sample.size(), 2u);
  EXPECT_EQ(Keys("").size(), 4u);

  ASSERT_TRUE(Get(Name("log2")).ok());  // leased
  const auto removed = api().RemoveByRegex({.pattern = "^log"}, Soon());
  ASSERT_TRUE(removed.ok()) << removed.status();
  EXPECT_EQ(removed->matched, 2u);
  EXPECT_EQ(removed->removed, 1u);
  EXPECT_EQ(removed->skipped, 1u);
  EXPECT_EQ(Keys(""), (KeyList{"log2", "mylog3", "other"}));
  EXPECT_EQ(api().RemoveByRegex({.pattern = "log", .force = true}, Soon())->removed, 2u);
}

TEST_P(MasterApiSuite, BadPatternsAreRefused) {
  Mount(1);
  Put(Name("a"));
  for (const std::string& pattern :
       {std::string(), std::string("("), std::string(kMaxPatternBytes + 1, 'a')}) {
    EXPECT_EQ(api().RemoveByRegex({.pattern = pattern}, Soon()).code(), ErrorCode::kInvalidParams);
    EXPECT_EQ(api().GetReplicaListByRegex(kDefaultTenant, pattern, 10, Soon()).code(),
              ErrorCode::kInvalidParams);
  }
  EXPECT_EQ(Keys(""), KeyList{"a"});
}

TEST_P(MasterApiSuite, ReplicaListsByRegexAreBoundedAndLeased) {
  Mount(1);
  for (const char* key : {"a1", "a2", "a3", "b"}) Put(Name(key));
  const auto lists = api().GetReplicaListByRegex(kDefaultTenant, "^a", 2, Soon());
  ASSERT_TRUE(lists.ok()) << lists.status();
  ASSERT_EQ(lists->size(), 2u);
  EXPECT_EQ(Remove(Name(lists->front().first)).code(), ErrorCode::kObjectHasLease);
  EXPECT_EQ(lists->front().second.size, 100u);
}

TEST_P(MasterApiSuite, RemoveAllCountsAndSkipsLeasedOnes) {
  Mount(1);
  for (int i = 0; i < 1000; ++i) Put(Name("k" + std::to_string(i)), 1);
  ASSERT_TRUE(Get(Name("k7")).ok());
  EXPECT_EQ(api().RemoveAll("", false, Soon()).value(), 999u);
  EXPECT_EQ(Keys(""), KeyList{"k7"});
  EXPECT_EQ(api().RemoveAll("", true, Soon()).value(), 1u);
}

// --- segments and clients -------------------------------------------------------------------------

TEST_P(MasterApiSuite, PingTellsTermClockAndTtl) {
  const auto first = api().Ping(client_, "somewhere", Soon());
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_GT(first->term.value, 0u);
  EXPECT_GT(first->client_ttl, Duration::zero());
  Pass(Seconds(2));
  const auto second = api().Ping(client_, "somewhere", Soon());
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->master_now_ms - first->master_now_ms, 2000);

  const auto clients = api().GetClients(Soon());
  ASSERT_TRUE(clients.ok()) << clients.status();
  ASSERT_EQ(clients->size(), 1u);
  EXPECT_EQ(clients->front().id, client_);
  EXPECT_EQ(clients->front().address, "somewhere");
}

TEST_P(MasterApiSuite, AddressesOfManyClientsAreAnsweredInTheOrderAsked) {
  Mount(1);
  ASSERT_TRUE(api().Ping(client_, "somewhere [fd00::9]:1", Soon()).ok());
  const std::vector<ClientId> asked = {client_, ClientId{1, 2}, Node(1)};
  const auto answer = api().BatchQueryIp(asked, Soon());
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(*answer,
            (std::vector<ClientAddresses>{{client_, {"fd00::9"}}, {Node(1), {"10.0.0.1"}}}));
  EXPECT_TRUE(api().BatchQueryIp({}, Soon())->empty());
}

TEST_P(MasterApiSuite, SegmentsAreShownWithWhatIsOnThem) {
  Mount(1);
  Mount(2);
  Put(Name("k"), 1000);
  const auto all = api().GetSegments({}, Soon());
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_EQ(all->size(), 2u);
  uint64_t used = 0;
  for (const SegmentInfo& info : *all) used += info.used;
  EXPECT_GE(used, 1000u);

  const std::vector<SegmentId> ids = {{7, 2}, {7, 99}};
  const auto some = api().GetSegments(ids, Soon());
  ASSERT_TRUE(some.ok()) << some.status();
  ASSERT_EQ(some->size(), 1u);
  EXPECT_EQ(some->front().descriptor, Segment(2, "segment2"));
  EXPECT_EQ(some->front().status, SegmentStatus::kOk);

  const auto status = api().GetStatus(Soon());
  ASSERT_TRUE(status.ok()) << status.status();
  EXPECT_EQ(status->capacity, 2 * kSegmentBytes);
  EXPECT_EQ(status->used, used);
  EXPECT_EQ(status->object_count, 1u);
  EXPECT_EQ(status->segment_count, 2u);
  EXPECT_FALSE(status->version.empty());
}

TEST_P(MasterApiSuite, TellsWhatItDidAndHowItWasStarted) {
  Mount(1);
  Put(Name("k"), 100);
  EXPECT_TRUE(Get(Name("k")).ok());
  EXPECT_FALSE(Get(Name("none")).ok());
  EXPECT_FALSE(Start(Name("large"), 2 * kSegmentBytes).ok());
  const auto activity = api().GetActivity(Soon());
  ASSERT_TRUE(activity.ok()) << activity.status();
  EXPECT_EQ(activity->put_bytes, 100u);
  EXPECT_EQ(activity->hit_bytes, 100u);
  EXPECT_EQ(activity->puts_without_room, 1u);
  const auto gets =
      std::find_if(activity->calls.begin(), activity->calls.end(),
                   [](const CallActivity& call) { return call.name == "BatchGetReplicaList"; });
  ASSERT_NE(gets, activity->calls.end());
  EXPECT_EQ(gets->calls, 2u);
  EXPECT_EQ(gets->items, 2u);
  EXPECT_EQ(gets->failed_items, 1u);
  EXPECT_EQ(api().GetConfig(Soon()).value(), std::vector<ConfigValue>{}) << "not a program";
}

TEST_P(MasterApiSuite, MountIsIdempotentAndUnmountForgiving) {
  Mount(1);
  EXPECT_EQ(api().MountSegment(Node(1), Segment(1, "segment1"), Soon()), Status::Ok());
  EXPECT_EQ(api().UnmountSegment(Node(1), SegmentId{7, 99}, Soon()), Status::Ok());
  Put(Name("k"));
  EXPECT_EQ(api().UnmountSegment(Node(1), SegmentId{7, 1}, Soon()), Status::Ok());
  EXPECT_FALSE(Get(Name("k")).ok());
  EXPECT_TRUE(api().GetSegments({}, Soon())->empty());
}

TEST_P(MasterApiSuite, ASegmentMayLeaveGracefully) {
  Mount(1);
  Mount(2);
  while (Get(Name("k")).code() == ErrorCode::kObjectNotFound) Put(Name("k"));
  const SegmentId home = Get(Name("k"))->replicas[0].extents[0].segment;
  const ClientId owner = Node(home.low);
  EXPECT_EQ(api().GracefulUnmountSegment(client_, home, Seconds(3), Soon()).code(),
            ErrorCode::kInvalidParams);
  EXPECT_EQ(api().GracefulUnmountSegment(owner, home, Seconds(3), Soon()), Status::Ok());
  EXPECT_EQ(api().GetSegments({&home, 1}, Soon())->at(0).status,
            SegmentStatus::kGracefullyUnmounting);
  for (int i = 0; i < 10; ++i) {
    const auto started = Start(Name("n" + std::to_string(i)), 10);
    ASSERT_TRUE(started.ok()) << started.status();
    EXPECT_NE(started->replicas[0].extents[0].segment, home);
  }
  Pass(Seconds(2));
  EXPECT_TRUE(Get(Name("k")).ok());
  Pass(Seconds(1));
  EXPECT_FALSE(Get(Name("k")).ok());
  EXPECT_TRUE(api().GetSegments({&home, 1}, Soon())->empty());
}

TEST_P(MasterApiSuite, ASegmentThatSeveralClientsReportIsQuarantinedForAWhile) {
  Mount(1);
  Mount(2);
  const std::vector<SegmentId> ids = {{7, 1}, {7, 99}};
  EXPECT_EQ(api().ReportReplicaFailure(client_, ids, Soon()).code(), ErrorCode::kClientNotFound);
  const ClientId reporters[] = {client_, {9, 10}};
  for (const ClientId& reporter : reporters) {
    ASSERT_TRUE(api().Ping(reporter, "reader", Soon()).ok());
    EXPECT_FALSE(api().GetSegments(ids, Soon())->at(0).quarantined);
    EXPECT_EQ(api().ReportReplicaFailure(reporter, ids, Soon()), Status::Ok());
  }
  EXPECT_TRUE(api().GetSegments(ids, Soon())->at(0).quarantined);
  EXPECT_EQ(api().GetSegments(ids, Soon())->at(0).status, SegmentStatus::kOk);
  EXPECT_EQ(Start(Name("k"), 10)->replicas[0].extents[0].segment, (SegmentId{7, 2}));
  for (int i = 0; i < 12; ++i) {
    Pass(Seconds(5));
    for (uint64_t node : {1, 2}) ASSERT_TRUE(api().Ping(Node(node), "node", Soon()).ok());
  }
  EXPECT_FALSE(api().GetSegments(ids, Soon())->at(0).quarantined);
}

TEST_P(MasterApiSuite, ANewLifeUnderTheSameNameReplacesTheOld) {
  Mount(1);
  Put(Name("k"));
  SegmentDescriptor reborn = Segment(2, "segment1");
  ASSERT_TRUE(api().Ping(Node(2), "node", Soon()).ok());
  EXPECT_EQ(api().MountSegment(Node(2), reborn, Soon()), Status::Ok());
  EXPECT_FALSE(Get(Name("k")).ok());
  const auto segments = api().GetSegments({}, Soon());
  ASSERT_TRUE(segments.ok()) << segments.status();
  ASSERT_EQ(segments->size(), 1u);
  EXPECT_EQ(segments->front().descriptor.id, reborn.id);
}

TEST_P(MasterApiSuite, ASilentNodeIsGoneWithItsObjectsAndComesBackByRemounting) {
  Mount(1);
  Put(Name("k"));
  Pass(Seconds(60));
  EXPECT_FALSE(Get(Name("k")).ok());
  EXPECT_TRUE(api().GetSegments({}, Soon())->empty());

  SegmentDescriptor again = Segment(1, "segment1");
  again.epoch = AccessEpoch{2};
  EXPECT_EQ(api().ReMountSegments(Node(1), {&again, 1}, 0, Soon()), Status::Ok());
  EXPECT_EQ(api().Ping(Node(1), "node", Soon())->status, PingStatus::kOk);
  EXPECT_NE(Put(Name("k")), kNoPut);
}

TEST_P(MasterApiSuite, BadSegmentsAreRefused) {
  ASSERT_TRUE(api().Ping(Node(1), "node", Soon()).ok());
  EXPECT_EQ(api().MountSegment(Node(1), Segment(1, "small", kMinSegmentBytes - 1), Soon()).code(),
            ErrorCode::kInvalidParams);
  EXPECT_EQ(api().MountSegment(Node(1), Segment(1, "large", kMaxSegmentBytes + 1), Soon()).code(),
            ErrorCode::kInvalidParams);
  EXPECT_EQ(api().MountSegment(Node(1), Segment(1, ""), Soon()).code(), ErrorCode::kInvalidParams);
}

// --- what outlives the master ---------------------------------------------------------------------

TEST_P(MasterApiSuite, AMasterThatKeepsNothingSaysHowToChangeThat) {
  const Status answers[] = {api().TakeSnapshot(Soon()).status(),
                            api().ListSnapshots(Soon()).status(),
                            api().VerifySnapshot("20260101_000000_000", Soon()).status(),
                            api().GetDurability(Soon()).status()};
  for (const Status& answer : answers) {
    EXPECT_EQ(answer.code(), ErrorCode::kUnavailableInCurrentMode);
    EXPECT_NE(answer.message().find("--state_dir"), std::string::npos) << answer;
  }
}

TEST_P(MasterApiSuite, AMasterWithoutQuotasSaysHowToChangeThat) {
  const Status answers[] = {
      api().GetQuota("t", Soon()).status(), api().SetQuota("t", 1, Soon()).status(),
      api().DeleteQuota("t", Soon()).status(), api().ListQuotas("", 1, Soon()).status()};
  for (const Status& answer : answers) {
    EXPECT_EQ(answer.code(), ErrorCode::kUnavailableInCurrentMode);
    EXPECT_NE(answer.message().find("--enable_multi_tenants"), std::string::npos) << answer;
  }
}

}  // namespace
}  // namespace mooncake::testing

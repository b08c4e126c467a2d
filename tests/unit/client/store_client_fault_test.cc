// What becomes of reads and writes when nodes die, answers get lost and leases end.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "client/store_client.h"
#include "tests/support/cluster.h"
#include "tests/support/fake_transport.h"
#include "tests/support/wait.h"
#include "transfer/base/manual_clock.h"

namespace mooncake {
namespace {

using testing::Cluster;
using testing::DataPathKind;
using testing::Eventually;
using testing::Fault;

testing::ClusterOptions TwoNodes(Duration lease_ttl = Millis(200)) {
  testing::ClusterOptions options{.nodes = 2, .segment_size = 4 * kMiB};
  options.master.core.lease_ttl = lease_ttl;
  return options;
}

std::string GetText(Client& client, std::string_view key) {
  std::string value;
  const Status status = client.Get(key, &value);
  return status.ok() ? value : std::string(ErrorCodeName(status.code()));
}

class StoreClientFaultTest : public ::testing::TestWithParam<DataPathKind> {};

INSTANTIATE_TEST_SUITE_P(Paths, StoreClientFaultTest,
                         ::testing::Values(DataPathKind::kMemcpy, DataPathKind::kShm,
                                           DataPathKind::kTcp),
                         [](const auto& path) {
                           return std::string(testing::DataPathName(path.param));
                         });

TEST_P(StoreClientFaultTest, ADeadNodeIsReadAround) {
  Cluster cluster(TwoNodes());
  const auto client = cluster.NewClient(GetParam());
  ASSERT_EQ(client->Put("k", AsBytes("value"), {.config = {.replica_num = 2}})->replicas, 2u);
  cluster.KillNode(0);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(GetText(*client, "k"), "value");
}

TEST_P(StoreClientFaultTest, FailedTransfersAreToldToTheMasterNowAndThen) {
  testing::ClusterOptions options = TwoNodes();
  options.master.core.client_ttl = Millis(900);  // a client pings every 300 ms
  options.master.core.failure_threshold = 1;
  Cluster cluster(options);
  const auto client = cluster.NewClient(GetParam());
  ASSERT_EQ(client->Put("k", AsBytes("value"), {.config = {.replica_num = 2}})->replicas, 2u);
  EXPECT_EQ(cluster.faults().CallsOf("ReportReplicaFailure"), 0);
  cluster.KillNode(0);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(GetText(*client, "k"), "value");
    ASSERT_TRUE(client->Put("n" + std::to_string(i), AsBytes("value")).ok());
  }
  EXPECT_TRUE(Eventually([&] { return cluster.faults().CallsOf("ReportReplicaFailure") > 0; }));
  EXPECT_LE(cluster.faults().CallsOf("ReportReplicaFailure"), 5);
}

TEST_P(StoreClientFaultTest, WithoutAnyReplicaAReadFailsAndFailsFast) {
  Cluster cluster(TwoNodes());
  const auto client = cluster.NewClient(GetParam());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(client->Put("k" + std::to_string(i), AsBytes("v")).ok());
  ASSERT_EQ(GetText(*client, "k0"), "v");
  cluster.KillNode(0);
  cluster.KillNode(1);
  const TimePoint start = SystemClock().Now();
  for (int i = 0; i < 20; ++i) {
    const std::string outcome = GetText(*client, "k" + std::to_string(i));
    // Mapped memory says itself that its node has taken it back.
    EXPECT_TRUE(outcome == "TRANSFER_FAIL" || outcome == "INVALID_VERSION") << outcome;
  }
  // One time-out in all, not one per key (F046). The bound is far above what a fast failure takes.
  EXPECT_LT(SystemClock().Now() - start, ClientOptions{}.timeout);
}

TEST_P(StoreClientFaultTest, ANodeThatReturnsUnderItsNameServesNewObjectsAndNoOldOnes) {
  testing::ClusterOptions options = TwoNodes();
  options.nodes = 1;
  Cluster cluster(options);
  const auto client = cluster.NewClient(GetParam());
  ASSERT_TRUE(client->Put("old", AsBytes("value")).ok());
  cluster.RestartNode(0);
  EXPECT_EQ(GetText(*client, "old"), "OBJECT_NOT_FOUND");
  ASSERT_TRUE(client->Put("new", AsBytes("value")).ok());
  EXPECT_EQ(GetText(*client, "new"), "value");
}

TEST_P(StoreClientFaultTest, AWriteToADeadNodeFailsAndLeavesNothing) {
  testing::ClusterOptions options = TwoNodes();
  options.nodes = 1;
  Cluster cluster(options);
  const auto client = cluster.NewClient(GetParam());
  ASSERT_TRUE(client->Put("k", AsBytes("old")).ok());
  const uint64_t used = cluster.used_bytes();
  cluster.KillNode(0);
  const Result<PutResult> put = client->Put("k2", AsBytes("new"));
  EXPECT_EQ(put.code(), ErrorCode::kTransferFail) << put.status();
  EXPECT_EQ(client->ExistKey("k2").value_or(true), false);
  EXPECT_LE(cluster.used_bytes(),
            used + 1024);  // held for the write deadline, since nobody could be asked to fence
}

TEST_P(StoreClientFaultTest, WritesGoElsewhereWhileTheMasterStillTrustsADeadNode) {
  Cluster cluster(TwoNodes());
  const auto client = cluster.NewClient(GetParam());
  ASSERT_TRUE(client->Put("warm", AsBytes("up")).ok());
  cluster.KillNode(0);
  std::vector<std::string> keys;
  for (int i = 0; i < 20; ++i) keys.push_back("k" + std::to_string(i));
  for (const std::string& key : keys) {
    const Result<PutResult> put = client->Put(key, AsBytes(key));
    EXPECT_TRUE(put.ok()) << put.status();
  }
  for (const std::string& key : keys) EXPECT_EQ(GetText(*client, key), key);
  std::vector<PutItem> items;
  for (const std::string& key : keys) items.push_back({"b" + key, AsBytes(key)});
  for (const auto& put : client->BatchPut(items)) EXPECT_TRUE(put.ok()) << put.status();
}

TEST(StoreClientFault, AWriteThatIsRefusedFreesItsSpaceAtOnce) {
  Cluster cluster(TwoNodes());
  const auto client = cluster.NewClient();
  // Between PutStart and the transfer both nodes are told of another epoch, as after a change of master.
  cluster.faults().SetScript([&](std::string_view call) {
    if (call == "GetSegments") {
      for (size_t i = 0; i < 2; ++i) {
        const SegmentDescriptor segment = cluster.node(i).segment();
        MC_CHECK_OK(cluster.node(i).served().SetEpoch(
            segment.id, AccessEpoch{segment.epoch.value + 7}, SystemClock().Now() + Seconds(10)));
      }
    }
    return Fault::kNone;
  });
  const Result<PutResult> put = client->Put("k", AsBytes("value"), {.config = {.replica_num = 2}});
  EXPECT_EQ(put.code(), ErrorCode::kInvalidVersion) << put.status();
  EXPECT_EQ(cluster.used_bytes(), 0u);
}

// A client on a transport that fails as told, with a node behind it that works.
class FakePathTest : public ::testing::Test {
 protected:
  FakePathTest() : cluster_(TwoNodes()) {
    client_ = cluster_.NewClient({.transport = [this] {
      auto fake = std::make_unique<testing::FakeTransport>(SystemClock());
      for (size_t i = 0; i < 2; ++i) fake->AddNode(cluster_.address(i), cluster_.node(i).served());
      fake_ = fake.get();
      return fake;
    }});
  }
  Cluster cluster_;
  testing::FakeTransport* fake_ = nullptr;  // the client's
  std::unique_ptr<Client> client_;
};

TEST_F(FakePathTest, AWriteOfUnknownOutcomeIsFencedAndItsSpaceFreeAtOnce) {
  for (const bool arrives : {false, true}) {
    for (const ErrorCode code : {ErrorCode::kTransferFail, ErrorCode::kRpcTimeout}) {
      std::set<PutId> seen;  // the first slice of each attempt fails, the others pass
      fake_->SetSliceHook([&](const PeerAddress&, const Slice& slice) -> testing::FakeFault {
        if (!seen.insert(slice.grant.put_id).second) return {};
        return {.status = Status(code, "told to"), .move_first = arrives};
      });
      const uint64_t fences = fake_->fences();
      const Result<PutResult> put =
          client_->Put("k", AsBytes("value"), {.config = {.replica_num = 2}});
      EXPECT_EQ(put.code(), code) << put.status();
      EXPECT_GT(fake_->fences(), fences);
      EXPECT_EQ(cluster_.used_bytes(), 0u);
      EXPECT_EQ(client_->ExistKey("k").value_or(true), false);
    }
  }
}

TEST_F(FakePathTest, OneSliceOfManyThatFailsFailsTheWholePut) {
  std::map<PutId, int> slices;  // by attempt
  fake_->SetSliceHook([&](const PeerAddress&, const Slice& slice) -> testing::FakeFault {
    const bool third = ++slices[slice.grant.put_id] == 3;
    return {.status = third ? Status(ErrorCode::kInvalidVersion, "told to") : Status::Ok()};
  });
  const std::string a(600'000, 'a'), b(600'000, 'b'), c(600'000, 'c'), d(600'000, 'd');
  const ByteSpan parts[] = {AsBytes(a), AsBytes(b), AsBytes(c), AsBytes(d)};
  EXPECT_EQ(client_->PutParts("k", parts).code(), ErrorCode::kInvalidVersion);
  EXPECT_EQ(cluster_.used_bytes(), 0u);
}

TEST_F(FakePathTest, AReadGoesOnToTheNextReplicaWhateverTheFirstAnswers) {
  ASSERT_EQ(client_->Put("k", AsBytes("value"), {.config = {.replica_num = 2}})->replicas, 2u);
  for (const ErrorCode code :
       {ErrorCode::kTransferFail, ErrorCode::kRpcTimeout, ErrorCode::kInvalidVersion,
        ErrorCode::kSegmentNotFound, ErrorCode::kInvalidParams}) {
    bool first = true;
    fake_->SetSliceHook([&](const PeerAddress&, const Slice&) -> testing::FakeFault {
      return {.status = std::exchange(first, false) ? Status(code, "told to") : Status::Ok()};
    });
    EXPECT_EQ(GetText(*client_, "k"), "value") << code;
  }
}

TEST(StoreClientFault, AFailedReplaceKeepsTheOldValue) {
  Cluster cluster(TwoNodes());
  const auto client = cluster.NewClient();
  ASSERT_TRUE(client->Put("k", AsBytes("old")).ok());
  const uint64_t used = cluster.used_bytes();
  cluster.faults().Inject("BatchPutEnd", Fault::kLoseRequest, 100);
  const Result<PutResult> put = client->Put("k", AsBytes("newer"), {.mode = WriteMode::kReplace});
  EXPECT_EQ(put.code(), ErrorCode::kRpcTimeout);
  EXPECT_EQ(GetText(*client, "k"), "old");
  EXPECT_EQ(cluster.used_bytes(), used);
}

TEST(StoreClientFault, AnEndWithoutAnAnswerIsASuccessIfItArrived) {
  Cluster cluster(TwoNodes());
  const auto client = cluster.NewClient();
  cluster.faults().Inject("BatchPutEnd", Fault::kLoseReply, 1);
  EXPECT_TRUE(client->Put("once", AsBytes("v")).ok());
  cluster.faults().Inject("BatchPutEnd", Fault::kLoseReply, 100);
  EXPECT_TRUE(client->Put("always", AsBytes("v")).ok());
  EXPECT_EQ(GetText(*client, "always"), "v");
}

// As after a restart of the master, which knows no writes in progress.
TEST(StoreClientFault, AWriteThatTheMasterForgotIsWrittenAgain) {
  testing::ClusterOptions options = TwoNodes();
  options.master.core.put_start_discard_timeout = Millis(1);
  Cluster cluster(options);
  const auto client = cluster.NewClient();
  std::atomic<int> forgets{0};
  cluster.faults().SetScript([&](std::string_view call) {
    if (call != "BatchPutEnd" || forgets-- <= 0) return Fault::kNone;
    PutStartArgs usurper{.client = ClientId{1, 2}, .name = {kDefaultTenant, "k"}, .size = 1};
    usurper.mode = WriteMode::kReplace;
    Result<PutStartReply> started = Status(ErrorCode::kRpcFail, "not yet");
    EXPECT_TRUE(Eventually([&] {
      started = cluster.service().BatchPutStart({&usurper, 1}, kNever)[0];
      return started.ok();
    }));
    if (!started.ok()) return Fault::kNone;
    const PutRevokeArgs revoke{
        .client = usurper.client, .name = usurper.name, .put_id = started->put_id};
    EXPECT_TRUE(cluster.service().BatchPutRevoke({&revoke, 1}, kNever)[0].ok());
    return Fault::kNone;
  });
  for (const char* value : {"new", "newer"}) {
    forgets = 1;
    EXPECT_TRUE(client->Put("k", AsBytes(value), {.mode = WriteMode::kReplace}).ok());
    EXPECT_EQ(GetText(*client, "k"), value);
  }
  forgets = 100;
  EXPECT_FALSE(client->Put("k", AsBytes("newest"), {.mode = WriteMode::kReplace}).ok());
  EXPECT_EQ(GetText(*client, "k"), "newer");
}

TEST(StoreClientFault, AFailedPutStartIsToldAndTouchesNoNode) {
  Cluster cluster(TwoNodes());
  const auto client = cluster.NewClient();
  cluster.faults().Inject("BatchPutStart", Fault::kLoseRequest, 1);
  EXPECT_EQ(client->Put("k", AsBytes("v")).code(), ErrorCode::kRpcTimeout);
  EXPECT_TRUE(client->Put("k", AsBytes("v")).ok());
  EXPECT_EQ(client->Put("big", AsBytes(std::string(16 * kMiB, 'x'))).code(),
            ErrorCode::kNoAvailableHandle);
}

// A client whose clock jumps while bytes are on their way: the read took longer than the lease.
class LateReadTest : public ::testing::Test {
 protected:
  std::unique_ptr<Client> NewClient(Cluster& cluster) {
    return cluster.NewClient({.path = DataPathKind::kMemcpy,
                              .options = {.timeout = Seconds(3600)},
                              .around =
                                  [this](const std::function<void()>& execute) {
                                    execute();
                                    if (jumps_ > 0) {
                                      --jumps_;
                                      clock_.Advance(Seconds(60));
                                    }
                                  },
                              .clock = &clock_});
  }
  ManualClock clock_{SystemClock().Now()};
  std::atomic<int> jumps_{0};
};

TEST_F(LateReadTest, BytesThatCameAfterTheLeaseAreThrownAwayAndReadAgain) {
  Cluster cluster(TwoNodes(Seconds(10)));
  const auto client = NewClient(cluster);
  ASSERT_TRUE(client->Put("k", AsBytes("value")).ok());
  jumps_ = 1;
  const int before = cluster.faults().CallsOf("BatchGetReplicaList");
  EXPECT_EQ(GetText(*client, "k"), "value");
  EXPECT_EQ(cluster.faults().CallsOf("BatchGetReplicaList"), before + 2);
}

TEST_F(LateReadTest, AReadThatIsNeverInTimeFails) {
  Cluster cluster(TwoNodes(Seconds(10)));
  const auto client = NewClient(cluster);
  ASSERT_TRUE(client->Put("k", AsBytes("value")).ok());
  jumps_ = 100;
  EXPECT_EQ(GetText(*client, "k"), "LEASE_EXPIRED");
}

// F050: a read that outlasts its lease many times over, because the lease is renewed meanwhile.
TEST(StoreClientFault, LongReadsKeepTheirLeases) {
  Cluster cluster(TwoNodes(Millis(100)));
  std::atomic<bool> slow{false};
  const auto client = cluster.NewClient(
      {.path = DataPathKind::kMemcpy, .around = [&](const std::function<void()>& execute) {
         const TimePoint end = SystemClock().Now() + Millis(400);
         if (slow) MC_CHECK(Eventually([&] { return SystemClock().Now() > end; }));
         execute();
       }});
  const std::string value(1'500'000, 'v');
  ASSERT_TRUE(client->Put("big", AsBytes(value)).ok());
  for (const char* key : {"a", "b"}) ASSERT_TRUE(client->Put(key, AsBytes("value")).ok());
  slow = true;
  EXPECT_EQ(GetText(*client, "big"), value);
  std::string a(5, ' '), b(5, ' '), c(5, ' ');
  const auto bytes = [](std::string& s) {
    return MutableByteSpan(reinterpret_cast<std::byte*>(s.data()), s.size());
  };
  const GetItem items[] = {{"a", bytes(a)}, {"missing", bytes(c)}, {"b", bytes(b)}};
  const auto got = client->BatchGet(items);
  EXPECT_EQ(got[0].value_or(0), 5u) << got[0].status();
  EXPECT_EQ(got[1].code(), ErrorCode::kObjectNotFound);
  EXPECT_EQ(got[2].value_or(0), 5u) << got[2].status();
  EXPECT_EQ(a + b, "valuevalue");
}

TEST(StoreClientFault, AStaleReplicaIsNotReturned) {
  testing::ClusterOptions options = TwoNodes();
  options.nodes = 1;
  Cluster cluster(options);
  const auto client = cluster.NewClient();
  ASSERT_TRUE(client->Put("k", AsBytes("value"), {.checksum = true}).ok());
  const ObjectName name{.key = "k"};
  const auto replicas = cluster.service().BatchGetReplicaList({&name, 1}, kNever);
  const Extent extent = replicas[0]->replicas[0].extents[0];
  const auto memory = [&] {
    return cluster.node(0)
        .served()
        .BeginRead({extent.segment, extent.epoch, extent.offset, ExtentFootprint(extent.length)},
                   nullptr)
        ->memory();
  }();
  memory[0] = std::byte{'V'};  // a flipped bit: the checksum finds it
  EXPECT_EQ(GetText(*client, "k"), "CHECKSUM_MISMATCH");
  memory[0] = std::byte{'v'};
  EXPECT_EQ(GetText(*client, "k"), "value");
  const SealBytes other = EncodeSeal({.put_id = PutId{1}, .length = 5});
  std::copy(other.begin(), other.end(), memory.last<kSealBytes>().begin());
  EXPECT_EQ(GetText(*client, "k"), "REPLICA_IS_GONE");
}

TEST(StoreClientFault, TheMastersSilenceIsAnErrorAndNoHang) {
  Cluster cluster(TwoNodes());
  const auto client = cluster.NewClient();
  ASSERT_TRUE(client->Put("k", AsBytes("value")).ok());
  cluster.faults().SetScript([](std::string_view) { return Fault::kLoseRequest; });
  EXPECT_EQ(GetText(*client, "k"), "RPC_TIMEOUT");
  EXPECT_EQ(client->Put("k2", AsBytes("v")).code(), ErrorCode::kRpcTimeout);
  EXPECT_EQ(client->ExistKey("k").code(), ErrorCode::kRpcTimeout);
  cluster.faults().SetScript(nullptr);
  EXPECT_EQ(GetText(*client, "k"), "value");
}

TEST(StoreClientFork, AForkedChildGetsAnErrorAndEndsCleanly) {
  Cluster cluster(TwoNodes());
  auto client = cluster.NewClient(DataPathKind::kShm);
  ASSERT_TRUE(client->Put("k", AsBytes("value")).ok());
  auto reader = client->Open("k");
  auto view = client->GetView("k");
  ASSERT_TRUE(reader.ok() && view.ok());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::string value;
    bool good = client->Get("k", &value).code() == ErrorCode::kUnavailableInCurrentMode;
    good = good && (*reader)->Read(0, {}).code() == ErrorCode::kUnavailableInCurrentMode;
    good = good && !(*view)->Valid();
    view->reset();
    reader->reset();
    client.reset();
    _exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(GetText(*client, "k"), "value");
  EXPECT_TRUE((*view)->Valid());
}

}  // namespace
}  // namespace mooncake

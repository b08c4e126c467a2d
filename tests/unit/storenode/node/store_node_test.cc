// A node with real sockets on loopback, against a master in this process.
#include "storenode/node/store_node.h"

#include <gtest/gtest.h>

#include "master/server/master_service.h"
#include "storenode/node/local_address.h"
#include "storenode/node/segment_probe.h"
#include "storenode/node/tcp_data_server.h"
#include "tests/support/faulty_master.h"
#include "tests/support/wait.h"
#include "transfer/base/machine.h"
#include "transfer/transport/tcp/tcp_transport.h"

namespace mooncake {
namespace {

using testing::Eventually;
using testing::Fault;

class StoreNodeTest : public ::testing::Test {
 protected:
  StoreNodeTest() {
    MasterServiceOptions options;
    options.core.client_ttl = Seconds(2);
    auto service = MasterService::Create(options, SystemClock());
    EXPECT_TRUE(service.ok()) << service.status();
    service_ = std::move(*service);
    master_ = std::make_shared<testing::FaultyMaster>(service_);
  }
  static StoreNodeOptions Options(std::string name = "n1") {
    StoreNodeOptions options;
    options.name = std::move(name);
    options.segment_size = 1 * kMiB;
    options.listen = "127.0.0.1:0";
    options.master_address = "127.0.0.1:50051";
    options.master_wait = Seconds(20);
    return options;
  }
  Result<std::unique_ptr<StoreNode>> Start(const StoreNodeOptions& options) {
    return StoreNode::Create(
        options,
        {.master = master_,
         .serve = TcpDataServerFactory(),
         .probe = MakeSegmentProbe(MakeTcpTransport({}, SystemClock()), SystemClock())},
        SystemClock());
  }
  std::vector<SegmentInfo> Segments() { return *service_->GetSegments({}, kNever); }

  std::shared_ptr<MasterService> service_;
  std::shared_ptr<testing::FaultyMaster> master_;
};

TEST_F(StoreNodeTest, IsMountedAndReachableWhenCreated) {
  const auto node = Start(Options());
  ASSERT_TRUE(node.ok()) << node.status();
  ASSERT_EQ(Segments().size(), 1u);
  const SegmentDescriptor segment = Segments()[0].descriptor;
  EXPECT_EQ(segment, (*node)->segment());
  EXPECT_EQ(segment.name, "n1");
  EXPECT_EQ(segment.size, 1 * kMiB);
  EXPECT_EQ(segment.host_id, MachineId());
  EXPECT_NE(segment.endpoint, "127.0.0.1:0");
  const auto probe = MakeSegmentProbe(MakeTcpTransport({}, SystemClock()), SystemClock());
  EXPECT_TRUE(probe(segment, SystemClock().Now() + Seconds(10)));
  SegmentDescriptor another = segment;
  another.id = RandomId<SegmentId>();
  EXPECT_FALSE(probe(another, SystemClock().Now() + Seconds(10)));
}

TEST_F(StoreNodeTest, StaysMountedAsItIs) {
  const auto node = Start(Options());
  ASSERT_TRUE(node.ok()) << node.status();
  const int before = master_->CallsOf("Ping");
  ASSERT_TRUE(Eventually([&] { return master_->CallsOf("Ping") >= before + 3; }));
  EXPECT_EQ(Segments()[0].descriptor.epoch, AccessEpoch{1});
  EXPECT_EQ(master_->CallsOf("ReMountSegments"), 1);
}

TEST_F(StoreNodeTest, StopUnmounts) {
  const auto node = Start(Options());
  ASSERT_TRUE(node.ok()) << node.status();
  (*node)->Stop();
  (*node)->Stop();
  EXPECT_TRUE(Segments().empty());
}

TEST_F(StoreNodeTest, ServesOnWhileItLeavesAndStopUnmounts) {
  const auto node = Start(Options());
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_EQ((*node)->BeginLeaving(Seconds(60)), Status::Ok());
  ASSERT_EQ(Segments().size(), 1u);
  EXPECT_EQ(Segments()[0].status, SegmentStatus::kGracefullyUnmounting);
  const auto probe = MakeSegmentProbe(MakeTcpTransport({}, SystemClock()), SystemClock());
  EXPECT_TRUE(probe(Segments()[0].descriptor, SystemClock().Now() + Seconds(10)));
  (*node)->Stop();
  EXPECT_TRUE(Segments().empty());
}

TEST_F(StoreNodeTest, TheDefaultNameIsHostAndPort) {
  const auto node = Start(Options(""));
  ASSERT_TRUE(node.ok()) << node.status();
  const std::string endpoint = (*node)->segment().endpoint;
  EXPECT_EQ((*node)->segment().name, *HostName() + endpoint.substr(endpoint.rfind(':')));
}

TEST_F(StoreNodeTest, AWildcardIsAdvertisedAsTheAddressTowardsTheMaster) {
  StoreNodeOptions options = Options();
  options.listen = "0.0.0.0:0";
  const auto node = Start(options);
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_EQ((*node)->segment().endpoint.substr(0, 10), "127.0.0.1:");
  options.name = "n2";
  options.advertised_host = "localhost";
  const auto other = Start(options);
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ((*other)->segment().endpoint.substr(0, 10), "localhost:");
}

TEST_F(StoreNodeTest, ATwinOfALivingNodeIsRefusedAndHarmsNothing) {
  const auto node = Start(Options());
  ASSERT_TRUE(node.ok()) << node.status();
  const auto twin = Start(Options());
  EXPECT_EQ(twin.code(), ErrorCode::kSegmentAlreadyExists);
  ASSERT_EQ(Segments().size(), 1u);
  EXPECT_EQ(Segments()[0].descriptor.id, (*node)->segment().id);
}

TEST_F(StoreNodeTest, ANodeTakesThePlaceOfItsDeadEarlierLife) {
  SegmentId old;
  {
    const auto node = Start(Options());
    ASSERT_TRUE(node.ok()) << node.status();
    old = (*node)->segment().id;
    master_->SetScript([](std::string_view call) {
      return call == "UnmountSegment" ? Fault::kLoseRequest : Fault::kNone;
    });
  }
  ASSERT_EQ(Segments().size(), 1u);  // the master has not heard of its end
  const auto node = Start(Options());
  ASSERT_TRUE(node.ok()) << node.status();
  ASSERT_EQ(Segments().size(), 1u);
  EXPECT_NE(Segments()[0].descriptor.id, old);
}

TEST_F(StoreNodeTest, WithoutAMasterItGivesUpAfterTheStatedTime) {
  master_->SetScript([](std::string_view) { return Fault::kLoseRequest; });
  StoreNodeOptions options = Options();
  options.master_wait = Millis(200);
  const auto node = Start(options);
  EXPECT_EQ(node.code(), ErrorCode::kRpcTimeout);
  EXPECT_NE(node.message().find("127.0.0.1:50051"), std::string::npos) << node.status();
  EXPECT_NE(node.message().find("--master_wait"), std::string::npos) << node.status();
}

TEST_F(StoreNodeTest, AMasterThatComesLateIsWaitedFor) {
  std::atomic<int> calls{0};
  master_->SetScript(
      [&](std::string_view) { return ++calls < 5 ? Fault::kLoseRequest : Fault::kNone; });
  const auto node = Start(Options());
  EXPECT_TRUE(node.ok()) << node.status();
  master_->SetScript(nullptr);
}

TEST_F(StoreNodeTest, CreateCanBeCancelled) {
  master_->SetScript([](std::string_view) { return Fault::kLoseRequest; });
  std::atomic<int> asked{0};
  const auto node = StoreNode::Create(Options(),
                                      {.master = master_,
                                       .serve = TcpDataServerFactory(),
                                       .cancelled = [&] { return ++asked > 1; }},
                                      SystemClock());
  EXPECT_EQ(node.code(), ErrorCode::kUnavailableInCurrentStatus);
}

TEST_F(StoreNodeTest, AMasterThatAnswersNothingDoesNotKeepItFromStopping) {
  const auto node = Start(Options());
  ASSERT_TRUE(node.ok()) << node.status();
  master_->SetScript([](std::string_view) { return Fault::kLoseRequest; });
  (*node)->Stop();
}

TEST_F(StoreNodeTest, OptionsAreChecked) {
  StoreNodeOptions options = Options();
  options.segment_size = 1;
  EXPECT_EQ(Start(options).code(), ErrorCode::kInvalidParams);
  options = Options(std::string(300, 'n'));
  EXPECT_EQ(Start(options).code(), ErrorCode::kInvalidParams);
  options = Options();
  options.protocol = "carrier-pigeon";
  EXPECT_EQ(Start(options).code(), ErrorCode::kInvalidParams);
  options = Options();
  options.listen = "nonsense";
  EXPECT_EQ(Start(options).code(), ErrorCode::kInvalidParams);
}

TEST(LocalAddress, IsTheOneThatRoutesThere) {
  EXPECT_EQ(LocalAddressTowards("127.0.0.1:1").value_or(""), "127.0.0.1");
  EXPECT_EQ(LocalAddressTowards("[::1]:1").value_or("::1"), "::1");
  EXPECT_FALSE(LocalAddressTowards("no.such.host.invalid:1").ok());
  EXPECT_EQ(LocalAddressTowards("nonsense").code(), ErrorCode::kInvalidParams);
  EXPECT_TRUE(IsWildcardHost("::") && IsWildcardHost("0.0.0.0") && !IsWildcardHost("127.0.0.1"));
}

}  // namespace
}  // namespace mooncake

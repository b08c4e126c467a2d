#include "transfer/engine/peer_table.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "tests/support/fake_transport.h"
#include "tests/support/served_node.h"
#include "transfer/base/manual_clock.h"

namespace mooncake {
namespace {

using testing::FakeTransport;
using testing::ServedNode;

const Status kDown(ErrorCode::kTransferFail, "down");

class PeerTableTest : public ::testing::Test {
 protected:
  PeerTableTest() {
    auto near = std::make_unique<FakeTransport>(
        clock_, "near", TransportCapabilities{.views = true, .same_host_only = true});
    auto far = std::make_unique<FakeTransport>(clock_, "far", TransportCapabilities{});
    near_ = near.get();
    far_ = far.get();
    near_->AddNode(kPeer, node_.segments());
    far_->AddNode(kPeer, node_.segments());
    far_->AddNode(kOther, node_.segments());
    transports_.push_back(std::move(near));
    transports_.push_back(std::move(far));
    table_ = std::make_unique<PeerTable>(transports_, clock_, PeerTableOptions{});
  }
  Result<PeerPath> Get(const PeerAddress& peer = kPeer) {
    return table_->Get(peer, clock_.Now() + Seconds(10));
  }

  inline static const PeerAddress kPeer{.host_id = "h", .protocol = "fake", .endpoint = "a:1"};
  inline static const PeerAddress kOther{.host_id = "i", .protocol = "fake", .endpoint = "b:1"};
  ManualClock clock_;
  ServedNode node_{4096, clock_};
  FakeTransport* near_ = nullptr;
  FakeTransport* far_ = nullptr;
  std::vector<std::unique_ptr<Transport>> transports_;
  std::unique_ptr<PeerTable> table_;
};

TEST_F(PeerTableTest, ChoosesTheFirstTransportThatReachesThePeerAndKeepsTheConnection) {
  ASSERT_TRUE(Get().ok());
  EXPECT_EQ(Get()->transport, 0u);
  EXPECT_EQ(Get(kOther)->transport, 1u);
  EXPECT_EQ(Get()->connection, Get()->connection);
  EXPECT_EQ(near_->connects(kPeer), 1u);
  EXPECT_EQ(table_->Nearest(kPeer), 0u);
  EXPECT_EQ(table_->Nearest(kPeer, 1), 1u);
  EXPECT_EQ(table_->Nearest({.endpoint = "nowhere"}), 2u);
}

TEST_F(PeerTableTest, FallsBackToTheNextTransport) {
  near_->SetConnectFault(kPeer, kDown);
  EXPECT_EQ(Get()->transport, 1u);
  EXPECT_EQ(table_->refused_fast(), 0u);
}

TEST_F(PeerTableTest, ReplacesAConnectionThatIsNotHealthy) {
  const auto first = Get()->connection;
  near_->BreakConnections();
  EXPECT_NE(Get()->connection, first);
  EXPECT_EQ(near_->connects(kPeer), 2u);
}

// F046: a dead node must not cost a time-out for each of its keys.
TEST_F(PeerTableTest, AFailedPeerIsLeftAloneForAWhileThatDoubles) {
  near_->SetConnectFault(kPeer, kDown);
  far_->SetConnectFault(kPeer, kDown);
  const Duration pauses[] = {Seconds(1), Seconds(2), Seconds(4), Seconds(5), Seconds(5)};
  uint64_t tried = 0;
  for (const Duration pause : pauses) {
    EXPECT_EQ(Get().code(), ErrorCode::kTransferFail);
    EXPECT_EQ(far_->connects(kPeer), ++tried);
    clock_.Advance(pause - Millis(1));
    for (int i = 0; i < 500; ++i) EXPECT_EQ(Get().code(), ErrorCode::kTransferFail);
    EXPECT_EQ(far_->connects(kPeer), tried) << "refused without a try";
    clock_.Advance(Millis(1));
  }
  EXPECT_EQ(table_->refused_fast(), 2500u);
  EXPECT_TRUE(Get(kOther).ok()) << "others are not affected";
  near_->SetConnectFault(kPeer, Status::Ok());
  EXPECT_TRUE(Get().ok());
  EXPECT_TRUE(Get().ok()) << "the first success ends the pause";
}

TEST_F(PeerTableTest, APeerThatConnectsButDoesNotAnswerIsLeftAloneToo) {
  ASSERT_TRUE(Get().ok());
  table_->OnSilence(kPeer, Status(ErrorCode::kRpcTimeout, "frozen"));
  EXPECT_EQ(Get().code(), ErrorCode::kTransferFail);
  EXPECT_NE(Get().message().find("frozen"), std::string::npos);
  clock_.Advance(Seconds(1));
  EXPECT_TRUE(Get().ok()) << "one may try";
  EXPECT_FALSE(Get().ok()) << "while the others wait for its answer";
  table_->OnAnswer(kPeer);
  EXPECT_TRUE(Get().ok());
}

TEST_F(PeerTableTest, ATimeOutOfTheCallerIsNoFailureOfThePeer) {
  near_->SetConnectFault(kPeer, Status(ErrorCode::kRpcTimeout, "late"));
  far_->SetConnectFault(kPeer, Status(ErrorCode::kRpcTimeout, "late"));
  EXPECT_EQ(Get().code(), ErrorCode::kRpcTimeout);
  EXPECT_EQ(Get().code(), ErrorCode::kRpcTimeout);
  EXPECT_EQ(table_->refused_fast(), 0u);
}

TEST_F(PeerTableTest, PruneLetsGoOfBrokenConnectionsUnlessTheyAreLookedAt) {
  const std::weak_ptr<Connection> idle = Get(kOther)->connection;
  const std::weak_ptr<Connection> viewed = Get()->connection;
  table_->KeepForViews(kPeer, *Get());
  near_->BreakConnections();
  far_->BreakConnections();
  table_->Prune();
  EXPECT_TRUE(idle.expired());
  clock_.Advance(Seconds(59));
  table_->Prune();
  EXPECT_FALSE(viewed.expired());
  clock_.Advance(Seconds(1));
  table_->Prune();
  EXPECT_TRUE(viewed.expired()) << "or the memory of a dead node would never be free";
}

TEST_F(PeerTableTest, IsBounded) {
  PeerTable small(transports_, clock_, {.max_peers = 3});
  const std::weak_ptr<Connection> first = small.Get(kPeer, kNever)->connection;
  for (int i = 0; i < 100; ++i) {
    const PeerAddress peer{.host_id = "z", .protocol = "fake", .endpoint = std::to_string(i)};
    far_->AddNode(peer, node_.segments());
    EXPECT_TRUE(small.Get(peer, kNever).ok());
  }
  EXPECT_TRUE(first.expired());
}

TEST_F(PeerTableTest, OneDialServesAllWhoWait) {
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] { failed += table_->Get(kPeer, kNever).ok() ? 0 : 1; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(near_->connects(kPeer), 1u);
}

}  // namespace
}  // namespace mooncake

#include "transfer/engine/transfer_engine.h"

#include <atomic>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "tests/support/fake_transport.h"
#include "tests/support/served_node.h"
#include "transfer/base/guarded.h"

namespace mooncake {
namespace {

using testing::FakeFault;
using testing::FakeTransport;
using testing::Pattern;
using testing::ServedNode;

PeerAddress Peer(int i) {
  return {.host_id = "h", .protocol = "fake", .endpoint = "node:" + std::to_string(i)};
}

class TransferEngineTest : public ::testing::Test {
 protected:
  static constexpr int kNodes = 3;

  TransferEngineTest() {
    std::vector<std::unique_ptr<Transport>> transports;
    auto near = std::make_unique<FakeTransport>(
        SystemClock(), "near", TransportCapabilities{.views = true, .same_host_only = true});
    auto far = std::make_unique<FakeTransport>(SystemClock(), "far", TransportCapabilities{});
    near_ = near.get();
    far_ = far.get();
    for (int i = 0; i < kNodes; ++i) {
      nodes_.push_back(std::make_unique<ServedNode>(kBytes));
      peers_.push_back(Peer(i));
      far_->AddNode(peers_[static_cast<size_t>(i)], nodes_.back()->segments());
    }
    near_->AddNode(peers_[0], nodes_[0]->segments());
    transports.push_back(std::move(near));
    transports.push_back(std::move(far));
    executor_ = MakeThreadPool("engine-test", 2);
    auto engine = TransferEngine::Create(std::move(transports), executor_, SystemClock(), {});
    MC_CHECK(engine.ok());
    engine_ = std::move(engine).value();
  }

  PeerSlice Read(size_t node, uint64_t offset, MutableByteSpan buffer) {
    return {.peer = &peers_[node], .slice = ServedNode::Read(offset, buffer)};
  }
  PeerSlice Write(size_t node, uint64_t offset, MutableByteSpan buffer) {
    return {.peer = &peers_[node], .slice = nodes_[node]->Write(offset, buffer, PutId{1})};
  }
  Status Run(PeerSlice slice) {
    engine_->Execute({&slice, 1}, Soon());
    return slice.slice.status;
  }
  static TimePoint Soon() { return SystemClock().Now() + Seconds(20); }

  static constexpr uint64_t kBytes = 1 << 20;
  std::vector<std::unique_ptr<ServedNode>> nodes_;
  std::vector<PeerAddress> peers_;
  FakeTransport* near_ = nullptr;
  FakeTransport* far_ = nullptr;
  std::shared_ptr<Executor> executor_;
  std::unique_ptr<TransferEngine> engine_;
};

TEST_F(TransferEngineTest, MovesABatchOfSeveralPeersAndSettlesEachSlice) {
  std::vector<std::byte> data = Pattern(9000, 1);
  std::vector<PeerSlice> slices;
  for (size_t i = 0; i < 9; ++i) {
    slices.push_back(Write(i % 3, 4096 * i, MutableByteSpan(data).subspan(1000 * i, 1000)));
  }
  slices[4].slice.epoch = AccessEpoch{77};
  engine_->Execute(slices, Soon());
  for (size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(slices[i].slice.status.code(), i == 4 ? ErrorCode::kInvalidVersion : ErrorCode::kOk);
    EXPECT_EQ(std::equal(data.begin() + static_cast<long>(1000 * i),
                         data.begin() + static_cast<long>(1000 * i + 1000),
                         nodes_[i % 3]->memory().begin() + static_cast<long>(4096 * i)),
              i != 4);
  }
  EXPECT_EQ(far_->batches(), 2u) << "one batch for each peer";
  EXPECT_EQ(near_->batches(), 1u);
}

TEST_F(TransferEngineTest, SmallSlicesGoFirst) {
  Guarded<std::vector<uint64_t>> order;
  far_->SetSliceHook([&](const PeerAddress&, const Slice& slice) {
    order.With([&](auto& list) { list.push_back(slice.length()); });
    return FakeFault{};
  });
  std::vector<std::byte> data(200'000);
  std::vector<PeerSlice> slices;
  for (const size_t size : {200'000, 10, 100'000, 20})
    slices.push_back(Read(1, 0, MutableByteSpan(data).first(size)));
  engine_->Execute(slices, Soon());
  EXPECT_EQ(order.With([](auto& list) { return list; }),
            (std::vector<uint64_t>{10, 20, 200'000, 100'000}));
  EXPECT_EQ(slices[0].slice.length(), 200'000u) << "the caller's order stays";
}

TEST_F(TransferEngineTest, AReadWhosePathBrokeIsTriedOnTheNextTransport) {
  std::vector<std::byte> data = Pattern(100, 1);
  std::vector<std::byte> got(100);
  ASSERT_TRUE(Run(Write(0, 0, data)).ok());
  near_->SetPeerFault(peers_[0], Status(ErrorCode::kTransferFail, "cable"));
  EXPECT_TRUE(Run(Read(0, 0, got)).ok());
  EXPECT_EQ(got, data);
  EXPECT_EQ(engine_->counters().transports[1].retries, 1u);
}

TEST_F(TransferEngineTest, AWriteWhosePathBrokeIsNot) {
  std::vector<std::byte> data = Pattern(100, 1);
  near_->SetPeerFault(peers_[0], Status(ErrorCode::kTransferFail, "cable"));
  EXPECT_EQ(Run(Write(0, 0, data)).code(), ErrorCode::kTransferFail);
  EXPECT_EQ(far_->slices(), 0u)
      << "its outcome is unknown: a second one could land after the put was given up";
}

TEST_F(TransferEngineTest, ARefusalIsNotTriedElsewhere) {
  std::vector<std::byte> data(100);
  PeerSlice slice = Read(0, 0, data);
  slice.slice.epoch = AccessEpoch{1};
  EXPECT_EQ(Run(slice).code(), ErrorCode::kInvalidVersion);
  EXPECT_EQ(far_->slices(), 0u);
}

// F046, through the engine: 500 keys of a dead node cost one failure, not 500.
TEST_F(TransferEngineTest, ADeadPeerIsAskedOnce) {
  far_->SetConnectFault(peers_[1], Status(ErrorCode::kTransferFail, "connection refused"));
  std::vector<std::byte> data(10);
  for (int i = 0; i < 500; ++i) EXPECT_EQ(Run(Read(1, 0, data)).code(), ErrorCode::kTransferFail);
  EXPECT_EQ(far_->connects(peers_[1]), 1u);
  EXPECT_EQ(engine_->counters().refused_fast, 499u);
  EXPECT_TRUE(Run(Read(2, 0, data)).ok());
}

TEST_F(TransferEngineTest, ASlowPeerDelaysOnlyItsOwnSlices) {
  std::atomic<bool> release{false};
  Mutex mutex;
  CondVar changed;
  far_->SetSliceHook([&](const PeerAddress& peer, const Slice&) {
    if (peer == peers_[1]) {
      MutexLock lock(mutex);
      while (!release) changed.Wait(mutex);
    }
    return FakeFault{};
  });
  std::vector<std::byte> data(100);
  std::vector<std::thread> stuck;  // more than the pool has threads
  for (int i = 0; i < 4; ++i) {
    stuck.emplace_back([&] {
      std::vector<std::byte> mine(200);
      std::vector<PeerSlice> slices = {Read(0, 0, MutableByteSpan(mine).first(100)),
                                       Read(1, 0, MutableByteSpan(mine).last(100))};
      engine_->Execute(slices, Soon());
    });
  }
  std::vector<PeerSlice> slices = {Read(0, 0, MutableByteSpan(data).first(50)),
                                   Read(2, 0, MutableByteSpan(data).last(50))};
  engine_->Execute(slices, Soon());
  EXPECT_TRUE(slices[0].slice.status.ok());
  EXPECT_TRUE(slices[1].slice.status.ok());
  {
    MutexLock lock(mutex);
    release = true;
    changed.NotifyAll();
  }
  for (std::thread& thread : stuck) thread.join();
}

TEST_F(TransferEngineTest, ViewsFencesAndFlagsGoToThePeer) {
  std::vector<std::byte> data = Pattern(100, 1);
  ASSERT_TRUE(Run(Write(0, 0, data)).ok());
  const auto view =
      engine_->View(peers_[0], ServedNode::kSegment, ServedNode::kEpoch, 0, 100, Soon());
  ASSERT_TRUE(view.ok()) << view.message();
  EXPECT_EQ(view->data(), nodes_[0]->memory().data());
  EXPECT_EQ(
      engine_->View(peers_[1], ServedNode::kSegment, ServedNode::kEpoch, 0, 100, Soon()).code(),
      ErrorCode::kNotSupported);
  EXPECT_TRUE(engine_->Fence(peers_[1], ServedNode::kSegment, PutId{1}, Soon()).ok());
  EXPECT_EQ(Run(Write(1, 0, data)).code(), ErrorCode::kInvalidVersion);
  EXPECT_EQ(
      engine_->Supersede(peers_[2], ServedNode::kSegment, ServedNode::kEpoch, 0, PutId{1}, Soon())
          .code(),
      ErrorCode::kReplicaIsGone);
  near_->BreakConnections();
  engine_->Tick();
  EXPECT_EQ(view->front(), data.front()) << "a view stays mapped";
}

TEST_F(TransferEngineTest, KnowsHowNearAPeerIs) {
  EXPECT_EQ(engine_->LocalityOf(peers_[0]), PeerLocality::kSameHost);
  EXPECT_EQ(engine_->LocalityOf(peers_[1]), PeerLocality::kRemote);
  EXPECT_EQ(engine_->LocalityOf(Peer(99)), PeerLocality::kRemote);
  std::vector<std::byte> data(1);
  const PeerAddress nowhere = Peer(99);
  EXPECT_EQ(Run({.peer = &nowhere, .slice = ServedNode::Read(0, data)}).code(),
            ErrorCode::kTransferFail);
}

TEST_F(TransferEngineTest, CountsWhatItMoved) {
  std::vector<std::byte> data(100);
  ASSERT_TRUE(Run(Write(0, 0, data)).ok());
  ASSERT_TRUE(Run(Read(0, 0, data)).ok());
  ASSERT_TRUE(Run(Read(1, 0, data)).ok());
  const TransferCounters counters = engine_->counters();
  EXPECT_EQ(counters.transports[0].name, "near");
  EXPECT_EQ(counters.transports[0].bytes_written, 100u);
  EXPECT_EQ(counters.transports[0].bytes_read, 100u);
  EXPECT_EQ(counters.transports[0].bytes_copied, 100u)
      << "a read in place is a copy of ours, a write is the node's";
  EXPECT_EQ(counters.transports[1].slices_read, 1u);
  EXPECT_EQ(counters.transports[1].bytes_copied, 0u);
  EXPECT_EQ(counters.transports[1].connects, 1u);
}

TEST_F(TransferEngineTest, RegistersMemoryWithAllTransportsOrNone) {
  std::vector<std::byte> memory(100);
  EXPECT_TRUE(engine_->RegisterMemory(memory).ok());
  EXPECT_EQ(engine_->RegisterMemory(MutableByteSpan(memory).subspan(50)).code(),
            ErrorCode::kInvalidParams);
  EXPECT_TRUE(engine_->UnregisterMemory(memory.data()).ok());
  ASSERT_TRUE(far_->RegisterMemory(memory).ok());
  EXPECT_FALSE(engine_->RegisterMemory(memory).ok());
  EXPECT_FALSE(near_->UnregisterMemory(memory.data()).ok()) << "undone where it had worked";
}

TEST(TransferEngine, NeedsATransport) {
  EXPECT_EQ(TransferEngine::Create({}, nullptr, SystemClock(), {}).code(),
            ErrorCode::kInvalidParams);
}

}  // namespace
}  // namespace mooncake

// What becomes of transfers when nodes die, freeze, take their keys back, or when time runs out. As `--node` this program is
// the node, as `--locked` a client with a small limit of locked memory.
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "tests/integration/rdma/rdma_node.h"
#include "tests/support/process.h"
#include "tests/support/wait.h"
#include "transfer/base/units.h"
#include "transfer/transport/rdma/rdma_connection.h"
#include "transfer/transport/rdma/rdma_transport.h"

namespace mooncake::testing {
namespace {

constexpr uint64_t kBytes = 16 * kMiB;

TimePoint In(Duration d) { return SystemClock().Now() + d; }

std::unique_ptr<RdmaTransport> NewTransport() {
  auto transport = RdmaTransport::Create({}, SystemClock());
  MC_CHECK(transport.ok()) << transport.message();
  return std::move(transport).value();
}

Status Execute(Connection& connection, Slice slice, TimePoint deadline = In(Seconds(30))) {
  connection.Execute({&slice, 1}, deadline);
  return slice.status;
}

// A node in a process of its own, which can be killed and frozen.
class NodeProcess {
 public:
  NodeProcess()
      : process_(
            {.command = {std::filesystem::read_symlink("/proc/self/exe").string(), "--node"}}) {
    const auto line = process_.WaitForLine("endpoint ", Seconds(60));
    MC_CHECK(line.ok()) << line.message();
    peer_ = {.host_id = kRdmaHost,
             .protocol = "rdma",
             .endpoint = line->substr(std::strlen("endpoint "))};
  }
  Process& process() { return process_; }
  const PeerAddress& peer() const { return peer_; }

 private:
  Process process_;
  PeerAddress peer_;
};

// As in the process.
Slice RemoteWrite(uint64_t offset, MutableByteSpan buffer) {
  Slice slice = ServedNode::Read(offset, buffer);
  slice.op = SliceOp::kWrite;
  slice.grant = {.put_id = PutId{1}, .deadline_ms = 1'000'000 + 60'000};
  return slice;
}

TEST(RdmaFaults, ANodeKilledInTheMiddleOfReadsFailsThemAndTheConnection) {
  NodeProcess node;
  const auto transport = NewTransport();
  auto connection = transport->Connect(node.peer(), In(Seconds(30)));
  ASSERT_TRUE(connection.ok()) << connection.message();
  std::atomic<int> reads{0};
  Status last;
  std::thread reader([&] {
    std::vector<std::byte> got(4 * kMiB);
    do {
      last = Execute(**connection, ServedNode::Read(0, got), In(Seconds(60)));
      ++reads;
    } while (last.ok());
  });
  EXPECT_TRUE(Eventually([&] { return reads >= 2; }, Seconds(60)));
  node.process().Kill();
  const TimePoint killed = SystemClock().Now();
  reader.join();
  EXPECT_EQ(last.code(), ErrorCode::kTransferFail) << last;
  EXPECT_LT(SystemClock().Now() - killed, Seconds(30)) << "found out well before the deadline";
  EXPECT_FALSE((*connection)->healthy());
}

TEST(RdmaFaults, AFrozenNodeServesReadsAndHoldsUpNobodyBeyondTheDeadline) {
  NodeProcess node;
  const auto transport = NewTransport();
  auto connection = transport->Connect(node.peer(), In(Seconds(30)));
  ASSERT_TRUE(connection.ok()) << connection.message();
  std::vector<std::byte> sent = Pattern(100'000, 1);
  std::vector<std::byte> got(sent.size());
  ASSERT_TRUE(Execute(**connection, RemoteWrite(0, sent)).ok());
  node.process().Stop();
  EXPECT_TRUE(Execute(**connection, ServedNode::Read(0, got)).ok())
      << "one-sided: its processor is not needed";
  EXPECT_EQ(got, sent);
  std::vector<std::byte> late = Pattern(100'000, 2);
  const TimePoint deadline = In(Millis(300));
  EXPECT_EQ(Execute(**connection, RemoteWrite(0, late), deadline).code(), ErrorCode::kRpcTimeout);
  EXPECT_LT(SystemClock().Now() - deadline, Seconds(3));
  node.process().Continue();
  ASSERT_TRUE(Execute(**connection, ServedNode::Read(0, got)).ok());
  EXPECT_EQ(got, sent) << "what was never admitted did not land";
  EXPECT_TRUE(Execute(**connection, RemoteWrite(0, late)).ok()) << "and the node works again";
}

TEST(RdmaFaults, NobodyThereIsFoundOutAtOnce) {
  const auto transport = NewTransport();
  const PeerAddress nobody{
      .host_id = kRdmaHost, .protocol = "rdma", .endpoint = std::string(kRdmaAddress) + ":1"};
  const auto refused = transport->Connect(nobody, In(Seconds(30)));
  EXPECT_EQ(refused.code(), ErrorCode::kTransferFail) << refused.message();
}

TEST(RdmaFaults, APeerWithAnotherIdentityIsRefused) {
  RdmaNode node(kMiB);
  const auto transport = NewTransport();
  PeerAddress other = node.peer();
  other.host_id = "elsewhere";
  const auto refused = transport->Connect(other, In(Seconds(30)));
  EXPECT_EQ(refused.code(), ErrorCode::kTransferFail);
  EXPECT_NE(refused.message().find("answers there"), std::string::npos) << refused.message();
}

// Everything a client holds that stalls: a channel with keys, and a write that was admitted.
class StalledClient : public ::testing::Test {
 protected:
  void SetUp() override {
    auto devices = rdma::DeviceSet::Open();
    ASSERT_TRUE(devices.ok()) << devices.message();
    state_ = std::make_unique<rdma::ClientState>(std::move(devices).value(), RdmaTransportOptions{},
                                                 SystemClock());
    auto channel = rdma::Channel::Dial(node_.peer(), state_->context, In(Seconds(30)));
    ASSERT_TRUE(channel.ok()) << channel.message();
    channel_ = std::move(channel).value();
    ErrorCode code = ErrorCode::kOk;
    ASSERT_TRUE(
        channel_->KeysFor(ServedNode::kSegment, ServedNode::kEpoch, In(Seconds(30)), code, keys_)
            .ok());
    ASSERT_NE(keys_, nullptr) << code;
    staging_ = channel_->queue().staging().first(1000);
    const std::vector<std::byte> bytes = Pattern(1000, 5);
    std::copy(bytes.begin(), bytes.end(), staging_.begin());
  }

  ErrorCode Begin(const WriteGrant& grant) {
    rdma::Reply reply;
    rdma::Request request{.op = rdma::Op::kBeginWrite, .id = 0, .entries = {}};
    request.entries.push_back({.segment = ServedNode::kSegment,
                               .epoch = ServedNode::kEpoch,
                               .offset = 0,
                               .length = 1000,
                               .grant = grant});
    const Status status = channel_->Exchange(request, In(Seconds(30)), reply);
    return status.ok() ? reply.codes.front() : status.code();
  }
  // Without asking anybody.
  Status Post(SliceOp op) {
    const rdma::LocalRun run{reinterpret_cast<uint64_t>(staging_.data()), staging_.size(),
                             channel_->queue().staging_key()};
    std::vector<rdma::WorkRequest> requests;
    rdma::PlanSlice(*keys_, op, 0, 0, {&run, 1}, kMiB, requests);
    RETURN_IF_ERROR(
        channel_->queue().Post(requests[0], rdma::QueuePair::Follows::kNothing, In(Seconds(30))));
    return channel_->queue().Drain(In(Seconds(30)));
  }
  bool Untouched() {
    const MutableByteSpan memory = node_.node().memory().first(1000);
    return std::all_of(memory.begin(), memory.end(), [](std::byte b) { return b == std::byte{0}; });
  }
  ServedSegments& segments() { return node_.node().segments(); }

  RdmaNode node_{kMiB};
  std::unique_ptr<rdma::ClientState> state_;
  std::unique_ptr<rdma::Channel> channel_;
  const rdma::SegmentKeys* keys_ = nullptr;
  MutableByteSpan staging_;
};

TEST_F(StalledClient, ItsKeysWork) {
  EXPECT_TRUE(Post(SliceOp::kRead).ok());
  EXPECT_EQ(Begin(node_.node().Grant(PutId{1})), ErrorCode::kOk);
  EXPECT_TRUE(Post(SliceOp::kWrite).ok());
}

TEST_F(StalledClient, KeysOfAnOldEpochAreRefusedByTheDeviceForReading) {
  ASSERT_TRUE(segments().SetEpoch(ServedNode::kSegment, AccessEpoch{4}, In(Seconds(10))).ok());
  std::fill(node_.node().memory().begin(), node_.node().memory().end(), std::byte{0x77});
  EXPECT_EQ(Post(SliceOp::kRead).code(), ErrorCode::kTransferFail);
  EXPECT_TRUE(channel_->queue().access_refused());
  EXPECT_NE(staging_[0], std::byte{0x77}) << "nothing of the new epoch was seen";
}

TEST_F(StalledClient, KeysOfAnOldEpochAreRefusedByTheDeviceForWriting) {
  ASSERT_TRUE(segments().SetEpoch(ServedNode::kSegment, AccessEpoch{4}, In(Seconds(10))).ok());
  // The new epoch has been registered too: other keys, same memory.
  const auto transport = NewTransport();
  auto connection = transport->Connect(node_.peer(), In(Seconds(30)));
  ASSERT_TRUE(connection.ok());
  std::vector<std::byte> got(1000);
  Slice slice = ServedNode::Read(0, got);
  slice.epoch = AccessEpoch{4};
  ASSERT_TRUE(Execute(**connection, slice).ok());
  EXPECT_EQ(Post(SliceOp::kWrite).code(), ErrorCode::kTransferFail);
  EXPECT_TRUE(channel_->queue().access_refused());
  EXPECT_TRUE(Untouched());
}

TEST_F(StalledClient, KeysOfARemovedSegmentAreRefusedByTheDevice) {
  ASSERT_TRUE(segments().Remove(ServedNode::kSegment, In(Seconds(10))).ok());
  EXPECT_EQ(Post(SliceOp::kWrite).code(), ErrorCode::kTransferFail);
  EXPECT_TRUE(Untouched());
}

TEST_F(StalledClient, AFenceTakesTheQueuePairOfAnAdmittedWrite) {
  ASSERT_EQ(Begin(node_.node().Grant(PutId{1})), ErrorCode::kOk);
  ASSERT_TRUE(segments().Fence(PutId{1}, In(Seconds(10))).ok());
  EXPECT_EQ(node_.server().stats().writes_cut, 1u);
  EXPECT_EQ(Post(SliceOp::kWrite).code(), ErrorCode::kTransferFail);
  EXPECT_TRUE(Untouched());
}

TEST_F(StalledClient, AnEpochThatMovesOnTakesTheQueuePairOfAnAdmittedWrite) {
  ASSERT_EQ(Begin(node_.node().Grant(PutId{1})), ErrorCode::kOk);
  ASSERT_TRUE(segments().SetEpoch(ServedNode::kSegment, AccessEpoch{4}, In(Seconds(10))).ok());
  EXPECT_EQ(node_.server().stats().writes_cut, 1u);
  EXPECT_EQ(Post(SliceOp::kWrite).code(), ErrorCode::kTransferFail);
  EXPECT_TRUE(Untouched());
}

TEST_F(StalledClient, AGrantThatRunsOutTakesTheQueuePairOfAnAdmittedWrite) {
  // The estimate of the master's clock is renewed, so that half a second is half a second.
  node_.node().master_clock().Update(2'000'000, SystemClock().Now());
  ASSERT_EQ(Begin({.put_id = PutId{1}, .deadline_ms = 2'000'500}), ErrorCode::kOk);
  EXPECT_TRUE(Eventually([&] { return node_.server().stats().writes_cut == 1; }));
  EXPECT_EQ(Post(SliceOp::kWrite).code(), ErrorCode::kTransferFail);
  EXPECT_TRUE(Untouched());
}

TEST_F(StalledClient, AClientThatGoesAwayLetsItsRangesGo) {
  ASSERT_EQ(Begin(node_.node().Grant(PutId{1})), ErrorCode::kOk);
  EXPECT_EQ(segments().active_accesses(), 2u) << "the keys and the write";
  channel_.reset();
  EXPECT_TRUE(Eventually([&] { return segments().active_accesses() == 1; }));
}

TEST_F(StalledClient, WhatIsNotAllowedBetweenBeginAndEndClosesTheQueuePair) {
  ASSERT_EQ(Begin(node_.node().Grant(PutId{1})), ErrorCode::kOk);
  ErrorCode code = ErrorCode::kOk;
  EXPECT_EQ(channel_->Call(rdma::Op::kFence, {}, In(Seconds(30)), code).code(),
            ErrorCode::kTransferFail);
  EXPECT_TRUE(Eventually([&] { return node_.server().stats().channels == 0; }));
  EXPECT_EQ(node_.server().stats().bad_messages, 1u);
}

TEST(RdmaFaults, NothingLandsInABufferAfterItsCallReturned) {
  RdmaNode node(kBytes);
  std::fill(node.node().memory().begin(), node.node().memory().end(), std::byte{0x11});
  const auto transport = NewTransport();
  std::vector<std::byte> got(kBytes);
  ASSERT_TRUE(transport->RegisterMemory(got).ok());
  auto connection = transport->Connect(node.peer(), In(Seconds(30)));
  ASSERT_TRUE(connection.ok());
  ASSERT_TRUE(Execute(**connection, ServedNode::Read(0, got)).ok());
  int cut = 0;
  for (int ms = 1; ms <= 12; ++ms) {
    const Status status = Execute(**connection, ServedNode::Read(0, got), In(Millis(ms)));
    // Whoever is late writes over this.
    std::fill(got.begin(), got.end(), std::byte{0x22});
    if (status.code() == ErrorCode::kRpcTimeout) ++cut;
    std::vector<std::byte> other(64 << 10);
    ASSERT_TRUE(Execute(**connection, ServedNode::Read(0, other)).ok());
    const auto late =
        std::count_if(got.begin(), got.end(), [](std::byte b) { return b != std::byte{0x22}; });
    ASSERT_EQ(late, 0) << "deadline of " << ms << " ms";
  }
  EXPECT_GT(cut, 0) << "no call was cut: the test has tested nothing";
  ASSERT_TRUE(transport->UnregisterMemory(got.data()).ok());
}

TEST(RdmaFaults, ManyClientsAtOnce) {
  constexpr int kClients = 4;
  constexpr int kThreads = 3;
  constexpr int kRounds = 15;
  constexpr size_t kSlice = 300'000;
  RdmaNode node(kBytes, /*chunk_bytes=*/kMiB);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<RdmaTransport>> transports;
  std::vector<std::shared_ptr<Connection>> connections;
  for (int c = 0; c < kClients; ++c) {
    transports.push_back(NewTransport());
    auto connection = transports.back()->Connect(node.peer(), In(Seconds(30)));
    ASSERT_TRUE(connection.ok()) << connection.message();
    connections.push_back(*connection);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, number = c * kThreads + t, own = *connection] {
        const uint64_t offset = static_cast<uint64_t>(number) * kMiB + 700'000;
        std::vector<std::byte> got(kSlice);
        for (int i = 0; i < kRounds; ++i) {
          std::vector<std::byte> sent = Pattern(kSlice, static_cast<uint64_t>(number * 1000 + i));
          Slice write = node.node().Write(offset, sent, PutId{static_cast<uint64_t>(number + 1)});
          if (!Execute(*own, write).ok() || !Execute(*own, ServedNode::Read(offset, got)).ok() ||
              got != sent) {
            ++wrong;
          }
        }
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(node.server().stats().exports, 1u);
  EXPECT_TRUE(Eventually([&] { return node.node().segments().active_accesses() == 1; }));
}

class RdmaCounts : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(transport_->RegisterMemory(memory_).ok());
    auto connection = transport_->Connect(node_.peer(), In(Seconds(30)));
    ASSERT_TRUE(connection.ok()) << connection.message();
    connection_ = *connection;
    // Keys are asked for once.
    std::vector<std::byte> one(1);
    ASSERT_TRUE(Execute(*connection_, ServedNode::Read(0, one)).ok());
    before_ = transport_->counters();
  }
  RdmaTransportCounters Since() const {
    const RdmaTransportCounters now = transport_->counters();
    return {.work_requests = now.work_requests - before_.work_requests,
            .messages = now.messages - before_.messages,
            .bytes_copied = now.bytes_copied - before_.bytes_copied,
            .registrations = now.registrations - before_.registrations,
            .dials = now.dials - before_.dials};
  }
  // Data and seal, which lie apart in local memory.
  std::vector<Slice> Slices(SliceOp op, size_t count) {
    std::vector<Slice> slices;
    for (size_t i = 0; i < count; ++i) {
      const MutableByteSpan all(memory_);
      Slice slice = node_.node().Write(i * 8192, all.subspan(i * 4096, 4096), PutId{1});
      slice.buffers[2] = all.subspan(2 * kMiB + i * 64, 64);
      slice.op = op;
      slices.push_back(slice);
    }
    return slices;
  }

  RdmaNode node_{4 * kMiB};
  std::unique_ptr<RdmaTransport> transport_ = NewTransport();
  std::vector<std::byte> memory_ = Pattern(4 * kMiB, 1);
  std::shared_ptr<Connection> connection_;
  RdmaTransportCounters before_;
};

TEST_F(RdmaCounts, AReadOfRegisteredMemoryIsOneWorkRequestAndNothingElse) {
  std::vector<Slice> slices = Slices(SliceOp::kRead, 300);
  connection_->Execute(slices, In(Seconds(30)));
  for (const Slice& slice : slices) ASSERT_TRUE(slice.status.ok()) << slice.status;
  const uint64_t node_requests = node_.server().stats().requests;
  EXPECT_EQ(Since().work_requests, 300u);
  EXPECT_EQ(Since().messages, 0u) << "the node's processor took no part";
  EXPECT_EQ(node_requests, before_.messages);
  EXPECT_EQ(Since().bytes_copied, 0u);
  EXPECT_EQ(Since().registrations, 0u);
  EXPECT_EQ(Since().dials, 0u);
}

TEST_F(RdmaCounts, ABatchOfWritesIsOneWorkRequestEachAndTwoMessages) {
  std::vector<Slice> slices = Slices(SliceOp::kWrite, 200);
  connection_->Execute(slices, In(Seconds(30)));
  for (const Slice& slice : slices) ASSERT_TRUE(slice.status.ok()) << slice.status;
  EXPECT_EQ(Since().work_requests, 200u);
  EXPECT_EQ(Since().messages, 2u) << "begin and end";
  EXPECT_EQ(Since().bytes_copied, 0u);
  EXPECT_EQ(Since().registrations, 0u);
}

TEST_F(RdmaCounts, MemoryThatIsNotRegisteredIsCopiedOrRegisteredAndCounted) {
  std::vector<std::byte> small(1000);
  std::vector<std::byte> large(100'000);
  ASSERT_TRUE(Execute(*connection_, ServedNode::Read(0, small)).ok());
  EXPECT_EQ(Since().bytes_copied, 1000u);
  EXPECT_EQ(Since().registrations, 0u);
  ASSERT_TRUE(Execute(*connection_, ServedNode::Read(0, large)).ok());
  EXPECT_EQ(Since().bytes_copied, 1000u);
  EXPECT_EQ(Since().registrations, 1u);
}

// The padding before a seal is a constant of the program.
TEST_F(RdmaCounts, MemoryThatCannotBeWrittenCanBeSent) {
  for (const size_t size : {size_t{100}, size_t{100'000}}) {
    void* pages = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(pages, MAP_FAILED);
    const MutableByteSpan bytes(static_cast<std::byte*>(pages), size);
    EXPECT_EQ(Execute(*connection_, node_.node().Write(0, bytes, PutId{1})), Status::Ok());
    ::munmap(pages, size);
  }
}

TEST_F(RdmaCounts, MemoryIsRegisteredOnceAndForgottenWhenAsked) {
  EXPECT_EQ(transport_->RegisterMemory(MutableByteSpan(memory_).subspan(5, 10)).code(),
            ErrorCode::kInvalidParams);
  EXPECT_EQ(transport_->UnregisterMemory(memory_.data() + 1).code(), ErrorCode::kInvalidParams);
  ASSERT_TRUE(transport_->UnregisterMemory(memory_.data()).ok());
  EXPECT_EQ(transport_->UnregisterMemory(memory_.data()).code(), ErrorCode::kInvalidParams);
  ASSERT_TRUE(
      Execute(*connection_, ServedNode::Read(0, MutableByteSpan(memory_).first(kMiB))).ok());
  EXPECT_EQ(Since().registrations, 1u);
}

TEST(RdmaFaults, TheLimitOfLockedMemoryIsNamed) {
  Process client(
      {.command = {std::filesystem::read_symlink("/proc/self/exe").string(), "--locked"}});
  const auto ended = client.Wait(Seconds(60));
  ASSERT_TRUE(ended.has_value());
  EXPECT_TRUE(ended->ok()) << ended->ToString();
  EXPECT_NE(client.Output().find("NOT_SUPPORTED"), std::string::npos) << client.Output();
  EXPECT_NE(client.Output().find("ulimit -l"), std::string::npos) << client.Output();
  EXPECT_NE(client.Output().find("1024 KiB"), std::string::npos) << client.Output();
}

TEST(RdmaFaults, AnAddressWithoutADeviceIsNamedWithItsCure) {
  ServedNode node(kMiB);
  for (const std::string listen : {"203.0.113.7:0", "nonsense"}) {
    const auto server =
        RdmaServer::Create({.listen = listen, .host_id = "h"}, node.segments(), SystemClock());
    ASSERT_FALSE(server.ok());
    EXPECT_NE(server.message().find(listen), std::string::npos) << server.message();
  }
}

int RunNode() {
  RdmaNode node(kBytes);
  std::cout << "endpoint " << node.peer().endpoint << std::endl;
  for (;;) ::pause();
}

int RunLocked() {
  const auto transport = NewTransport();
  const rlimit limit{.rlim_cur = kMiB, .rlim_max = kMiB};
  MC_CHECK(::setrlimit(RLIMIT_MEMLOCK, &limit) == 0);
  // Root may lock without limit.
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct none[2]{};
  MC_CHECK(::syscall(SYS_capset, &header, none) == 0);
  std::vector<std::byte> memory(8 * kMiB);
  std::cout << transport->RegisterMemory(memory).ToString() << std::endl;
  return 0;
}

}  // namespace
}  // namespace mooncake::testing

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--node") return mooncake::testing::RunNode();
  if (argc > 1 && std::string_view(argv[1]) == "--locked") return mooncake::testing::RunLocked();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

// What the shared-memory transport makes of nodes that die, lie about their region, or take it back.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/served_node.h"
#include "transfer/transport/shm/shm_mapping.h"
#include "transfer/transport/shm/shm_transport.h"
#include "transfer/transport/tcp/tcp_server.h"

namespace mooncake::testing {
namespace {

TimePoint In(Duration d) { return SystemClock().Now() + d; }

class ShmFaults : public ::testing::Test {
 protected:
  ShmFaults() {
    static std::atomic<int> counter{0};
    peer_ = {.host_id = "h", .protocol = "tcp", .endpoint = {}, .local_socket = {}};
    peer_.local_socket = "@mc-shm-" + std::to_string(::getpid()) + "-" + std::to_string(counter++);
    auto server = TcpServer::Create({.local_socket = peer_.local_socket, .host_id = "h"},
                                    node_.segments(), SystemClock());
    MC_CHECK(server.ok()) << server.message();
    server_ = std::move(server).value();
    peer_.endpoint = server_->endpoint();
  }
  Status Read(Connection& connection, std::vector<std::byte>& into) {
    Slice slice = ServedNode::Read(0, into);
    connection.Execute({&slice, 1}, In(Seconds(10)));
    return slice.status;
  }

  ServedNode node_{1 << 20};
  PeerAddress peer_;
  std::unique_ptr<TcpServer> server_;
  std::unique_ptr<Transport> transport_ = MakeShmTransport("h", {}, SystemClock());
};

TEST_F(ShmFaults, ReadsMoveNothingOverTheSocketWritesDo) {
  auto connection = *transport_->Connect(peer_, In(Seconds(10)));
  std::vector<std::byte> bytes = Pattern(10'000, 1);
  Slice write = node_.Write(0, bytes, PutId{1});
  connection->Execute({&write, 1}, In(Seconds(10)));
  ASSERT_TRUE(write.status.ok()) << write.status;
  std::vector<std::byte> got(10'000);
  ASSERT_TRUE(Read(*connection, got).ok());
  EXPECT_EQ(got, bytes);
  EXPECT_EQ(server_->stats().bytes_written, 10'000u);
  EXPECT_EQ(server_->stats().bytes_read, 0u);
}

TEST_F(ShmFaults, AMixedBatchComesBackInTheCallersOrder) {
  auto connection = *transport_->Connect(peer_, In(Seconds(10)));
  std::vector<std::byte> bytes = Pattern(100, 1);
  std::vector<std::byte> got(100);
  Slice slices[] = {node_.Write(64, bytes, PutId{1}), ServedNode::Read(0, got),
                    node_.Write(256, bytes, PutId{1})};
  slices[0].epoch = AccessEpoch{9};
  connection->Execute(slices, In(Seconds(10)));
  EXPECT_EQ(slices[0].status.code(), ErrorCode::kInvalidVersion);
  EXPECT_TRUE(slices[1].status.ok());
  EXPECT_TRUE(slices[2].status.ok());
}

TEST_F(ShmFaults, AConnectionToADeadNodeIsUnhealthyAndItsMappedBytesStayReadable) {
  auto connection = *transport_->Connect(peer_, In(Seconds(10)));
  const auto view = connection->View(ServedNode::kSegment, ServedNode::kEpoch, 0, 1000);
  ASSERT_TRUE(view.ok()) << view.message();
  node_.memory()[5] = std::byte{7};
  server_->Stop();
  std::vector<std::byte> got(10);
  EXPECT_TRUE(Read(*connection, got).ok()) << "the lease covers it, and the memory is here";
  while (connection->healthy()) {
  }
  EXPECT_EQ((*view)[5], std::byte{7});
  connection.reset();
  EXPECT_EQ((*view)[5], std::byte{0}) << "let go: zeros, and no crash";
}

TEST_F(ShmFaults, ARegionThatCouldShrinkOrIsNotTheSegmentsIsNotMapped) {
  const uint64_t bytes = node_.region().mapped_size();
  const UniqueFd good(::dup(node_.region().fd()));
  EXPECT_TRUE(ShmMapping::Create(good, bytes, ServedNode::kSegment).ok());
  EXPECT_EQ(ShmMapping::Create(good, bytes, SegmentId{1, 1}).code(), ErrorCode::kNotSupported);
  EXPECT_EQ(ShmMapping::Create(good, bytes + 4096, ServedNode::kSegment).code(),
            ErrorCode::kNotSupported);
  EXPECT_EQ(ShmMapping::Create(good, 100, ServedNode::kSegment).code(), ErrorCode::kNotSupported);
  EXPECT_EQ(ShmMapping::Create(good, 4096, ServedNode::kSegment).code(), ErrorCode::kNotSupported)
      << "the header promises more than that";
  const UniqueFd plain(::memfd_create("mc-test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(plain.get(), static_cast<off_t>(bytes)), 0);
  EXPECT_EQ(ShmMapping::Create(plain, bytes, ServedNode::kSegment).code(),
            ErrorCode::kNotSupported);
}

TEST_F(ShmFaults, AHeaderThatPointsOutsideIsNotBelieved) {
  RegionHeader& header = node_.region().header();
  const UniqueFd fd(::dup(node_.region().fd()));
  const uint64_t bytes = node_.region().mapped_size();
  const uint64_t offset = header.data_offset;
  for (const uint64_t bad :
       {uint64_t{0}, bytes + 1, UINT64_MAX, UINT64_MAX - header.data_size + 1}) {
    header.data_offset = bad;
    EXPECT_EQ(ShmMapping::Create(fd, bytes, ServedNode::kSegment).code(), ErrorCode::kNotSupported)
        << bad;
  }
  header.data_offset = offset;
  const auto mapping = ShmMapping::Create(fd, bytes, ServedNode::kSegment);
  ASSERT_TRUE(mapping.ok());
  header.data_offset = UINT64_MAX;  // a node gone mad later on
  header.data_size = UINT64_MAX;
  EXPECT_EQ((*mapping)->Range(bytes, 1).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ((*mapping)->CheckEpoch(AccessEpoch{0}).code(), ErrorCode::kInvalidVersion)
      << "0 is closed, never an epoch";
}

TEST_F(ShmFaults, OnlyTheSameHostIsReached) {
  EXPECT_TRUE(transport_->CanReach(peer_));
  PeerAddress other = peer_;
  other.host_id = "i";
  EXPECT_FALSE(transport_->CanReach(other));
  other = peer_;
  other.local_socket.clear();
  EXPECT_FALSE(transport_->CanReach(other));
  EXPECT_FALSE(
      MakeShmTransport("", {}, SystemClock())->CanReach({.host_id = "", .local_socket = "@x"}));
}

}  // namespace
}  // namespace mooncake::testing

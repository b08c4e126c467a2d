#include "transfer/transport/in_process_directory.h"

#include <gtest/gtest.h>

#include "tests/support/served_node.h"
#include "transfer/transport/memcpy/memcpy_transport.h"

namespace mooncake {
namespace {

using testing::ServedNode;

const PeerAddress kPeer{.host_id = "h", .protocol = "tcp", .endpoint = "a:1", .local_socket = "@a"};

TEST(InProcessDirectory, KnowsANodeByItsWholeAddress) {
  ServedNode node(4096);
  InProcessDirectory directory;
  ASSERT_TRUE(directory.Publish(kPeer, node.segments()).ok());
  EXPECT_EQ(directory.Publish(kPeer, node.segments()).code(), ErrorCode::kSegmentAlreadyExists);
  EXPECT_NE(directory.Find(kPeer), nullptr);
  PeerAddress other = kPeer;
  other.host_id = "another machine with the same loopback endpoint";
  EXPECT_EQ(directory.Find(other), nullptr);
  directory.Withdraw(kPeer);
  directory.Withdraw(kPeer);
  EXPECT_EQ(directory.Find(kPeer), nullptr);
}

TEST(InProcessDirectory, ConnectionsOutliveTheNodeAndSaySo) {
  auto directory = std::make_shared<InProcessDirectory>();
  const auto transport = MakeMemcpyTransport(directory, SystemClock());
  std::shared_ptr<Connection> connection;
  {
    ServedNode node(4096);
    ASSERT_TRUE(directory->Publish(kPeer, node.segments()).ok());
    connection = *transport->Connect(kPeer, kNever);
    EXPECT_TRUE(connection->healthy());
    directory->Withdraw(kPeer);
  }
  EXPECT_FALSE(connection->healthy());
  std::vector<std::byte> buffer(10);
  Slice slice = ServedNode::Read(0, buffer);
  connection->Execute({&slice, 1}, kNever);
  EXPECT_EQ(slice.status.code(), ErrorCode::kTransferFail);
  EXPECT_EQ(connection->Fence(ServedNode::kSegment, PutId{1}, kNever).code(),
            ErrorCode::kTransferFail);
  EXPECT_EQ(connection->View(ServedNode::kSegment, ServedNode::kEpoch, 0, 1).code(),
            ErrorCode::kTransferFail);
  EXPECT_FALSE(transport->CanReach(kPeer));
}

}  // namespace
}  // namespace mooncake

#include "transfer/transport/transport_factory.h"

#include <string>

#include <gtest/gtest.h>

namespace mooncake {
namespace {

std::string Names(const std::vector<std::unique_ptr<Transport>>& transports) {
  std::string names;
  for (const auto& transport : transports) names += std::string(transport->name()) + " ";
  return names;
}

TEST(TransportFactory, WithoutRdmaWantedThereAreTheOthersBestFirst) {
  const auto transports = MakeTransports({.host_id = "h"}, SystemClock());
  ASSERT_TRUE(transports.ok()) << transports.message();
  EXPECT_EQ(Names(*transports), "shm tcp ");
}

// Both kinds of machines run this: the one with devices gets the transport, the other the reason.
TEST(TransportFactory, RdmaIsBeforeTcpOrItsAbsenceIsExplained) {
  const auto transports = MakeTransports({.host_id = "h", .rdma = true}, SystemClock());
  if (transports.ok()) {
    EXPECT_EQ(Names(*transports), "shm rdma tcp ");
    return;
  }
  EXPECT_EQ(transports.code(), ErrorCode::kNotSupported);
  EXPECT_NE(transports.message().find("RDMA"), std::string::npos) << transports.message();
}

}  // namespace
}  // namespace mooncake

// A node that pings, while its data port swallows what comes. Field report F105.
#include <unistd.h>

#include <array>

#include "master/api/wire_socket.h"
#include "tests/integration/cluster/cluster_fixture.h"
#include "tests/support/relay.h"

namespace mooncake::testing {
namespace {

// Of 127.0.0.1, and just now nobody's.
std::string FreePort() {
  const auto probe = wire::Listen({"127.0.0.1", 0});
  EXPECT_TRUE(probe.ok()) << probe.message();
  ::close(probe->fd);
  return std::to_string(probe->bound.port);
}

class DataPort : public ::testing::Test {
 protected:
  static MasterSpec Master() {
    MasterSpec spec = QuickMaster();
    spec.flags.insert(spec.flags.end(),
                      {"--segment_failure_threshold=2", "--segment_quarantine=3s"});
    return spec;
  }
  // Clients reach b at another address than the one where it listens: over the relay.
  DataPort() : relay_("127.0.0.1:" + port_, "127.0.0.2:" + port_), cluster_(Master()) {
    cluster_.StartNode({.name = "a"});
    cluster_.StartNode(
        {.name = "b", .flags = {"--listen=127.0.0.1:" + port_, "--advertise=127.0.0.2"}});
    for (auto& client : clients_) client = cluster_.Connect(OverTcp(Seconds(1)));
  }
  SegmentInfo B() {
    const auto segments = clients_[0]->master().GetSegments({}, In(Seconds(10)));
    EXPECT_TRUE(segments.ok() && segments->size() == 2) << "it is mounted all the time";
    return segments.ok() && segments->size() == 2 ? segments->at(1) : SegmentInfo{};
  }
  void ExpectRead(const std::string& key) {
    for (auto& client : clients_) {
      std::string value;
      EXPECT_EQ(client->Get(key, &value), Status::Ok());
      EXPECT_EQ(VersionOf(key, value), 1u);
    }
  }
  Status PutOnB(Client& client, const std::string& key) {
    return client.Put(key, AsBytes(ValueFor(key, 1, 10000)), On("b", WriteMode::kReplace)).status();
  }

  const std::string port_ = FreePort();
  Relay relay_;
  ClusterProcess cluster_;
  std::array<std::unique_ptr<Client>, 2> clients_;
};

TEST_F(DataPort, OfANodeThatSwallowsEverythingIsAvoidedUntilItIsWellAgain) {
  ASSERT_EQ(PutOnB(*clients_[0], "on-b"), Status::Ok());
  ASSERT_EQ(B().object_count, 1u);
  ExpectRead("on-b");
  relay_.FreezeNewStreams(true);
  relay_.FreezeStreams();

  // Some pay for it with a time-out, and tell.
  EXPECT_TRUE(Eventually([&] {
    for (auto& client : clients_) PutOnB(*client, "lost").Ignore("nobody takes it");
    return B().quarantined;
  }));
  // From then on nobody does, whatever they would prefer.
  const uint64_t before = B().object_count;
  for (int i = 0; i < 50; ++i) {
    const std::string key = "k" + std::to_string(i);
    ASSERT_EQ(PutOnB(*clients_[static_cast<size_t>(i % 2)], key), Status::Ok());
    ExpectRead(key);
  }
  EXPECT_EQ(B().object_count, before);

  relay_.FreezeNewStreams(false);
  relay_.CloseStreams();
  EXPECT_TRUE(Eventually([&] { return !B().quarantined; }));
  EXPECT_TRUE(
      Eventually([&] { return PutOnB(*clients_[0], "back").ok() && B().object_count > before; }));
  ExpectRead("back");
  ExpectRead("on-b");
}

}  // namespace
}  // namespace mooncake::testing

// Many threads at the service, through the server and directly, while nodes come and go: for ThreadSanitizer, and for the books.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "master/api/remote_master.h"
#include "master/server/master_service.h"
#include "master/server/metrics_text.h"
#include "master/server/thrift_server.h"
#include "tests/support/memory_quota_policies.h"
#include "tests/support/memory_state_store.h"
#include "transfer/base/rng.h"

namespace mooncake {
namespace {

constexpr uint64_t kSegmentBytes = uint64_t{4} << 20;
constexpr int kRounds = 300;
constexpr uint64_t kKeys = 64;

TimePoint Soon() { return SystemClock().Now() + Seconds(60); }

ObjectName RandomName(Rng& rng) { return {kDefaultTenant, "k" + std::to_string(rng.Below(kKeys))}; }

SegmentDescriptor Segment(uint64_t node, uint64_t life) {
  return {.id = {node, life},
          .name = "segment" + std::to_string(node),
          .size = kSegmentBytes,
          .epoch = AccessEpoch{1},
          .owner = {8, node},
          .host_id = "host" + std::to_string(node),
          .protocol = "tcp",
          .endpoint = "h:1"};
}

void Write(MasterApi& master, Rng& rng, const ClientId& client) {
  const PutStartArgs start{client, RandomName(rng), rng.Below(100'000),
                           rng.Chance(1, 2) ? WriteMode::kCreate : WriteMode::kReplace};
  const auto started = std::move(master.BatchPutStart({&start, 1}, Soon()).front());
  if (!started.ok()) return;
  if (rng.Chance(1, 4)) {
    const PutRevokeArgs revoke{client, start.name, started->put_id, true};
    (void)master.BatchPutRevoke({&revoke, 1}, Soon());
  } else {
    const PutEndArgs end{client, start.name, started->put_id, std::nullopt};
    (void)master.BatchPutEnd({&end, 1}, Soon());
  }
}

void OneStep(MasterApi& master, Rng& rng, const ClientId& client) {
  const ObjectName name = RandomName(rng);
  switch (rng.Below(10)) {
    case 0:
      (void)master.BatchGetReplicaList({&name, 1}, Soon());
      return;
    case 1:
      (void)master.BatchRemove({&name, 1}, rng.Chance(1, 2), Soon());
      return;
    case 2:
      master.ListObjects({.limit = 10}, Soon()).Ignore("stress");
      return;
    case 3:
      master.RemoveByRegex({.pattern = "7$", .force = true}, Soon()).Ignore("stress");
      return;
    case 4:
      master.Rename(name, RandomName(rng), false, Soon()).Ignore("stress");
      return;
    case 5:
      master.Ping(client, "stress", Soon()).Ignore("stress");
      return;
    default:
      Write(master, rng, client);
      return;
  }
}

// What an operator may do at any time.
void Operate(MasterService& master) {
  master.SetQuota(kDefaultTenant, uint64_t{2} << 20, Soon()).status().Ignore("one at a time");
  master.SetQuota("other", uint64_t{1} << 20, Soon()).status().Ignore("one at a time");
  master.DeleteQuota("other", Soon()).status().Ignore("one at a time");
  master.ListQuotas("", 10, Soon()).status().Ignore("stress");
  master.TakeSnapshot(Soon()).status().Ignore("one at a time");
  master.GetDurability(Soon()).status().Ignore("stress");
}

std::unique_ptr<MasterService> MakeService(bool with_all) {
  MasterServiceOptions options{.term = Term{1}, .seed = 1};
  if (!with_all) return std::move(MasterService::Create(options, SystemClock())).value();
  options.core.multi_tenants = true;
  options.core.durability = core::Durability::kAsync;
  options.snapshots.interval = Millis(1);
  return std::move(MasterService::Create(options, SystemClock(),
                                         std::make_unique<testing::MemoryStateStore>(
                                             std::make_shared<testing::MemoryDisk>()),
                                         std::make_unique<testing::MemoryQuotaPolicyStore>(
                                             std::make_shared<testing::PolicyPlace>())))
      .value();
}

// Without, and with tenants, log and snapshots.
class MasterStress : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Services, MasterStress, ::testing::Bool(),
                         [](const auto& all) { return all.param ? "all" : "plain"; });

TEST_P(MasterStress, ThreadsNodesMetricsAndTicksTogether) {
  auto service = MakeService(GetParam());
  Operate(*service);
  auto server = ThriftServer::Start(
      {.address = {"127.0.0.1", 0}}, *service, [&] { return service->term(); }, SystemClock());
  ASSERT_TRUE(server.ok()) << server.status();
  const auto remote =
      MakeRemoteMaster({.address = (*server)->address(), .max_idle_connections = 2}, SystemClock());
  for (uint64_t node = 1; node <= 2; ++node) {
    ASSERT_TRUE(service->Ping({8, node}, "node", Soon()).ok());
    ASSERT_EQ(service->MountSegment({8, node}, Segment(node, 1), Soon()), Status::Ok());
  }

  std::atomic<bool> done{false};
  std::thread node([&] {
    for (uint64_t life = 2; !done.load(); ++life) {
      service->Ping({8, 2}, "node", Soon()).Ignore("stress");
      service->MountSegment({8, 2}, Segment(2, life), Soon()).Ignore("stress");
      std::this_thread::yield();
    }
  });
  std::thread watcher([&] {
    while (!done.load()) {
      Operate(*service);
      EXPECT_FALSE(MetricsText(*service, {(*server)->connections(), 0}).empty());
      service->Ping({8, 1}, "node", Soon()).Ignore("stress");
    }
  });
  std::vector<std::thread> clients;
  for (uint64_t c = 0; c < 6; ++c) {
    clients.emplace_back([&, c] {
      Rng rng(c);
      MasterApi& master = c % 2 == 0 ? *remote : static_cast<MasterApi&>(*service);
      for (int i = 0; i < kRounds; ++i) OneStep(master, rng, ClientId{9, c});
    });
  }
  for (std::thread& client : clients) client.join();
  done.store(true);
  node.join();
  watcher.join();

  EXPECT_TRUE(remote->RemoveAll("", true, Soon()).ok());
  const core::Counters counters = service->core_counters();
  EXPECT_EQ(counters.puts_in_progress, 0u);
  EXPECT_LE(counters.used, counters.capacity);
  if (GetParam()) {
    const auto quota = service->GetQuota(kDefaultTenant, Soon());
    ASSERT_TRUE(quota.ok()) << quota.status();
    EXPECT_LE(quota->charged, quota->effective);
    EXPECT_GT(service->counters().of(MasterCall::kPutEnd).items, 0u);
    EXPECT_GT(service->durability()->snapshots.taken, 0u);
  }
  (*server)->Stop();
}

TEST(MasterServerStress, ServersStopUnderLoad) {
  auto service =
      std::move(MasterService::Create({.term = Term{1}, .seed = 1}, SystemClock())).value();
  for (int round = 0; round < 10; ++round) {
    auto server = ThriftServer::Start(
        {.address = {"127.0.0.1", 0}, .max_connections = 4}, *service,
        [&] { return service->term(); }, SystemClock());
    ASSERT_TRUE(server.ok()) << server.status();
    const auto remote = MakeRemoteMaster(
        {.address = (*server)->address(), .restart_patience = Duration::zero()}, SystemClock());
    std::atomic<int> calls{0};
    std::vector<std::thread> clients;
    for (int c = 0; c < 6; ++c) {
      clients.emplace_back([&] {
        for (int i = 0; i < 50; ++i) {
          remote->GetStatus(Soon()).Ignore("some are refused, some cut off");
          calls.fetch_add(1);
        }
      });
    }
    while (calls.load() < 20) std::this_thread::yield();
    (*server)->Stop();
    EXPECT_EQ((*server)->connections(), 0u);
    for (std::thread& client : clients) client.join();
  }
}

}  // namespace
}  // namespace mooncake

// Round trips of the control plane on loopback: what a client waits for the master, without any data.
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "master/api/remote_master.h"
#include "master/server/master_service.h"
#include "master/server/thrift_server.h"
#include "transfer/base/check.h"
#include "transfer/base/clock.h"

namespace mooncake {
namespace {

constexpr ClientId kClient{1, 2};
constexpr int kObjects = 10000;

TimePoint Deadline() { return SystemClock().Now() + Seconds(30); }

// A master with a segment that nobody has: its operations touch no data.
struct World {
  std::unique_ptr<MasterService> service;
  std::unique_ptr<ThriftServer> server;
  std::unique_ptr<MasterApi> remote;

  World() {
    MasterServiceOptions options;
    options.core.client_ttl = Seconds(86400);
    auto made = MasterService::Create(options, SystemClock());
    MC_CHECK(made.ok()) << made.message();
    service = std::move(*made);
    auto started = ThriftServer::Start(
        {.address = {"127.0.0.1", 0}}, *service, [this] { return service->term(); }, SystemClock());
    MC_CHECK(started.ok()) << started.message();
    server = std::move(*started);
    remote = MakeRemoteMaster({.address = server->address()}, SystemClock());
    const SegmentDescriptor segment{.id = {3, 4},
                                    .name = "bench",
                                    .size = uint64_t{1} << 44,
                                    .epoch = {1},
                                    .owner = kClient,
                                    .host_id = "bench",
                                    .protocol = "tcp",
                                    .endpoint = "127.0.0.1:1",
                                    .local_socket = ""};
    MC_CHECK_OK(service->ReMountSegments(kClient, {&segment, 1}, 0, Deadline()));
    for (int i = 0; i < kObjects; ++i) Put(*service, "key/" + std::to_string(i));
  }

  static void Put(MasterApi& api, const std::string& key) {
    PutStartArgs start;
    start.client = kClient;
    start.name.key = key;
    start.size = 1 << 20;
    const auto started = api.BatchPutStart({&start, 1}, Deadline());
    MC_CHECK_OK(started[0]);
    const PutEndArgs end{
        .client = kClient, .name = start.name, .put_id = started[0]->put_id, .attributes = {}};
    MC_CHECK_OK(api.BatchPutEnd({&end, 1}, Deadline())[0]);
  }
};

World& TheWorld() {
  static World* const world = new World;  // outlives what other static objects may still do
  return *world;
}

void BM_Ping(benchmark::State& state) {
  for (auto _ : state) MC_CHECK_OK(TheWorld().remote->Ping(kClient, "bench", Deadline()));
}

void BM_GetReplicaList(benchmark::State& state) {
  std::vector<ObjectName> names(static_cast<size_t>(state.range(0)));
  uint64_t next = 0;
  for (auto _ : state) {
    for (ObjectName& name : names) name.key = "key/" + std::to_string(next++ * 7919 % kObjects);
    for (const auto& list : TheWorld().remote->BatchGetReplicaList(names, Deadline()))
      MC_CHECK_OK(list);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void BM_PutAndRemove(benchmark::State& state) {
  MasterApi& remote = *TheWorld().remote;
  const ObjectName name{.tenant = kDefaultTenant,
                        .key = "put/" + std::to_string(state.thread_index())};
  for (auto _ : state) {
    World::Put(remote, name.key);
    MC_CHECK_OK(remote.BatchRemove({&name, 1}, true, Deadline())[0]);
  }
}

BENCHMARK(BM_Ping)->Threads(1)->Threads(4)->UseRealTime();
BENCHMARK(BM_GetReplicaList)->Arg(1)->Arg(100)->Arg(1000)->UseRealTime();
BENCHMARK(BM_PutAndRemove)->Threads(1)->Threads(4)->UseRealTime();

}  // namespace
}  // namespace mooncake

BENCHMARK_MAIN();

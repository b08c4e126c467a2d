// Put, Get and GetView of the client by size and path, with a store in this process. mooncake-bench transfer shows the same beside
// what the machine can do; this one is for comparing two builds.
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <glog/logging.h>

#include "client/embedded/embedded_store.h"
#include "transfer/base/check.h"
#include "transfer/base/units.h"

namespace mooncake {
namespace {

enum Path : int64_t { kMemcpy, kShm, kTcp };

// One store for the whole program: making it is not what is measured.
struct World {
  std::unique_ptr<EmbeddedStore> store;
  std::unique_ptr<Client> shm;
  std::unique_ptr<Client> tcp;

  World() {
    EmbeddedOptions options;
    options.size = 512 * kMiB;
    auto made = EmbeddedStore::Create(options);
    MC_CHECK(made.ok()) << made.message();
    store = std::move(*made);
    ClientOptions client;
    client.master = store->rpc_address();
    auto near = Client::Connect(client);
    client.use_shared_memory = false;
    auto far = Client::Connect(client);
    MC_CHECK(near.ok() && far.ok());
    shm = std::move(*near);
    tcp = std::move(*far);
  }
  Client& client(int64_t path) {
    return path == kMemcpy ? store->client() : path == kShm ? *shm : *tcp;
  }
};

World& TheWorld() {
  static World* const world = new World;  // outlives what other static objects may still do
  return *world;
}

const char* NameOf(int64_t path) {
  return path == kMemcpy ? "memcpy" : path == kShm ? "shm" : "tcp";
}

void BM_Put(benchmark::State& state) {
  Client& client = TheWorld().client(state.range(0));
  const std::vector<std::byte> value(static_cast<size_t>(state.range(1)), std::byte{1});
  for (auto _ : state) {
    MC_CHECK_OK(client.Put("put", value));
    state.PauseTiming();
    MC_CHECK_OK(client.Remove("put", true));
    state.ResumeTiming();
  }
  state.SetBytesProcessed(state.iterations() * state.range(1));
  state.SetLabel(NameOf(state.range(0)));
}

void BM_Get(benchmark::State& state) {
  Client& client = TheWorld().client(state.range(0));
  std::vector<std::byte> value(static_cast<size_t>(state.range(1)), std::byte{1});
  MC_CHECK_OK(client.Put("get", value));
  for (auto _ : state) MC_CHECK_OK(client.GetInto("get", value));
  MC_CHECK_OK(client.Remove("get", true));
  state.SetBytesProcessed(state.iterations() * state.range(1));
  state.SetLabel(NameOf(state.range(0)));
}

void BM_View(benchmark::State& state) {
  Client& client = TheWorld().client(state.range(0));
  const std::vector<std::byte> value(static_cast<size_t>(state.range(1)), std::byte{1});
  MC_CHECK_OK(client.Put("view", value));
  for (auto _ : state) {
    auto view = client.GetView("view");
    MC_CHECK(view.ok() && (*view)->Valid());
  }
  MC_CHECK_OK(client.Remove("view", true));
  state.SetLabel(NameOf(state.range(0)));
}

void BM_BatchGet(benchmark::State& state) {
  Client& client = TheWorld().client(state.range(0));
  constexpr int kKeys = 64;
  std::vector<std::byte> value(static_cast<size_t>(state.range(1)), std::byte{1});
  std::vector<std::vector<std::byte>> buffers(kKeys, value);
  std::vector<GetItem> items;
  for (int i = 0; i < kKeys; ++i) {
    items.push_back({"batch/" + std::to_string(i), buffers[static_cast<size_t>(i)]});
    MC_CHECK_OK(client.Put(items.back().key, value));
  }
  for (auto _ : state) {
    for (const auto& result : client.BatchGet(items)) MC_CHECK_OK(result);
  }
  for (const GetItem& item : items) MC_CHECK_OK(client.Remove(item.key, true));
  state.SetBytesProcessed(state.iterations() * kKeys * state.range(1));
  state.SetLabel(NameOf(state.range(0)));
}

void Everything(benchmark::internal::Benchmark* bench) {
  for (const int64_t path : {kMemcpy, kShm, kTcp}) {
    for (const int64_t size : {int64_t{4} << 10, int64_t{1} << 20, int64_t{16} << 20})
      bench->Args({path, size});
  }
}

void Small(benchmark::internal::Benchmark* bench) {
  for (const int64_t path : {kMemcpy, kShm, kTcp}) bench->Args({path, int64_t{64} << 10});
}

BENCHMARK(BM_Put)->Apply(Everything)->UseRealTime();
BENCHMARK(BM_Get)->Apply(Everything)->UseRealTime();
BENCHMARK(BM_View)->Args({kMemcpy, 1 << 20})->Args({kShm, 1 << 20})->UseRealTime();
BENCHMARK(BM_BatchGet)->Apply(Small)->UseRealTime();

}  // namespace
}  // namespace mooncake

int main(int argc, char** argv) {
  FLAGS_logtostderr = true;
  FLAGS_minloglevel = google::GLOG_WARNING;
  google::InitGoogleLogging(argv[0]);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

// The metadata core by itself, one thread: bytes per object, operations per second on a large table, the longest
// pauses while much is going on, and how full the allocator gets before it fails.
// --objects=N sets the size of the table (default one million).
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "master/core/allocator/offset_allocator.h"
#include "master/core/metadata_core.h"
#include "tools/bench/heap.h"
#include "transfer/base/rng.h"

namespace mooncake::core {
namespace {

constexpr uint64_t kObjectBytes = 4096 - 64;
constexpr ClientId kClient{1, 2};
constexpr uint32_t kSegments = 8;

uint64_t g_objects = 1000000;  // set once, by main
uint64_t ObjectCount() { return g_objects; }
bool Tiny() { return g_objects < 100000; }

// Keys as an inference engine makes them: a model, a rank, a hash.
std::string KeyOf(uint64_t index) {
  char key[64];
  const uint64_t hash = index * 0x9e3779b97f4a7c15;
  std::snprintf(key, sizeof(key), "llama/tp0/%016llx", static_cast<unsigned long long>(hash));
  return key;
}

class Cluster {
 public:
  explicit Cluster(uint64_t objects, uint64_t room_percent = 110) {
    CoreOptions options;
    options.eviction_high_watermark = 1.0;
    options.segment_high_watermark = 1.0;
    options.client_ttl = Seconds(1000000000);
    core_ = std::make_unique<MetadataCore>(options, Term{1}, 1);
    for (uint32_t i = 0; i < kSegments; ++i) {
      SegmentDescriptor d;
      d.id = {1, i + 1};
      d.name = "segment" + std::to_string(i);
      d.size = objects * 4096 / kSegments * room_percent / 100 + (1 << 16);
      d.epoch = {1};
      d.owner = {2, i + 1};
      d.host_id = "host" + std::to_string(i);
      core_->MountSegment(now_, d.owner, d).Ignore("a bench");
      segments_.push_back(d);
    }
  }

  bool Put(const ObjectName& name) {
    const auto start =
        core_->PutStart(now_, {.client = kClient, .name = name, .size = kObjectBytes});
    return start.ok() &&
           core_->PutEnd(now_, 0, {kClient, name, start.value().put_id, std::nullopt}).ok();
  }
  void Fill(uint64_t objects) {
    for (uint64_t i = 0; i < objects; ++i) {
      Put({kDefaultTenant, KeyOf(i)});
      now_ += Duration(1000);
    }
  }

  MetadataCore& core() { return *core_; }
  TimePoint now_{Seconds(1000)};
  std::vector<SegmentDescriptor> segments_;

 private:
  std::unique_ptr<MetadataCore> core_;
};

// Bytes of heap per object with one replica, its key not counted.
void BM_MemoryPerObject(benchmark::State& state) {
  const uint64_t objects = ObjectCount();
  for (auto _ : state) {
    const uint64_t before = bench::HeapBytes();
    Cluster cluster(objects);
    cluster.Fill(objects);
    const uint64_t after = bench::HeapBytes();
    state.counters["objects"] = static_cast<double>(objects);
    state.counters["bytes_per_object"] =
        static_cast<double>(after - before) / static_cast<double>(objects) -
        static_cast<double>(KeyOf(0).size());
  }
}
BENCHMARK(BM_MemoryPerObject)->Iterations(1)->Unit(benchmark::kMillisecond);

Cluster& FilledCluster() {
  static Cluster* cluster = [] {
    auto* made = new Cluster(ObjectCount(), 150);
    made->Fill(ObjectCount());
    return made;
  }();
  return *cluster;
}

// Names are made beforehand: printing a key costs as much as looking one up.
std::vector<ObjectName> RandomNames(uint64_t seed) {
  Rng rng(seed);
  std::vector<ObjectName> names;
  for (int i = 0; i < 1 << 16; ++i) {
    names.push_back({kDefaultTenant, KeyOf(rng.Below(ObjectCount()))});
  }
  return names;
}

// CPU time of this thread: what others do on the machine is no pause of ours.
double CpuMicros() {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

ObjectName AnyName(Rng& rng) { return {kDefaultTenant, KeyOf(rng.Below(ObjectCount()))}; }

void BM_ExistKey(benchmark::State& state) {
  Cluster& cluster = FilledCluster();
  const auto names = RandomNames(1);
  size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        cluster.core().ExistKey(cluster.now_, names[i++ % names.size()], false));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_ExistKey);

void BM_GetReplicaList(benchmark::State& state) {
  Cluster& cluster = FilledCluster();
  const auto names = RandomNames(2);
  size_t i = 0;
  for (auto _ : state) {
    cluster.now_ += Duration(1000);
    benchmark::DoNotOptimize(
        cluster.core().GetReplicaList(cluster.now_, names[i++ % names.size()]));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_GetReplicaList);

void BM_PutStartEndRemove(benchmark::State& state) {
  Cluster& cluster = FilledCluster();
  uint64_t index = uint64_t{1} << 40;
  for (auto _ : state) {
    cluster.now_ += Duration(1000);
    const ObjectName name{kDefaultTenant, KeyOf(++index)};
    cluster.Put(name);
    benchmark::DoNotOptimize(cluster.core().Remove(cluster.now_, name, true));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_PutStartEndRemove);

// Of 10 operations: 4 Exist, 4 GetReplicaList, 1 PutStart and 1 PutEnd; the table stays as large as it is.
void BM_Mix(benchmark::State& state) {
  Cluster& cluster = FilledCluster();
  const auto names = RandomNames(3);
  size_t at = 0;
  uint64_t index = uint64_t{1} << 41;
  for (auto _ : state) {
    cluster.now_ += Duration(10000);
    for (int i = 0; i < 4; ++i) {
      const ObjectName& name = names[at++ % names.size()];
      benchmark::DoNotOptimize(cluster.core().ExistKey(cluster.now_, name, false));
      const ObjectName& other = names[at++ % names.size()];
      benchmark::DoNotOptimize(cluster.core().GetReplicaList(cluster.now_, other));
    }
    cluster.Put({kDefaultTenant, KeyOf(++index)});
    if (index % 64 == 0) cluster.core().Evict(cluster.now_, 64 * 4096, 64);
  }
  state.SetItemsProcessed(state.iterations() * 10);
}
BENCHMARK(BM_Mix);

void BM_ListDirectoryWithHugeSubdirectories(benchmark::State& state) {
  Cluster& cluster = FilledCluster();
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        cluster.core().ListObjects(cluster.now_, {.prefix = "llama/", .delimiter = "/"}));
  }
}
BENCHMARK(BM_ListDirectoryWithHugeSubdirectories);

// Utilisation when an allocation fails, after many rounds of "evict 5 % at random, fill up again".
void BM_AllocatorUtilisation(benchmark::State& state, std::vector<uint64_t> sizes) {
  const bool tiny = Tiny();
  const uint64_t mean = [&] {
    uint64_t sum = 0;
    for (const uint64_t size : sizes) sum += size;
    return sum / sizes.size();
  }();
  const uint64_t capacity = tiny ? 100 * mean : uint64_t{1} << 40;
  double least = 1.0;
  double sum = 0;
  uint64_t allocations = 0;
  uint64_t rounds = 0;
  std::chrono::nanoseconds spent{};
  for (auto _ : state) {
    Rng rng(1);
    OffsetAllocator allocator(capacity);
    std::vector<uint32_t> live;
    size_t next = 0;
    for (int round = 0; round < (tiny ? 3 : 60); ++round) {
      const auto begin = std::chrono::steady_clock::now();
      while (const auto block = allocator.Allocate(sizes[next % sizes.size()] + 64)) {
        live.push_back(block->handle);
        ++next;
        ++allocations;
      }
      spent += std::chrono::steady_clock::now() - begin;
      const double used =
          static_cast<double>(allocator.used_bytes()) / static_cast<double>(capacity);
      least = std::min(least, used);
      sum += used;
      ++rounds;
      for (size_t i = live.size() / 20; i > 0; --i) {
        std::swap(live[rng.Below(live.size())], live.back());
        allocator.Free(live.back());
        live.pop_back();
      }
    }
  }
  state.counters["least"] = least;
  state.counters["mean"] = sum / static_cast<double>(rounds);
  state.counters["ns_per_allocation"] =
      static_cast<double>(spent.count()) / static_cast<double>(allocations);
}
BENCHMARK_CAPTURE(BM_AllocatorUtilisation, kv, {3274752})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_AllocatorUtilisation, kv_and_indexer, {3274752, 658432})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

// The slowest of many gets, while a node with a third of all replicas goes away and is swept.
void BM_PausesDuringNodeLoss(benchmark::State& state) {
  const uint64_t objects = ObjectCount();
  for (auto _ : state) {
    Cluster cluster(objects, 150);
    cluster.Fill(objects);
    Rng rng(5);
    std::vector<double> micros;
    const auto timed = [&](auto&& operation) {
      const double begin = CpuMicros();
      operation();
      micros.push_back(CpuMicros() - begin);
    };
    const SegmentDescriptor& lost = cluster.segments_.front();
    timed([&] {
      cluster.core().UnmountSegment(cluster.now_, lost.owner, lost.id).Ignore("a bench");
    });
    bool more = true;
    while (more) {
      timed([&] { more = cluster.core().Tick(cluster.now_, 256).more; });
      for (int i = 0; i < 20; ++i) {
        timed([&] {
          benchmark::DoNotOptimize(cluster.core().GetReplicaList(cluster.now_, AnyName(rng)));
        });
      }
    }
    std::sort(micros.begin(), micros.end());
    state.counters["p99.9_us"] = micros[micros.size() - 1 - micros.size() / 1000];
    state.counters["max_us"] = micros.back();
    state.counters["operations"] = static_cast<double>(micros.size());
  }
}
BENCHMARK(BM_PausesDuringNodeLoss)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace mooncake::core

int main(int argc, char** argv) {
  constexpr char kFlag[] = "--objects=";
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], kFlag, sizeof(kFlag) - 1) != 0) continue;
    mooncake::core::g_objects = std::strtoull(argv[i] + sizeof(kFlag) - 1, nullptr, 10);
    std::rotate(argv + i, argv + i + 1, argv + argc);
    --argc;
    break;
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

// Reads and writes by size over each transport, beside what bounds them in the same run: memcpy for shared memory, a bare socket
// pair for streams. The column bytes_per_second is to be compared down one size.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>

#include "tests/support/served_node.h"
#include "transfer/base/units.h"
#include "transfer/transport/memcpy/memcpy_transport.h"
#include "transfer/transport/shm/shm_transport.h"
#include "transfer/transport/tcp/tcp_server.h"
#include "transfer/transport/tcp/tcp_transport.h"

namespace mooncake::testing {
namespace {

constexpr uint64_t kLargest = 16 * kMiB;

// All transports to one node; made once, since a segment of this size is slow to make.
class World {
 public:
  World() {
    TcpServerOptions options;
    options.host_id = "h";
    options.local_socket = "@mc-bench-" + std::to_string(::getpid());
    auto server = TcpServer::Create(options, node_.segments(), SystemClock());
    MC_CHECK(server.ok()) << server.message();
    server_ = std::move(server).value();
    const PeerAddress peer{.host_id = "h",
                           .protocol = "tcp",
                           .endpoint = server_->endpoint(),
                           .local_socket = options.local_socket};
    MC_CHECK_OK(directory_->Publish(peer, node_.segments()));
    transports_.push_back(MakeMemcpyTransport(directory_, SystemClock()));
    transports_.push_back(MakeShmTransport("h", {}, SystemClock()));
    transports_.push_back(MakeUnixTransport("h", {}, SystemClock()));
    transports_.push_back(MakeTcpTransport({}, SystemClock()));
    for (const auto& transport : transports_) {
      auto connection = transport->Connect(peer, SystemClock().Now() + Seconds(10));
      MC_CHECK(connection.ok()) << connection.message();
      connections_.push_back(*connection);
    }
  }
  ServedNode& node() { return node_; }
  Connection& connection(int64_t i) { return *connections_[static_cast<size_t>(i)]; }

 private:
  ServedNode node_{kLargest + kMiB};
  std::unique_ptr<TcpServer> server_;
  std::shared_ptr<InProcessDirectory> directory_ = std::make_shared<InProcessDirectory>();
  std::vector<std::unique_ptr<Transport>> transports_;
  std::vector<std::shared_ptr<Connection>> connections_;
};

World& TheWorld() {
  static World world;
  return world;
}

enum : int64_t { kMemcpy, kShm, kUnix, kTcp };

void Move(benchmark::State& state, int64_t transport, SliceOp op) {
  World& world = TheWorld();
  std::vector<std::byte> buffer(static_cast<size_t>(state.range(0)), std::byte{1});
  for (auto _ : state) {
    Slice slice = op == SliceOp::kRead ? ServedNode::Read(0, buffer)
                                       : world.node().Write(0, buffer, PutId{1});
    // The grant of the node's clock lasts a minute from the start of the run: read instead of failing later.
    slice.grant.deadline_ms = INT64_MAX;
    world.connection(transport).Execute({&slice, 1}, SystemClock().Now() + Seconds(20));
    if (!slice.status.ok()) return state.SkipWithError(slice.status.ToString().c_str());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

// 128 small reads in one batch: items_per_second is keys per second.
void Batch(benchmark::State& state, int64_t transport) {
  World& world = TheWorld();
  constexpr size_t kKeys = 128;
  const auto size = static_cast<size_t>(state.range(0));
  std::vector<std::byte> buffer(size * kKeys);
  for (auto _ : state) {
    std::vector<Slice> slices;
    for (size_t i = 0; i < kKeys; ++i) {
      slices.push_back(ServedNode::Read(i * size, MutableByteSpan(buffer).subspan(i * size, size)));
    }
    world.connection(transport).Execute(slices, SystemClock().Now() + Seconds(20));
    if (!slices[0].status.ok()) return state.SkipWithError(slices[0].status.ToString().c_str());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kKeys));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(size * kKeys));
}

void LimitMemcpy(benchmark::State& state) {
  std::vector<std::byte> buffer(static_cast<size_t>(state.range(0)));
  const std::byte* from = TheWorld().node().memory().data();
  for (auto _ : state) {
    std::memcpy(buffer.data(), from, buffer.size());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

// A request of one byte is answered with the bytes, by a thread over a TCP connection on loopback.
void LimitTcp(benchmark::State& state) {
  const auto listener = tcp::ListenTcp("127.0.0.1:0", {});
  const std::string address = "127.0.0.1:" + std::to_string(tcp::BoundPort(listener->get()));
  const TimePoint far = SystemClock().Now() + Seconds(3600);
  auto client = tcp::ConnectTcp(address, {}, SystemClock(), far);
  MC_CHECK(client.ok() && tcp::WaitFor(listener->get(), 1, SystemClock(), far));
  const UniqueFd accepted = tcp::Accept(listener->get(), {});
  const auto size = static_cast<size_t>(state.range(0));
  std::thread server([&] {
    std::byte ask;
    while (true) {
      tcp::IoVector in;
      in.Add(MutableByteSpan(&ask, 1));
      if (!tcp::ReceiveAll(accepted.get(), in, SystemClock(), far).ok()) return;
      tcp::IoVector out;
      out.Add(ByteSpan(TheWorld().node().memory()).first(size));
      if (!tcp::SendAll(accepted.get(), out, SystemClock(), far).ok()) return;
    }
  });
  std::vector<std::byte> buffer(size);
  const std::byte ask{1};
  for (auto _ : state) {
    tcp::IoVector out;
    out.Add(ByteSpan(&ask, 1));
    tcp::IoVector in;
    in.Add(MutableByteSpan(buffer));
    if (!tcp::SendAll(client->get(), out, SystemClock(), far).ok() ||
        !tcp::ReceiveAll(client->get(), in, SystemClock(), far).ok()) {
      state.SkipWithError("stream broke");
      break;
    }
  }
  client->Reset();
  server.join();
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void Sizes(benchmark::internal::Benchmark* bench) {
  bench->UseRealTime();
  const char* tiny = std::getenv("MC_BENCH_TINY");  // tidy-allow(getenv): of ctest
  if (tiny != nullptr) {
    bench->Arg(4096);
    return;
  }
  for (const uint64_t size : {4 * kKiB, 64 * kKiB, kMiB, kLargest})
    bench->Arg(static_cast<int64_t>(size));
}

BENCHMARK(LimitMemcpy)->Apply(Sizes);
BENCHMARK_CAPTURE(Move, memcpy_read, kMemcpy, SliceOp::kRead)->Apply(Sizes);
BENCHMARK_CAPTURE(Move, shm_read, kShm, SliceOp::kRead)->Apply(Sizes);
BENCHMARK_CAPTURE(Move, memcpy_write, kMemcpy, SliceOp::kWrite)->Apply(Sizes);
BENCHMARK(LimitTcp)->Apply(Sizes);
BENCHMARK_CAPTURE(Move, tcp_read, kTcp, SliceOp::kRead)->Apply(Sizes);
BENCHMARK_CAPTURE(Move, tcp_write, kTcp, SliceOp::kWrite)->Apply(Sizes);
BENCHMARK_CAPTURE(Move, unix_read, kUnix, SliceOp::kRead)->Apply(Sizes);
BENCHMARK_CAPTURE(Move, unix_write, kUnix, SliceOp::kWrite)->Apply(Sizes);
BENCHMARK_CAPTURE(Batch, shm_128_reads, kShm)->Arg(4096)->UseRealTime();
BENCHMARK_CAPTURE(Batch, tcp_128_reads, kTcp)->Arg(4096)->UseRealTime();

}  // namespace
}  // namespace mooncake::testing

BENCHMARK_MAIN();

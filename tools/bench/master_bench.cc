#include "tools/bench/master_bench.h"

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>

#include "master/api/remote_master.h"
#include "master/server/master_service.h"
#include "master/server/thrift_server.h"
#include "tools/bench/heap.h"
#include "tools/bench/race.h"
#include "tools/bench/tcp_echo.h"
#include "transfer/base/units.h"

namespace mooncake::bench {
namespace {

constexpr uint64_t kBatch = 100;      // in-process operations in a sample
constexpr uint64_t kCallBytes = 128;  // about what a request and a reply of one key have
constexpr uint64_t kObjectBytes = kMiB;

std::string KeyOf(uint64_t i) { return "bench/object/" + std::to_string(i); }

// A master that believes in a segment which nobody has: no operation of it touches data.
class Master {
 public:
  static Result<std::unique_ptr<Master>> Create(uint64_t objects, const Clock& clock) {
    std::unique_ptr<Master> master(new Master(clock));
    MasterServiceOptions options;
    options.core.client_ttl = Seconds(86400);
    ASSIGN_OR_RETURN(master->service_, MasterService::Create(options, clock));
    SegmentDescriptor segment;
    segment.id = {1, 2};
    segment.name = "bench";
    segment.size = 16 * kTiB;
    segment.epoch = {1};
    segment.owner = kClient;
    segment.host_id = "bench";
    segment.protocol = "tcp";
    segment.endpoint = "127.0.0.1:1";
    RETURN_IF_ERROR(master->service_->MountSegment(kClient, segment, master->Deadline()));
    const uint64_t before = HeapBytes();
    uint64_t key_bytes = 0;
    for (uint64_t i = 0; i < objects; ++i) {
      const std::string key = KeyOf(i);
      key_bytes += key.size();
      RETURN_IF_ERROR(PutObject(*master->service_, key, master->Deadline()));
    }
    master->bytes_per_object_ =
        static_cast<double>(HeapBytes() - before - key_bytes) / static_cast<double>(objects);
    MasterService& service = *master->service_;
    ASSIGN_OR_RETURN(master->server_, ThriftServer::Start(
                                          {.address = {"127.0.0.1", 0}}, service,
                                          [&service] { return service.term(); }, clock));
    master->remote_ = MakeRemoteMaster({.address = master->server_->address()}, clock);
    return master;
  }

  static Status PutObject(MasterApi& api, const std::string& key, TimePoint deadline) {
    PutStartArgs start;
    start.client = kClient;
    start.name.key = key;
    start.size = kObjectBytes;
    auto started = api.BatchPutStart({&start, 1}, deadline);
    RETURN_IF_ERROR(started[0].status());
    PutEndArgs end;
    end.client = kClient;
    end.name = start.name;
    end.put_id = started[0]->put_id;
    return api.BatchPutEnd({&end, 1}, deadline)[0];
  }

  TimePoint Deadline() const { return clock_.Now() + Seconds(10); }
  MasterApi& local() { return *service_; }
  MasterApi& remote() { return *remote_; }
  double bytes_per_object() const { return bytes_per_object_; }

  static constexpr ClientId kClient{3, 4};

 private:
  explicit Master(const Clock& clock) : clock_(clock) {}
  const Clock& clock_;
  std::unique_ptr<MasterService> service_;
  std::unique_ptr<ThriftServer> server_;
  std::unique_ptr<MasterApi> remote_;
  double bytes_per_object_ = 0;
};

using Operation = std::function<Status(MasterApi& api, uint64_t i)>;

struct NamedOperation {
  const char* name;
  uint64_t keys;  // each is one operation of the figure
  Operation run;
};

// Two calls a sample would hide the cheaper one, so Put is one operation of two calls and says so.
std::vector<NamedOperation> Operations(Master& master, uint64_t objects) {
  const auto names = [objects](uint64_t i, uint64_t count) {
    std::vector<ObjectName> out(count);
    for (uint64_t k = 0; k < count; ++k) out[k].key = KeyOf((i * 7919 + k) % objects);
    return out;
  };
  const auto get = [&master, names](uint64_t count) {
    return [&master, names, count](MasterApi& api, uint64_t i) {
      return api.BatchGetReplicaList(names(i, count), master.Deadline())[0].status();
    };
  };
  return {
      {"ping", 1,
       [&master](MasterApi& api, uint64_t) {
         return api.Ping(Master::kClient, "bench", master.Deadline()).status();
       }},
      {"exist", 1,
       [&master, names](MasterApi& api, uint64_t i) {
         return api.BatchExistKey(names(i, 1), false, master.Deadline())[0].status();
       }},
      {"get replicas", 1, get(1)},
      {"get replicas x100", 100, get(100)},
      {"put start+end, remove", 1,
       [&master](MasterApi& api, uint64_t i) -> Status {
         const std::string key = "bench/put/" + std::to_string(i);
         RETURN_IF_ERROR(Master::PutObject(api, key, master.Deadline()));
         const ObjectName name{.tenant = kDefaultTenant, .key = key};
         return api.BatchRemove({&name, 1}, true, master.Deadline())[0];
       }},
  };
}

// The least that looking a key up can cost.
Contender TableLimit(uint64_t objects) {
  auto table = std::make_shared<std::unordered_map<std::string, uint64_t>>();
  for (uint64_t i = 0; i < objects; ++i) (*table)[KeyOf(i)] = i;
  return {.name = "hash table",
          .run =
              [table, objects](uint64_t i) {
                return table->contains(KeyOf(i * 7919 % objects))
                           ? Status::Ok()
                           : Status(ErrorCode::kInternal, "lost");
              },
          .batch = kBatch};
}

Status BenchLocal(Master& master, const MasterBenchOptions& options, const Clock& clock,
                  std::vector<Row>& rows) {
  for (const NamedOperation& operation : Operations(master, options.objects)) {
    std::vector<Contender> pair = {
        {.name = operation.name,
         .run = [&](uint64_t i) { return operation.run(master.local(), i); },
         .batch = std::max<uint64_t>(1, kBatch / operation.keys)},
        TableLimit(options.objects)};
    RETURN_IF_ERROR(Race(pair, {.time = options.time / 4}, clock));
    rows.push_back({.what = operation.name,
                    .path = "in process",
                    .figure = {.operations = operation.keys, .samples = pair[0].samples},
                    .limit_name = pair[1].name,
                    .limit = {.samples = pair[1].samples}});
  }
  return Status::Ok();
}

// `call` from several threads at once; a sample is what a caller waits.
struct ThreadedFigure {
  Samples latency;
  Duration per_operation{};  // of all threads together
};
Result<ThreadedFigure> CallFromThreads(
    uint32_t threads, Duration time, const Clock& clock,
    const std::function<Status(uint32_t thread, uint64_t i)>& call) {
  std::vector<Samples> samples(threads);
  std::vector<Status> failures(threads);
  std::vector<std::thread> callers;
  const TimePoint start = clock.Now();
  for (uint32_t t = 0; t < threads; ++t) {
    callers.emplace_back([&, t] {
      for (uint64_t i = t; clock.Now() - start < time && failures[t].ok(); i += threads) {
        const TimePoint before = clock.Now();
        failures[t] = call(t, i);
        samples[t].Add(clock.Now() - before);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  const Duration took = clock.Now() - start;
  ThreadedFigure figure;
  for (uint32_t t = 0; t < threads; ++t) {
    RETURN_IF_ERROR(failures[t]);
    figure.latency.Append(samples[t]);
  }
  figure.per_operation = took / static_cast<int64_t>(std::max<size_t>(1, figure.latency.size()));
  return figure;
}

Status BenchRemote(Master& master, uint32_t threads, const MasterBenchOptions& options,
                   const Clock& clock, std::vector<Row>& rows) {
  std::vector<std::unique_ptr<TcpEcho>> echoes(threads);
  for (auto& echo : echoes) {
    ASSIGN_OR_RETURN(echo, TcpEcho::Create(kCallBytes, kCallBytes));
  }
  constexpr int kTurns = 4;  // ours and the limit by turns
  const Duration slice = options.time / 4 / kTurns;
  for (const NamedOperation& operation : Operations(master, options.objects)) {
    Row row{.what = operation.name,
            .path = "rpc, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads"),
            .figure = {.operations = operation.keys},
            .limit_name = "raw tcp echo"};
    Samples ours;
    Samples theirs;
    for (int turn = 0; turn < kTurns; ++turn) {
      const uint64_t offset = static_cast<uint64_t>(turn) << 32;
      ASSIGN_OR_RETURN(const ThreadedFigure rpc,
                       CallFromThreads(threads, slice, clock, [&](uint32_t, uint64_t i) {
                         return operation.run(master.remote(), offset + i);
                       }));
      ASSIGN_OR_RETURN(const ThreadedFigure echo,
                       CallFromThreads(threads, slice, clock,
                                       [&](uint32_t t, uint64_t) { return echoes[t]->Call(); }));
      row.latencies.Append(rpc.latency);
      row.figure.samples.Add(rpc.per_operation);
      row.limit.samples.Add(echo.per_operation);
    }
    rows.push_back(std::move(row));
  }
  return Status::Ok();
}

}  // namespace

Result<std::vector<Row>> BenchMaster(const MasterBenchOptions& options, const Clock& clock,
                                     std::vector<Fact>& facts) {
  ASSIGN_OR_RETURN(const auto master, Master::Create(options.objects, clock));
  facts.push_back({.name = "bytes_per_object",
                   .label = "heap bytes for an object of one replica, its key not counted",
                   .value = master->bytes_per_object()});
  std::vector<Row> rows;
  RETURN_IF_ERROR(BenchLocal(*master, options, clock, rows));
  for (const uint32_t threads : options.threads)
    RETURN_IF_ERROR(BenchRemote(*master, threads, options, clock, rows));
  return rows;
}

}  // namespace mooncake::bench

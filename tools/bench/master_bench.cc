#include "tools/bench/master_bench.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>

#include "tools/bench/benched_master.h"
#include "tools/bench/heap.h"
#include "tools/bench/master_tails.h"
#include "tools/bench/quota_rows.h"
#include "tools/bench/race.h"
#include "tools/bench/tcp_echo.h"

namespace mooncake::bench {
namespace {

constexpr uint64_t kBatch = 100;     // in-process operations in a sample
constexpr uint64_t kManyKeys = 128;  // of one call
constexpr int64_t kGoalPerSecond = 1'000'000;
constexpr uint64_t kCallBytes = 128;  // about what a request and a reply of one key have
constexpr char kObjects[] = "bench/object/";

std::string KeyOf(uint64_t i) { return BenchedMaster::KeyOf(kObjects, i); }

using Operation = std::function<Status(MasterApi& api, uint64_t i)>;

struct NamedOperation {
  const char* name;
  uint64_t keys;   // each is one operation of the figure
  uint64_t calls;  // of an operation
  Operation run;
};

// "goal" as the limit.
void SetGoal(Row& row, int64_t per_second) {
  row.limit_name = "goal";
  row.limit = {.samples = {}};
  row.limit.samples.Add(Seconds(1) / per_second);
  row.limit.operations = 1;
}

// Two calls a sample would hide the cheaper one, so Put is one operation of two calls and says so.
std::vector<NamedOperation> Operations(BenchedMaster& master, uint64_t objects) {
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
      {"ping", 1, 1,
       [&master](MasterApi& api, uint64_t) {
         return api.Ping(BenchedMaster::kClient, "bench", master.Deadline()).status();
       }},
      {"exist", 1, 1,
       [&master, names](MasterApi& api, uint64_t i) {
         return api.BatchExistKey(names(i, 1), false, master.Deadline())[0].status();
       }},
      {"get replicas", 1, 1, get(1)},
      {"get replicas x128", kManyKeys, 1, get(kManyKeys)},
      {"put start+end, remove", 1, 3,
       [&master](MasterApi& api, uint64_t i) -> Status {
         const std::string key = "bench/put/" + std::to_string(i);
         RETURN_IF_ERROR(BenchedMaster::PutObject(api, {kDefaultTenant, key}, master.Deadline()));
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

Status BenchLocal(BenchedMaster& master, const MasterBenchOptions& options, const Clock& clock,
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
  Duration per_operation{};       // of all threads together
  Duration core_per_operation{};  // time of processors, without waits
};

// Of this thread.
Duration ProcessorTime() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return Seconds(time.tv_sec) + Duration(time.tv_nsec);
}

Result<ThreadedFigure> CallFromThreads(
    uint32_t threads, Duration time, const Clock& clock,
    const std::function<Status(uint32_t thread, uint64_t i)>& call) {
  std::vector<Samples> samples(threads);
  std::vector<Status> failures(threads);
  std::vector<Duration> busy(threads);
  std::vector<std::thread> callers;
  const TimePoint start = clock.Now();
  for (uint32_t t = 0; t < threads; ++t) {
    callers.emplace_back([&, t] {
      for (uint64_t i = t; clock.Now() - start < time && failures[t].ok(); i += threads) {
        const TimePoint before = clock.Now();
        failures[t] = call(t, i);
        samples[t].Add(clock.Now() - before);
      }
      busy[t] = ProcessorTime();  // the thread began with none
    });
  }
  for (std::thread& caller : callers) caller.join();
  const Duration took = clock.Now() - start;
  ThreadedFigure figure;
  for (uint32_t t = 0; t < threads; ++t) {
    RETURN_IF_ERROR(failures[t]);
    figure.latency.Append(samples[t]);
    figure.core_per_operation += busy[t];
  }
  const auto calls = static_cast<int64_t>(std::max<size_t>(1, figure.latency.size()));
  figure.per_operation = took / calls;
  figure.core_per_operation /= calls;
  return figure;
}

// What a call is measured beside; called by each thread.
struct RemoteLimit {
  const char* name;
  std::function<Status(uint32_t thread, uint64_t i)> call;
};

// Of one caller with one key the median call, which a stall of the machine does not touch; else what all get done together.
Result<Row> RaceRemote(const NamedOperation& operation, MasterApi& api, const RemoteLimit& limit,
                       uint32_t threads, Duration time, const Clock& clock) {
  constexpr int kTurns =
      16;  // ours and the limit by turns; a machine that stalls does so for some of them
  Row row{.what = operation.name,
          .path = "rpc, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads"),
          .figure = {.operations = operation.keys},
          .limit_name = limit.name};
  for (int turn = 0; turn < kTurns; ++turn) {
    const uint64_t offset = static_cast<uint64_t>(turn) << 32;
    ASSIGN_OR_RETURN(const ThreadedFigure rpc,
                     CallFromThreads(threads, time / kTurns, clock, [&](uint32_t, uint64_t i) {
                       return operation.run(api, offset + i);
                     }));
    ASSIGN_OR_RETURN(const ThreadedFigure other,
                     CallFromThreads(threads, time / kTurns, clock, limit.call));
    row.latencies.Append(rpc.latency);
    if (threads == 1 && operation.keys == 1) {
      row.figure.samples.Append(rpc.latency);
      row.limit.samples.Append(other.latency);
    } else {
      row.figure.samples.Add(rpc.per_operation);
      row.limit.samples.Add(other.per_operation);
    }
  }
  return row;
}

// Every operation beside a bare echo; calls of one key also beside the emptiest call that there is, those of many beside
// their goal.
Status BenchRemote(BenchedMaster& master, uint32_t threads, const MasterBenchOptions& options,
                   const Clock& clock, std::vector<Row>& rows) {
  std::vector<std::unique_ptr<TcpEcho>> echoes(threads);
  for (auto& echo : echoes) {
    ASSIGN_OR_RETURN(echo, TcpEcho::Create(kCallBytes, kCallBytes));
  }
  const RemoteLimit echo{"raw tcp echo", [&](uint32_t t, uint64_t) { return echoes[t]->Call(); }};
  const RemoteLimit empty{"empty call", [&](uint32_t, uint64_t) {
                            return master.remote().BatchQueryIp({}, master.Deadline()).status();
                          }};
  const auto add = [&](const NamedOperation& operation, const RemoteLimit& limit) -> Status {
    ASSIGN_OR_RETURN(
        Row row, RaceRemote(operation, master.remote(), limit, threads, options.time / 4, clock));
    if (operation.keys > 1) SetGoal(row, kGoalPerSecond);
    rows.push_back(std::move(row));
    return Status::Ok();
  };
  for (const NamedOperation& operation : Operations(master, options.objects)) {
    RETURN_IF_ERROR(add(operation, echo));
    if (operation.keys == 1 && operation.calls == 1) RETURN_IF_ERROR(add(operation, empty));
  }
  return Status::Ok();
}

// Of 100 operations 50 Exist, 40 GetReplicaList and 10 objects that are put (two calls) and removed, in a table that stays as
// large as it is. Keys are made beforehand: printing one takes as long as looking it up.
class Mix {
 public:
  static constexpr uint64_t kOperations = 100;

  Mix(BenchedMaster& master, uint64_t objects) : master_(master) {
    for (uint64_t i = 0; i < kKeys; ++i) names_.push_back({.key = KeyOf(i * 7919 % objects)});
  }
  Status Run(uint32_t thread, uint64_t round) const {
    MasterApi& api = master_.local();
    const TimePoint deadline = master_.Deadline();
    uint64_t next = (round * kOperations + thread * (kKeys / 2)) % kKeys;
    const auto name = [&] { return std::span(&names_[next++ % kKeys], 1); };
    for (uint64_t part = 0; part < 10; ++part) {
      for (int i = 0; i < 5; ++i) {
        RETURN_IF_ERROR(api.BatchExistKey(name(), false, deadline)[0]);
        if (i == 4) break;
        RETURN_IF_ERROR(api.BatchGetReplicaList(name(), deadline)[0]);
      }
      const ObjectName own{.key = "mix/" + std::to_string(thread) + "/" + std::to_string(part)};
      RETURN_IF_ERROR(BenchedMaster::PutObject(api, own, deadline));
      RETURN_IF_ERROR(api.BatchRemove({&own, 1}, true, deadline)[0]);
    }
    return Status::Ok();
  }

 private:
  static constexpr uint64_t kKeys = 1 << 16;
  BenchedMaster& master_;
  std::vector<ObjectName> names_;
};

// For one and two callers by turns: what a core does in its time, beside the goal, and what all get done together.
Status BenchMix(BenchedMaster& master, const MasterBenchOptions& options, const Clock& clock,
                std::vector<Row>& rows) {
  const Mix mix(master, options.objects);
  std::array<Row, 2> per_core;
  std::array<Row, 2> together;
  for (int turn = 0; turn < 11; ++turn) {
    for (const uint32_t threads : {1u, 2u}) {
      ASSIGN_OR_RETURN(const ThreadedFigure figure,
                       CallFromThreads(threads, options.time / 20, clock,
                                       [&](uint32_t t, uint64_t i) { return mix.Run(t, i); }));
      per_core[threads - 1].figure.samples.Add(figure.core_per_operation);
      together[threads - 1].figure.samples.Add(figure.per_operation);
    }
  }
  for (const size_t i : {0u, 1u}) {
    for (Row* row : {&per_core[i], &together[i]}) {
      row->path = i == 0 ? "in process, 1 thread" : "in process, 2 threads";
      row->figure.operations = Mix::kOperations;
    }
    per_core[i].what = "mix 50:40:10, a core";
    SetGoal(per_core[i], kGoalPerSecond);
    together[i].what = "mix 50:40:10, together";
  }
  together[1].limit_name = "1 thread";
  together[1].limit = together[0].figure;
  for (const size_t i : {0u, 1u}) {
    rows.push_back(std::move(per_core[i]));
    rows.push_back(std::move(together[i]));
  }
  return Status::Ok();
}

// Fills the master; what an object costs in memory.
Result<double> BytesPerObject(BenchedMaster& master, uint64_t objects) {
  RETURN_IF_ERROR(master.Mount(BenchedMaster::kClient, "bench", 16 * kMiB));
  const uint64_t before = HeapBytes();
  RETURN_IF_ERROR(master.Fill(kObjects, objects));
  uint64_t key_bytes = 0;
  for (uint64_t i = 0; i < objects; ++i) key_bytes += KeyOf(i).size();
  return static_cast<double>(HeapBytes() - before - key_bytes) / static_cast<double>(objects);
}

}  // namespace

Status BenchMaster(const MasterBenchOptions& options, const Clock& clock, BenchReport& report) {
  {
    ASSIGN_OR_RETURN(const auto master, BenchedMaster::Create(clock, clock, {}));
    ASSIGN_OR_RETURN(const double bytes, BytesPerObject(*master, options.objects));
    report.facts.push_back({.name = "bytes_per_object",
                            .label = "heap bytes for an object of one replica, its key not counted",
                            .value = bytes});
    RETURN_IF_ERROR(BenchLocal(*master, options, clock, report.rows));
    RETURN_IF_ERROR(BenchMix(*master, options, clock, report.rows));
    for (const uint32_t threads : options.threads)
      RETURN_IF_ERROR(BenchRemote(*master, threads, options, clock, report.rows));
  }
  RETURN_IF_ERROR(BenchQuotas(std::min<uint64_t>(options.objects, 100'000), options.time / 2, clock,
                              report.rows));
  if (options.tail_keys == 0) return Status::Ok();
  ASSIGN_OR_RETURN(report.tails,
                   BenchTails({.keys = options.tail_keys, .time = options.time}, clock));
  return Status::Ok();
}

}  // namespace mooncake::bench

#include "tools/bench/master_tails.h"

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "tools/bench/disturbance.h"

namespace mooncake::bench {
namespace {

constexpr uint64_t kHotKeys = 4096;  // asked for all the time, so no eviction takes them
constexpr char kHot[] = "hot/";
constexpr char kSegment[] = "bench";  // that no disturbance takes away
constexpr Duration kLocalGoal = Millis(1);
constexpr Duration kRemoteGoal = Millis(10);

struct Probe {
  const char* name;
  std::function<Status(MasterApi& api, uint64_t i)> run;
  std::function<Status(MasterApi& api, uint64_t i)> after;  // not measured; may be empty
  Samples quiet = {};
  Samples disturbed = {};
};

std::vector<Probe> Probes(BenchedMaster& master) {
  const auto hot = [](uint64_t i) {
    return ObjectName{.key = BenchedMaster::KeyOf(kHot, i % kHotKeys)};
  };
  const auto put_key = [](uint64_t i) { return BenchedMaster::KeyOf("probe/", i); };
  std::vector<Probe> probes;
  probes.push_back(
      {.name = "exist",
       .run =
           [&master, hot](MasterApi& api, uint64_t i) {
             const ObjectName name = hot(i);
             return api.BatchExistKey({&name, 1}, false, master.Deadline())[0].status();
           },
       .after = {}});
  probes.push_back({.name = "get replicas",
                    .run =
                        [&master, hot](MasterApi& api, uint64_t i) {
                          const ObjectName name = hot(i);
                          return api.BatchGetReplicaList({&name, 1}, master.Deadline())[0].status();
                        },
                    .after = {}});
  probes.push_back(
      {.name = "put start+end",
       .run =
           [&master, put_key](MasterApi& api, uint64_t i) {
             return BenchedMaster::PutObject(api, {kDefaultTenant, put_key(i)}, master.Deadline(),
                                             kSegment);
           },
       .after =
           [&master, put_key](MasterApi& api, uint64_t i) {
             const ObjectName name{.key = put_key(i)};
             const Status removed = api.BatchRemove({&name, 1}, true, master.Deadline())[0];
             // It may have been evicted.
             return removed.code() == ErrorCode::kObjectNotFound ? Status::Ok() : removed;
           }});
  return probes;
}

// One call after the other, each kind by turns, until `enough()`.
Status Call(std::vector<Probe>& probes, Samples Probe::*samples, MasterApi& api, uint64_t& next,
            const Clock& clock, const std::function<bool()>& enough) {
  while (!enough()) {
    const uint64_t i = next++;
    for (Probe& probe : probes) {
      const TimePoint start = clock.Now();
      const Status status = probe.run(api, i);
      (probe.*samples).Add(clock.Now() - start);
      RETURN_IF_ERROR(Annotate(status, probe.name));
      if (probe.after) RETURN_IF_ERROR(Annotate(probe.after(api, i), probe.name));
    }
  }
  return Status::Ok();
}

Status Measure(std::vector<Probe>& probes, BenchedMaster& master, Disturbance& disturbance,
               MasterApi& api, Duration time, const Clock& clock) {
  uint64_t next = 0;
  const auto after = [&](Duration how_long) {
    return [&clock, end = clock.Now() + how_long] { return clock.Now() >= end; };
  };
  RETURN_IF_ERROR(Call(probes, &Probe::quiet, api, next, clock, after(time)));

  std::atomic<bool> stop{false};
  std::atomic<bool> done{false};
  Status outcome;  // of the thread; read after it has ended
  std::thread other([&] {
    outcome = disturbance.Run(master, api, stop);
    done.store(true);
  });
  const auto in_time = after(time);
  const Status status = Call(probes, &Probe::disturbed, api, next, clock, [&] {
    return done.load() || (!disturbance.EndsByItself() && in_time());
  });
  stop.store(true);
  other.join();
  RETURN_IF_ERROR(status);
  return Annotate(outcome, "while " + disturbance.Name());
}

Status BenchOne(Disturbance& disturbance, bool remote, JumpingClock& master_clock,
                const TailOptions& options, const Clock& clock, std::vector<TailRow>& rows) {
  ASSIGN_OR_RETURN(
      const auto master,
      BenchedMaster::Create(clock, master_clock, {.client_ttl = Disturbance::kClientTtl}));
  RETURN_IF_ERROR(disturbance.Prepare(*master, /*early=*/true));
  RETURN_IF_ERROR(
      master->Mount(BenchedMaster::kClient, kSegment, disturbance.Room() + 4 * kHotKeys));
  RETURN_IF_ERROR(disturbance.Prepare(*master, /*early=*/false));
  RETURN_IF_ERROR(master->Fill(kHot, kHotKeys, kSegment));
  std::vector<Probe> probes = Probes(*master);
  MasterApi& api = remote ? master->remote() : master->local();
  RETURN_IF_ERROR(Measure(probes, *master, disturbance, api, options.time, clock));
  for (Probe& probe : probes) {
    rows.push_back({.what = probe.name,
                    .path = remote ? "rpc" : "in process",
                    .during = disturbance.Name(),
                    .quiet = std::move(probe.quiet),
                    .disturbed = std::move(probe.disturbed),
                    .goal = remote ? kRemoteGoal : kLocalGoal});
  }
  return Status::Ok();
}

}  // namespace

Result<std::vector<TailRow>> BenchTails(const TailOptions& options, const Clock& clock) {
  std::vector<TailRow> rows;
  for (const bool remote : {false, true}) {
    // Deadlines come from the other clock, so the one that jumps is the last to be measured with it.
    JumpingClock master_clock(clock);
    for (const auto& disturbance : AllDisturbances(options.keys, master_clock)) {
      RETURN_IF_ERROR(BenchOne(*disturbance, remote, master_clock, options, clock, rows));
    }
  }
  return rows;
}

}  // namespace mooncake::bench

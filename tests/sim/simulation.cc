#include "tests/sim/simulation.h"

#include <algorithm>
#include <array>
#include <utility>

namespace mooncake::sim {
namespace {

// Which faults this seed suffers: a mix of its own, so that some seeds are all about one kind.
struct FaultMix {
  uint64_t node_crash = 0, node_freeze = 0, client_crash = 0, client_freeze = 0, master_crash = 0,
           master_freeze = 0, cut = 0;
  uint64_t total() const {
    return node_crash + node_freeze + client_crash + client_freeze + master_crash + master_freeze +
           cut;
  }
};

class Simulation {
 public:
  explicit Simulation(const SimOptions& options)
      : options_(options),
        world_(options.seed),
        oracle_(world_),
        master_(world_, 1, oracle_, Options(), options.canary) {
    world_.tracer = options.tracer;
    // Long runs, with fewer operations a second, outlive every grant and release time-out.
    const bool long_run = world_.rng.Chance(1, 5);
    length_ = Seconds(
        static_cast<int64_t>(long_run ? world_.rng.Between(120, 300) : world_.rng.Between(5, 60)));
    const uint64_t pause_us = long_run ? 200'000 : 20'000;
    ChooseFaults();
    const uint64_t node_count = world_.rng.Between(1, 4);
    for (uint64_t i = 0; i < node_count; ++i) {
      const uint64_t bytes = world_.rng.Between(100, 1500) * 1024;
      nodes_.push_back(std::make_unique<NodeActor>(world_, static_cast<int>(100 + i),
                                                   "node" + std::to_string(i), master_, bytes,
                                                   options.canary));
    }
    const auto keys = static_cast<uint32_t>(world_.rng.Between(2, 12));
    const uint64_t client_count = world_.rng.Between(2, 5);
    for (uint64_t i = 0; i < client_count; ++i) {
      clients_.push_back(std::make_unique<ClientActor>(world_, static_cast<int>(200 + i), master_,
                                                       nodes_, oracle_, keys, options.canary,
                                                       pause_us, counts_));
    }
  }

  SimReport Run() {
    const TimePoint start = world_.now();
    world_.After(Millis(50), [this] { Fault(); });
    world_.After(Millis(100), [this] { CheckBooks(); });
    RunUntil(start + length_);
    Heal();
    SimReport report;
    report.violation = oracle_.violation();
    report.digest = world_.digest();
    report.events = world_.events();
    report.simulated = world_.now() - start;
    report.clients = counts_;
    report.reads_checked = oracle_.reads_checked();
    report.dropped = world_.dropped;
    report.repeated = world_.repeated;
    report.frozen = world_.frozen;
    report.crashed = world_.crashed;
    report.cut = world_.cut;
    return report;
  }

 private:
  core::CoreOptions Options() {
    core::CoreOptions options;
    options.lease_ttl = Millis(static_cast<int64_t>(world_.rng.Between(20, 3000)));
    options.put_start_discard_timeout = Seconds(static_cast<int64_t>(world_.rng.Between(1, 5)));
    options.put_start_release_timeout = options.put_start_discard_timeout +
                                        Seconds(static_cast<int64_t>(world_.rng.Between(42, 90)));
    options.client_ttl = Seconds(static_cast<int64_t>(world_.rng.Between(3, 10)));
    if (world_.rng.Chance(1, 3)) options.eviction_high_watermark = 1.0;
    if (world_.rng.Chance(1, 3)) options.eviction_policy = core::EvictionPolicyKind::kHitDensity;
    return options;
  }

  void ChooseFaults() {
    Rng& rng = world_.rng;
    for (uint64_t* weight :
         {&mix_.node_crash, &mix_.node_freeze, &mix_.client_crash, &mix_.client_freeze,
          &mix_.master_crash, &mix_.master_freeze, &mix_.cut}) {
      *weight = rng.Chance(1, 3) ? rng.Between(1, 10) : 0;
    }
    fault_gap_ = Millis(static_cast<int64_t>(rng.Between(50, 3000)));
    if (rng.Chance(1, 2)) world_.net.drop_permille = static_cast<uint32_t>(rng.Between(1, 30));
    if (rng.Chance(1, 2)) world_.net.repeat_permille = static_cast<uint32_t>(rng.Between(1, 50));
    world_.net.max_delay_us = rng.Between(50, 5000);
    if (rng.Chance(1, 2)) {
      world_.net.slow_permille = static_cast<uint32_t>(rng.Between(1, 50));
      world_.net.slow_us = rng.Between(10'000, 12'000'000);
    }
  }

  Actor& AnyClient() { return *clients_[world_.rng.Below(clients_.size())]; }
  Actor& AnyNode() { return *nodes_[world_.rng.Below(nodes_.size())]; }

  void CrashFor(Actor& actor) {
    world_.Crash(actor);
    oracle_.LossPossible();
    world_.After(Millis(static_cast<int64_t>(world_.rng.Between(1, 12'000))), [this, &actor] {
      if (!healing_) world_.Restart(actor);
    });
  }

  // Mostly short; sometimes past every time-out there is.
  int64_t FreezeMs() {
    static constexpr std::array<uint64_t, 5> kLongest = {2'000, 8'000, 15'000, 30'000, 150'000};
    return static_cast<int64_t>(world_.rng.Between(1, kLongest[world_.rng.Below(kLongest.size())]));
  }

  void FreezeClient() {
    ClientActor& client = *clients_[world_.rng.Below(clients_.size())];
    switch (world_.rng.Below(4)) {
      case 0:
        return FreezeFor(client);
      case 1:
      case 2:
        return client.AmbushNextWrite(Millis(FreezeMs()));
      default:
        return client.AmbushNextRead(Millis(FreezeMs()));
    }
  }

  void FreezeFor(Actor& actor) {
    world_.Freeze(actor);
    const auto ms = FreezeMs();
    world_.After(Millis(ms), [this, &actor] { world_.Resume(actor); });
  }

  void CutFor() {
    Actor& a = world_.rng.Chance(1, 2) ? static_cast<Actor&>(master_) : AnyClient();
    Actor& b = AnyNode();
    world_.Cut(a, b);
    ++world_.cut;
    world_.After(Millis(static_cast<int64_t>(world_.rng.Between(10, 15'000))),
                 [this, &a, &b] { world_.Mend(a, b); });
  }

  void Fault() {
    if (healing_) return;
    if (mix_.total() > 0) {
      uint64_t draw = world_.rng.Below(mix_.total());
      const auto chosen = [&draw](uint64_t weight) {
        const bool mine = draw < weight;
        draw -= mine ? 0 : weight;
        return mine;
      };
      if (chosen(mix_.node_crash)) {
        CrashFor(AnyNode());
      } else if (chosen(mix_.node_freeze)) {
        FreezeFor(AnyNode());
      } else if (chosen(mix_.client_crash)) {
        CrashFor(AnyClient());
      } else if (chosen(mix_.client_freeze)) {
        FreezeClient();
      } else if (chosen(mix_.master_crash)) {
        CrashFor(master_);
      } else if (chosen(mix_.master_freeze)) {
        FreezeFor(master_);
      } else {
        CutFor();
      }
    }
    world_.After(fault_gap_, [this] { Fault(); });
  }

  void CheckBooks() {
    if (master_.up()) {
      if (const auto broken = master_.core().CheckInvariants(world_.now()))
        oracle_.Violation("P4: " + *broken);
    }
    world_.After(Millis(250), [this] { CheckBooks(); });
  }

  void RunUntil(TimePoint end) {
    while (!oracle_.violation() && world_.Step(end)) {
    }
  }

  // After all faults end, everything must come back: nodes mounted, nothing stuck, nothing leaked.
  void Heal() {
    healing_ = true;
    world_.net = NetFaults{};
    world_.MendAll();
    std::vector<Actor*> all = {&master_};
    for (const auto& node : nodes_) all.push_back(node.get());
    for (Actor* actor : all) {
      world_.Resume(*actor);
      world_.Restart(*actor);
    }
    for (const auto& client : clients_)
      world_.Crash(*client);  // what they left behind must go by itself
    RunUntil(world_.now() + Seconds(30));
    if (oracle_.violation()) return;
    for (const auto& node : nodes_) {
      if (!node->mounted())
        oracle_.Violation("after healing, " + node->name() + " did not mount again");
    }
    oracle_.LossPossible();
    master_.RemoveAll().Ignore("what is left shows in the counters below");
    RunUntil(world_.now() + Seconds(200));  // every lease, grant and release time-out
    if (oracle_.violation()) return;
    CheckEmpty();
    CheckServes();
  }

  void CheckEmpty() {
    const core::Counters counters = master_.core().GetCounters();
    const std::array<std::pair<const char*, uint64_t>, 7> must_be_zero = {
        {{"objects", counters.objects},
         {"writes in progress", counters.puts_in_progress},
         {"discarded writes", counters.discarded_puts},
         {"detached versions", counters.detached_versions},
         {"used bytes", counters.used},
         {"dead segments", counters.dead_segments},
         {"groups", counters.groups}}};
    for (const auto& [what, count] : must_be_zero) {
      if (count != 0)
        oracle_.Violation(std::string("leaked after healing: ") + std::to_string(count) + " " +
                          what);
    }
  }

  void CheckServes() {
    bool answered = false;
    bool worked = false;
    world_.Restart(*clients_[0]);
    clients_[0]->PutThenGet("after/healing", [&](bool ok) {
      answered = true;
      worked = ok;
    });
    RunUntil(world_.now() + Seconds(1));
    if (!answered || !worked) oracle_.Violation("after healing, a put and a get do not work");
    world_.Crash(*clients_[0]);
  }

  const SimOptions options_;
  World world_;
  Oracle oracle_;
  MasterActor master_;
  Nodes nodes_;
  std::vector<std::unique_ptr<ClientActor>> clients_;
  ClientCounts counts_;
  FaultMix mix_;
  Duration fault_gap_{};
  Duration length_{};
  bool healing_ = false;
};

}  // namespace

SimReport RunSimulation(const SimOptions& options) { return Simulation(options).Run(); }

std::optional<Canary> ParseCanary(const std::string& name) {
  static constexpr std::array kNames = {std::pair{"none", Canary::kNone},
                                        std::pair{"no-epoch-check", Canary::kNoEpochCheck},
                                        std::pair{"no-write-deadline", Canary::kNoWriteDeadline},
                                        std::pair{"no-lease-check", Canary::kNoLeaseCheck},
                                        std::pair{"short-lease", Canary::kShortLease},
                                        std::pair{"end-without-put-id", Canary::kEndWithoutPutId},
                                        std::pair{"revoke-unsettled", Canary::kRevokeUnsettled}};
  for (const auto& [known, canary] : kNames) {
    if (name == known) return canary;
  }
  return std::nullopt;
}

}  // namespace mooncake::sim

#include "tests/sim/simulation.h"

#include <algorithm>
#include <array>
#include <utility>

namespace mooncake::sim {
namespace {

// Which faults this seed suffers: a mix of its own, so that some seeds are all about one kind.
struct FaultMix {
  uint64_t node_crash = 0, node_freeze = 0, client_crash = 0, client_freeze = 0, master_crash = 0,
           master_freeze = 0, cut = 0, takeover = 0;
  uint64_t total() const {
    return node_crash + node_freeze + client_crash + client_freeze + master_crash + master_freeze +
           cut + takeover;
  }
};

class Simulation {
 public:
  explicit Simulation(const SimOptions& options)
      : options_(options), world_(options.seed), oracle_(world_), kind_(ChooseKind()) {
    world_.tracer = options.tracer;
    // Long runs, with fewer operations a second, outlive every grant and release time-out.
    const bool long_run = kind_ == Kind::kStalledWriters || world_.rng.Chance(1, 5);
    length_ = Seconds(
        static_cast<int64_t>(long_run ? world_.rng.Between(120, 300) : world_.rng.Between(5, 60)));
    const uint64_t pause_us = long_run ? 200'000 : 20'000;
    AddMasters();
    switch (kind_) {
      case Kind::kMixed:
        ChooseFaults();
        break;
      case Kind::kStalledWriters:
        StallWriters();
        break;
      case Kind::kLateWrites:
        DelayWrites();
        break;
    }
    const bool small = kind_ != Kind::kMixed;
    const uint64_t node_count = small ? 1 : world_.rng.Between(1, 4);
    for (uint64_t i = 0; i < node_count; ++i) {
      const uint64_t bytes = (small ? world_.rng.Between(330, 500) : world_.rng.Between(100, 1500));
      nodes_.push_back(std::make_unique<NodeActor>(world_, static_cast<int>(100 + i),
                                                   "node" + std::to_string(i), masters_,
                                                   bytes * 1024, options.canary));
    }
    const auto keys = static_cast<uint32_t>(world_.rng.Between(2, 12));
    const uint64_t client_count = small ? 5 : world_.rng.Between(2, 5);
    for (uint64_t i = 0; i < client_count; ++i) {
      clients_.push_back(std::make_unique<ClientActor>(world_, static_cast<int>(200 + i), masters_,
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
    report.takeovers = election_.ousts;
    for (const auto& master : masters_) {
      report.restores += master->restores();
      report.versions_restored += master->versions_restored();
    }
    return report;
  }

 private:
  // Some faults hurt only where several others meet; a few seeds bring them together on purpose.
  enum class Kind : uint8_t {
    kMixed,
    kStalledWriters,  // writers that stop in the middle of a write, and go on when its space is another's
    kLateWrites,  // writes that arrive long after their writer gave up
  };
  Kind ChooseKind() {
    const uint64_t draw = world_.rng.Below(20);
    return draw == 0 ? Kind::kStalledWriters : draw == 1 ? Kind::kLateWrites : Kind::kMixed;
  }

  void AddMasters() {
    MasterSetup setup;
    setup.options = Options();
    setup.log = &log_;
    setup.canary = options_.canary;
    if (kind_ == Kind::kMixed && world_.rng.Chance(3, 5)) {
      setup.options.durability =
          world_.rng.Chance(1, 2) ? core::Durability::kAsync : core::Durability::kSync;
      setup.max_sync_us = world_.rng.Chance(1, 2) ? 1000 : world_.rng.Between(1000, 100'000);
      if (world_.rng.Chance(1, 4)) setup.lose_disk_permille = 300;
    }
    durability_ = setup.options.durability;
    const bool several = durability_ != core::Durability::kNone && world_.rng.Chance(1, 2);
    if (several) setup.election = &election_;
    for (int i = 1; i <= (several ? 2 : 1); ++i)
      masters_.push_back(std::make_unique<MasterActor>(world_, i, oracle_, setup));
  }

  core::CoreOptions Options() {
    core::CoreOptions options;
    options.lease_ttl = Millis(static_cast<int64_t>(world_.rng.Between(20, 3000)));
    options.put_start_discard_timeout = Seconds(static_cast<int64_t>(world_.rng.Between(1, 5)));
    options.put_start_release_timeout = options.put_start_discard_timeout +
                                        Seconds(static_cast<int64_t>(world_.rng.Between(42, 90)));
    options.client_ttl = Seconds(static_cast<int64_t>(world_.rng.Between(3, 10)));
    if (world_.rng.Chance(1, 2)) options.min_slice_bytes = 4096;
    if (kind_ == Kind::kStalledWriters)
      options.put_start_release_timeout = options.put_start_discard_timeout + Seconds(1);
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
    // What a restart finds is worth to be looked at more often.
    if (durability_ != core::Durability::kNone && mix_.master_crash == 0)
      mix_.master_crash = rng.Below(4);
    if (masters_.size() > 1) mix_.takeover = rng.Below(5);
    fault_gap_ = Millis(static_cast<int64_t>(rng.Between(50, 3000)));
    if (rng.Chance(1, 2)) world_.net.drop_permille = static_cast<uint32_t>(rng.Between(1, 30));
    if (rng.Chance(1, 2)) world_.net.repeat_permille = static_cast<uint32_t>(rng.Between(1, 50));
    world_.net.max_delay_us = rng.Between(50, 5000);
    if (rng.Chance(1, 2)) {
      world_.net.slow_permille = static_cast<uint32_t>(rng.Between(1, 50));
      world_.net.slow_us = rng.Between(10'000, 12'000'000);
    }
  }

  // Nothing but this: a crash of node or master would fence the writers.
  void StallWriters() {
    mix_.client_freeze = 1;
    fault_gap_ = Millis(static_cast<int64_t>(world_.rng.Between(200, 1000)));
  }
  void DelayWrites() {
    fault_gap_ = Seconds(1);
    world_.net.drop_permille = static_cast<uint32_t>(world_.rng.Between(50, 100));
    world_.net.slow_permille = static_cast<uint32_t>(world_.rng.Between(50, 150));
    world_.net.slow_us = 12'000'000;
  }

  MasterActor& AnyMaster() { return *masters_[world_.rng.Below(masters_.size())]; }
  Actor& AnyClient() { return *clients_[world_.rng.Below(clients_.size())]; }
  Actor& AnyNode() { return *nodes_[world_.rng.Below(nodes_.size())]; }

  void CrashFor(Actor& actor) {
    world_.Crash(actor);
    // What a master acknowledged in sync mode must come back, so that its crash is no excuse.
    const bool master = actor.id() < 100;
    if (!master || durability_ != core::Durability::kSync) oracle_.LossPossible();
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
    if (kind_ == Kind::kStalledWriters)
      return client.AmbushNextWrite(Millis(static_cast<int64_t>(world_.rng.Between(1000, 15'000))));
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
    Actor& a = world_.rng.Chance(1, 2) ? static_cast<Actor&>(AnyMaster()) : AnyClient();
    const bool between_masters = masters_.size() > 1 && world_.rng.Chance(1, 3);
    Actor& b = between_masters ? static_cast<Actor&>(election_) : AnyNode();
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
        CrashFor(AnyMaster());
      } else if (chosen(mix_.master_freeze)) {
        FreezeFor(AnyMaster());
      } else if (chosen(mix_.takeover)) {
        election_.Oust();
      } else {
        CutFor();
      }
    }
    world_.After(fault_gap_, [this] { Fault(); });
  }

  void CheckBooks() {
    for (const auto& master : masters_) {
      if (master->core() == nullptr) continue;
      if (const auto broken = master->core()->CheckInvariants(world_.now()))
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
    election_.Forgive();
    std::vector<Actor*> all;
    for (const auto& master : masters_) all.push_back(master.get());
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
    MasterActor* leader = Leader();
    if (leader == nullptr) return oracle_.Violation("after healing there is no master");
    leader->RemoveAll().Ignore("what is left shows in the counters below");
    RunUntil(world_.now() + Seconds(200));  // every lease, grant and release time-out
    if (oracle_.violation()) return;
    CheckEmpty();
    CheckServes();
  }

  // The one that answers; nobody else may.
  MasterActor* Leader() {
    MasterActor* leader = nullptr;
    for (const auto& master : masters_) {
      if (!master->Leads()) continue;
      if (leader != nullptr) oracle_.Violation("two masters lead");
      leader = master.get();
    }
    return leader;
  }

  void CheckEmpty() {
    MasterActor* leader = Leader();
    if (leader == nullptr) return oracle_.Violation("after healing the master went away");
    const core::Counters counters = leader->core()->GetCounters();
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
    bool worked = false;
    world_.Restart(*clients_[0]);
    // The first attempt may ask the master that leads no more, and a slow disk may take longer than a call.
    for (int attempt = 0; attempt < 5 && !worked; ++attempt) {
      clients_[0]->PutThenGet("after/healing", [&worked](bool ok) { worked = ok; });
      RunUntil(world_.now() + Seconds(3));
    }
    if (!worked) oracle_.Violation("after healing, a put and a get do not work");
    world_.Crash(*clients_[0]);
  }

  const SimOptions options_;
  World world_;
  Oracle oracle_;
  Election election_{world_, 50};
  DurableLog log_;
  const Kind kind_;
  core::Durability durability_ = core::Durability::kNone;
  Masters masters_;
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
  static constexpr std::array kNames = {
      std::pair{"none", Canary::kNone},
      std::pair{"no-epoch-check", Canary::kNoEpochCheck},
      std::pair{"no-write-deadline", Canary::kNoWriteDeadline},
      std::pair{"no-lease-check", Canary::kNoLeaseCheck},
      std::pair{"short-lease", Canary::kShortLease},
      std::pair{"end-without-put-id", Canary::kEndWithoutPutId},
      std::pair{"revoke-unsettled", Canary::kRevokeUnsettled},
      std::pair{"reuse-before-durable", Canary::kReuseBeforeDurable},
      std::pair{"no-lease-on-restore", Canary::kNoLeaseOnRestore},
      std::pair{"keep-old-epoch", Canary::kKeepOldEpoch},
      std::pair{"answer-before-durable", Canary::kAnswerBeforeDurable},
      std::pair{"no-quiet-time", Canary::kNoQuietTime}};
  for (const auto& [known, canary] : kNames) {
    if (name == known) return canary;
  }
  return std::nullopt;
}

}  // namespace mooncake::sim

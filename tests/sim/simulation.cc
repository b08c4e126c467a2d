#include "tests/sim/simulation.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tests/sim/faults.h"

namespace mooncake::sim {
namespace {

class Simulation {
 public:
  explicit Simulation(const SimOptions& options)
      : options_(options),
        world_(options.seed),
        oracle_(world_),
        plot_(ChoosePlot(world_.rng)),
        faults_({world_, masters_, nodes_, clients_, election_}, plot_) {
    world_.tracer = options.tracer;
    // Long runs, with fewer operations a second, outlive every grant and release time-out.
    const bool stalls = plot_ == Plot::kStalledWriters || plot_ == Plot::kLateWrites;
    const bool long_run =
        plot_ == Plot::kStalledWriters || (plot_ == Plot::kMixed && world_.rng.Chance(1, 5));
    length_ = Seconds(
        static_cast<int64_t>(long_run ? world_.rng.Between(120, 300) : world_.rng.Between(5, 60)));
    AddMasters();
    // With little room the space of one is soon another's.
    const bool small = plot_ != Plot::kMixed;
    const uint64_t node_count = stalls ? 1 : world_.rng.Between(1, small ? 2 : 4);
    for (uint64_t i = 0; i < node_count; ++i) {
      const uint64_t bytes = (small ? world_.rng.Between(330, 500) : world_.rng.Between(100, 1500));
      nodes_.push_back(std::make_unique<NodeActor>(world_, static_cast<int>(100 + i),
                                                   "node" + std::to_string(i), masters_,
                                                   bytes * 1024, options.canary));
    }
    ClientSetup setup;
    setup.canary = options.canary;
    setup.keys = static_cast<uint32_t>(world_.rng.Between(2, 12));
    setup.pause_us = long_run ? 200'000 : 20'000;
    if (world_.rng.Chance(1, 5)) setup.directory_percent = world_.rng.Between(20, 90);
    const uint64_t client_count = small ? 5 : world_.rng.Between(2, 5);
    for (uint64_t i = 0; i < client_count; ++i) {
      clients_.push_back(std::make_unique<ClientActor>(world_, static_cast<int>(200 + i), masters_,
                                                       nodes_, oracle_, setup, counts_));
    }
    faults_.Choose(durability_ != core::Durability::kNone);
  }

  SimReport Run() {
    const TimePoint start = world_.now();
    faults_.Start();
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
    report.nodes_left = faults_.nodes_left();
    for (const auto& master : masters_) {
      report.restores += master->restores();
      report.from_snapshots += master->from_snapshots();
      report.successions += master->successions();
      report.versions_restored += master->versions_restored();
    }
    return report;
  }

 private:
  void AddMasters() {
    Rng& rng = world_.rng;
    MasterSetup setup;
    setup.options = Options();
    setup.quota = rng.Between(700'000, 4'000'000);
    setup.log = &log_;
    setup.canary = options_.canary;
    const bool wanted = plot_ == Plot::kRestarts || plot_ == Plot::kTakeovers;
    if (wanted || (plot_ == Plot::kMixed && rng.Chance(3, 5))) {
      setup.options.durability =
          rng.Chance(1, 2) ? core::Durability::kAsync : core::Durability::kSync;
      setup.max_sync_us = rng.Chance(1, 2) ? 1000 : rng.Between(1000, 100'000);
      // In some runs a snapshot takes seconds, with much happening meanwhile.
      if (rng.Chance(1, 2)) setup.snapshot_pause = rng.Between(5, 50);
      if (plot_ == Plot::kRestarts) setup.max_sync_us = rng.Between(20'000, 100'000);
      if (plot_ == Plot::kMixed && rng.Chance(1, 4)) setup.lose_disk_permille = 300;
    }
    durability_ = setup.options.durability;
    if (durability_ == core::Durability::kSync) oracle_.ExpectSync();
    const bool several = plot_ == Plot::kTakeovers || (plot_ == Plot::kMixed && rng.Chance(1, 2));
    const bool elected = several && durability_ != core::Durability::kNone;
    if (elected) setup.election = &election_;
    for (int i = 1; i <= (elected ? 2 : 1); ++i)
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
    if (plot_ == Plot::kStalledWriters)
      options.put_start_release_timeout = options.put_start_discard_timeout + Seconds(1);
    if (world_.rng.Chance(1, 3)) options.eviction_high_watermark = 1.0;
    if (world_.rng.Chance(1, 3)) options.eviction_policy = core::EvictionPolicyKind::kHitDensity;
    options.multi_tenants = world_.rng.Chance(1, 4);
    return options;
  }

  void CheckBooks() {
    for (const auto& master : masters_) {
      if (master->core() == nullptr) continue;
      if (const auto broken = master->core()->CheckInvariants(master->Clock()))
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
    faults_.Stop();
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
    const std::array<std::pair<const char*, uint64_t>, 8> must_be_zero = {
        {{"objects", counters.objects},
         {"writes in progress", counters.puts_in_progress},
         {"discarded writes", counters.discarded_puts},
         {"detached versions", counters.detached_versions},
         {"used bytes", counters.used},
         {"dead segments", counters.dead_segments},
         {"quarantined segments", counters.quarantined_segments},
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
  const Plot plot_;
  core::Durability durability_ = core::Durability::kNone;
  Masters masters_;
  Nodes nodes_;
  std::vector<std::unique_ptr<ClientActor>> clients_;
  Faults faults_;
  ClientCounts counts_;
  Duration length_{};
};

}  // namespace

void Add(SimReport& sum, const SimReport& one) {
  sum.events += one.events;
  sum.simulated += one.simulated;
  sum.clients.operations += one.clients.operations;
  sum.clients.puts_ok += one.clients.puts_ok;
  sum.clients.puts_failed += one.clients.puts_failed;
  sum.clients.gets_ok += one.clients.gets_ok;
  sum.clients.gets_failed += one.clients.gets_failed;
  sum.clients.not_found += one.clients.not_found;
  sum.clients.leases_lost += one.clients.leases_lost;
  sum.reads_checked += one.reads_checked;
  sum.dropped += one.dropped;
  sum.repeated += one.repeated;
  sum.frozen += one.frozen;
  sum.crashed += one.crashed;
  sum.cut += one.cut;
  sum.takeovers += one.takeovers;
  sum.restores += one.restores;
  sum.versions_restored += one.versions_restored;
  sum.from_snapshots += one.from_snapshots;
  sum.successions += one.successions;
  sum.nodes_left += one.nodes_left;
  sum.clients.renewals += one.clients.renewals;
  sum.clients.removed += one.clients.removed;
  sum.clients.renamed += one.clients.renamed;
  sum.clients.directories_renamed += one.clients.directories_renamed;
  sum.clients.cleared += one.clients.cleared;
  sum.clients.reported += one.clients.reported;
}

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
      std::pair{"no-quiet-time", Canary::kNoQuietTime},
      std::pair{"answers-when-deposed", Canary::kAnswersWhenDeposed}};
  for (const auto& [known, canary] : kNames) {
    if (name == known) return canary;
  }
  return std::nullopt;
}

}  // namespace mooncake::sim

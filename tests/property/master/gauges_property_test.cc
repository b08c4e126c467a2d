// Every gauge of the metrics page equals a recount of what the listings show, after each of many random steps: writes, removals,
// evictions, tenants and their quotas, nodes that come, leave and die, restarts from log and snapshot. Field reports F100 (with
// restarts in place of changes of the leader) and F101.
#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "master/server/master_service.h"
#include "master/server/metrics_text.h"
#include "tests/support/memory_quota_policies.h"
#include "tests/support/memory_state_store.h"
#include "tests/support/seeds.h"
#include "tests/support/wait.h"
#include "transfer/base/manual_clock.h"
#include "transfer/base/rng.h"
#include "transfer/base/seal.h"

namespace mooncake {
namespace {

constexpr int kSteps = 150;
constexpr uint64_t kNodes = 3;
constexpr uint64_t kSegmentBytes = 256 * 1024;
constexpr Duration kLease = Seconds(5);
constexpr Duration kRelease = Seconds(20);
constexpr Duration kClientTtl = Seconds(10);
constexpr ClientId kWriter{9, 1};
const std::vector<std::string> kTenants = {"t", "u", "without"};

// The page in Prometheus' format.
struct Page {
  std::set<std::string> gauges;              // names
  std::map<std::string, uint64_t> counters;  // values, by name and labels
  std::map<std::string, uint64_t> values;    // of gauges, likewise

  explicit Page(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string first, second, name, type;
      if (line.starts_with("# TYPE ")) {
        words >> first >> second >> name >> type;
        if (type == "gauge") gauges.insert(name);
      } else if (!line.starts_with("#")) {
        const size_t space = line.rfind(' ');
        const std::string series = line.substr(0, space);
        const std::string value = line.substr(space + 1);
        EXPECT_EQ(value.find_first_not_of("0123456789"), std::string::npos) << line;
        const bool gauge = gauges.contains(series.substr(0, series.find('{')));
        (gauge ? values : counters)[series] = std::stoull(value);
      }
    }
  }
};

class World {
 public:
  explicit World(uint64_t seed) : rng_(seed) {
    options_.background = false;
    options_.core.table_parts = 2;
    options_.core.lease_ttl = kLease;
    options_.core.put_start_discard_timeout = Seconds(8);
    options_.core.put_start_release_timeout = kRelease;
    options_.core.client_ttl = kClientTtl;
    options_.core.multi_tenants = rng_.Chance(2, 3);
    options_.core.durability =
        rng_.Chance(1, 2) ? core::Durability::kAsync : core::Durability::kSync;
    Start();
    for (uint64_t node = 0; node < kNodes; ++node) Mount(node);
  }

  void Run() {
    for (step_ = 0; step_ < kSteps && !::testing::Test::HasFailure(); ++step_) {
      Step();
      Compare();
    }
    if (::testing::Test::HasFailure()) return;
    // Everything away: nothing is used.
    EXPECT_TRUE(service_->RemoveAll("", true, kNever).ok());
    writes_.clear();
    for (int i = 0; i < 8; ++i) Advance(kClientTtl / 2);
    Compare();
    const Page page(MetricsText(*service_, {}));
    for (const char* name : {"master_allocated_bytes", "master_key_count", "master_detached_bytes",
                             "master_put_start_discarded_staging_size"})
      EXPECT_EQ(page.values.at(name), 0u) << name;
  }

 private:
  using Name = std::pair<std::string, std::string>;  // tenant, key
  struct Write {
    PutId id;
    TimePoint started;
  };
  struct Placed {
    uint32_t wanted = 0;
    uint64_t size = 0;
    std::vector<SegmentId> segments;  // one for each replica: none is split
  };
  struct Node {
    SegmentDescriptor segment;
    bool mounted = false;
  };

  std::string Where() const { return "step " + std::to_string(step_) + ", " + what_; }

  void Start() {
    auto made = MasterService::Create(
        options_, clock_, std::make_unique<testing::MemoryStateStore>(disk_),
        options_.core.multi_tenants ? std::make_unique<testing::MemoryQuotaPolicyStore>(policies_)
                                    : nullptr);
    ASSERT_TRUE(made.ok()) << made.message();
    service_ = std::move(made).value();
    counters_.clear();
    writes_.clear();
    snapshot_ = {};
  }
  void Restart() {
    what_ = "Restart";
    service_.reset();
    Start();
    // The nodes notice with their next pings. One of them may have died meanwhile.
    const uint64_t dead = rng_.Below(2 * kNodes);
    for (uint64_t node = 0; node < kNodes; ++node) {
      if (!nodes_[node].mounted) continue;
      if (node == dead) {
        nodes_[node].mounted = false;
        continue;
      }
      nodes_[node].segment.epoch = AccessEpoch{nodes_[node].segment.epoch.value + 1};
      Ping(node);
      EXPECT_EQ(service_->ReMountSegments(nodes_[node].segment.owner, {&nodes_[node].segment, 1}, 0,
                                          kNever),
                Status::Ok());
    }
    Settle();
    if (dead < kNodes) {
      for (int i = 0; i < 3; ++i) Advance(kClientTtl / 2);
    }
  }

  void Mount(uint64_t number) {
    what_ = "Mount";
    Node& node = nodes_[number];
    node.mounted = true;
    node.segment.id = {++lives_, number + 1};
    node.segment.name = "node" + std::to_string(number);
    node.segment.size = kSegmentBytes;
    node.segment.epoch = AccessEpoch{1};
    node.segment.owner = {7, number + 1};
    node.segment.protocol = "tcp";
    node.segment.endpoint = "h:1";
    Ping(number);
    EXPECT_EQ(service_->MountSegment(node.segment.owner, node.segment, kNever), Status::Ok());
  }
  void Unmount(Node& node) {
    what_ = "Unmount";
    if (!std::exchange(node.mounted, false)) return;
    EXPECT_EQ(service_->UnmountSegment(node.segment.owner, node.segment.id, kNever), Status::Ok());
  }
  void Ping(uint64_t node) { EXPECT_TRUE(service_->Ping({7, node + 1}, "node", kNever).ok()); }
  // Living nodes go on pinging, so no more at once than they may be silent.
  void Advance(Duration d) {
    clock_.Advance(d);
    for (uint64_t node = 0; node < kNodes; ++node) {
      if (nodes_[node].mounted) Ping(node);
    }
    Settle();
    std::erase_if(writes_, [&](const auto& write) {
      return write.second.started + kRelease <= clock_.Now();
    });
  }
  // Background work done, log written.
  void Settle() {
    while (service_->Tick()) {
    }
    EXPECT_TRUE(testing::Eventually([&] { return service_->durability()->log.waiting == 0; }));
  }

  ObjectName Any() {
    return {kTenants[rng_.Below(kTenants.size())], "k" + std::to_string(rng_.Below(12))};
  }
  static Name Of(const ObjectName& name) { return {name.tenant, name.key}; }

  void Put() {
    PutStartArgs args{.client = kWriter, .name = Any(), .size = rng_.Between(1, 40000)};
    args.mode = rng_.Chance(1, 3) ? WriteMode::kCreate : WriteMode::kReplace;
    args.config.replica_num = static_cast<uint32_t>(rng_.Between(1, 3));
    if (rng_.Chance(1, 4)) args.config.soft_pin = SoftPinAction::kEnable;
    if (rng_.Chance(1, 4)) args.config.soft_pin_ttl = Seconds(9);
    if (args.config.soft_pin != SoftPinAction::kEnable) args.config.soft_pin_ttl.reset();
    args.config.hard_pin = rng_.Chance(1, 20);
    what_ = "PutStart " + args.name.key;
    const auto started = service_->BatchPutStart({&args, 1}, kNever)[0];
    if (!started.ok()) return;
    Placed& placed = placed_[started->put_id];
    placed.wanted = args.config.replica_num;
    placed.size = args.size;
    for (const ReplicaDescriptor& replica : started->replicas) {
      EXPECT_EQ(replica.extents.size(), 1u);
      placed.segments.push_back(replica.extents.at(0).segment);
    }
    writes_[Of(args.name)] = {started->put_id, clock_.Now()};
    if (rng_.Chance(3, 4)) End(args.name);
  }
  void End(const ObjectName& name) {
    const auto write = writes_.find(Of(name));
    if (write == writes_.end()) return;
    if (rng_.Chance(1, 6)) {
      what_ += ", PutRevoke";
      const PutRevokeArgs args{kWriter, name, write->second.id, rng_.Chance(1, 2)};
      EXPECT_EQ(service_->BatchPutRevoke({&args, 1}, kNever)[0], Status::Ok()) << Where();
    } else {
      what_ += ", PutEnd";
      const PutEndArgs args{kWriter, name, write->second.id, std::nullopt};
      service_->BatchPutEnd({&args, 1}, kNever)[0].Ignore("its segments may be gone");
    }
    writes_.erase(write);
  }
  void Clear() {
    const ObjectName name = Any();
    const SegmentDescriptor& segment = nodes_[rng_.Below(kNodes)].segment;
    what_ = "ReplicaClear";
    const auto stat = service_->BatchStat({&name, 1}, kNever)[0];
    if (!service_->BatchReplicaClear({&name, 1}, segment.name, kNever)[0].ok()) return;
    std::erase(placed_[stat->put_id].segments, segment.id);
  }
  void Remove() {
    const ObjectName name = Any();
    const bool force = rng_.Chance(1, 2);
    switch (rng_.Below(5)) {
      case 0:
        what_ = "RemoveAll";
        EXPECT_TRUE(service_->RemoveAll(rng_.Chance(1, 2) ? "" : name.tenant, force, kNever).ok());
        return;
      case 1:
        what_ = "RemoveByRegex";
        EXPECT_TRUE(service_
                        ->RemoveByRegex(
                            {.tenant = name.tenant, .pattern = "[135]$", .force = force}, kNever)
                        .ok());
        return;
      default:
        what_ = "Remove";
        service_->BatchRemove({&name, 1}, force, kNever)[0].Ignore("it may not be there");
    }
  }
  void ChangeQuota() {
    what_ = "SetQuota or DeleteQuota";
    const std::string& tenant = kTenants[rng_.Below(2)];
    if (rng_.Chance(1, 6)) {
      service_->DeleteQuota(tenant, kNever).status().Ignore("it may have objects");
    } else {
      service_->SetQuota(tenant, rng_.Between(1, 3 * kSegmentBytes), kNever)
          .status()
          .Ignore("without the mode");
    }
  }
  void ChangeNodes() {
    Node& node = nodes_[rng_.Below(kNodes)];
    const SegmentId id = node.segment.id;
    switch (rng_.Below(4)) {
      case 0:
        Unmount(node);
        return;
      case 1:
        what_ = "a node dies";
        node.mounted = false;
        for (int i = 0; i < 3; ++i) Advance(kClientTtl / 2);
        return;
      case 2:
        what_ = "clients report a segment";
        for (uint64_t client = 1; client <= 2; ++client) {
          EXPECT_TRUE(service_->Ping({6, client}, "reader", kNever).ok());
          EXPECT_EQ(service_->ReportReplicaFailure({6, client}, {&id, 1}, kNever), Status::Ok());
        }
        return;
      default:
        Mount(rng_.Below(kNodes));
    }
  }
  void Get() {
    const ObjectName name = Any();
    what_ = "Get";
    service_->BatchGetReplicaList({&name, 1}, kNever)[0].status().Ignore("it may not be there");
  }
  void Rename() {
    ObjectName from = Any();
    const ObjectName to{from.tenant, Any().key};
    what_ = "Rename";
    service_->Rename(from, to, rng_.Chance(1, 3), kNever).Ignore("it may not be there");
  }
  void Snapshot() {
    what_ = "TakeSnapshot";
    Settle();
    const auto taken = service_->TakeSnapshot(kNever);
    ASSERT_TRUE(taken.ok()) << taken.message();
    snapshot_ = *taken;
  }

  void Step() {
    const uint64_t dice = rng_.Below(100);
    if (dice < 45) {
      Put();
    } else if (dice < 52) {
      what_ = "later";
      End(Any());
    } else if (dice < 60) {
      Get();
    } else if (dice < 68) {
      Remove();
    } else if (dice < 72) {
      Clear();
    } else if (dice < 76) {
      Rename();
    } else if (dice < 84) {
      ChangeQuota();
    } else if (dice < 90) {
      ChangeNodes();
    } else if (dice < 92) {
      Snapshot();
    } else if (dice < 94) {
      Restart();
    } else {
      what_ = "time";
      Advance(Millis(static_cast<int64_t>(rng_.Below(6000))));
    }
    Settle();
  }

  // What the page should say, by series. Bytes are those that have a name: of readable versions and writes in progress.
  struct Recount {
    std::map<std::string, uint64_t> gauges;
    std::map<SegmentId, uint64_t> bytes;
    std::map<std::string, uint64_t> charged;  // by tenant
  };
  static void Count(Recount& recount, const std::set<SegmentId>& mounted, const std::string& tenant,
                    const Placed& placed) {
    for (const SegmentId& segment : placed.segments) {
      if (!mounted.contains(segment)) continue;
      recount.bytes[segment] += ExtentFootprint(placed.size);
      recount.charged[tenant] += ExtentFootprint(placed.size);
    }
  }
  Recount CountObjects(const std::vector<SegmentInfo>& segments) {
    Recount recount;
    std::set<SegmentId> mounted;
    for (const SegmentInfo& segment : segments) mounted.insert(segment.descriptor.id);
    for (const char* name : {"master_key_count", "master_soft_pin_key_count",
                             "master_hard_pin_key_count", "master_under_replicated_key_count"})
      recount.gauges[name] = 0;
    for (const std::string& tenant : kTenants) {
      const auto list = service_->ListObjects({.tenant = tenant, .limit = kMaxListLimit}, kNever);
      for (const ListEntry& entry : list->entries) {
        const Placed& placed = placed_.at(entry.stat.put_id);
        ++recount.gauges["master_key_count"];
        recount.gauges["master_soft_pin_key_count"] += entry.stat.soft_pin_left > Duration::zero();
        recount.gauges["master_hard_pin_key_count"] += entry.stat.hard_pin;
        recount.gauges["master_under_replicated_key_count"] +=
            entry.stat.replica_count < placed.wanted;
        Count(recount, mounted, tenant, placed);
      }
    }
    for (const auto& [name, write] : writes_)
      Count(recount, mounted, name.first, placed_.at(write.id));
    return recount;
  }
  void CountNodes(const std::vector<SegmentInfo>& segments, Recount& recount) {
    auto& gauges = recount.gauges;
    uint64_t mounted = 0;
    for (const auto& node : nodes_) mounted += node.mounted;
    EXPECT_EQ(segments.size(), mounted) << Where();
    gauges["master_total_capacity_bytes"] = mounted * kSegmentBytes;
    gauges["master_segment_count"] = mounted;
    gauges["master_active_clients"] = service_->GetClients(kNever)->size();
    gauges["master_quarantined_segment_count"] = 0;
    for (const SegmentInfo& segment : segments) {
      gauges["master_quarantined_segment_count"] += segment.quarantined;
      gauges["segment_total_capacity_bytes{segment=\"" + segment.descriptor.name + "\"}"] =
          kSegmentBytes;
    }
  }
  void CountQuotas(Recount& recount) {
    const auto list = service_->ListQuotas("", 100, kNever);
    if (!list.ok()) return;
    auto& gauges = recount.gauges;
    uint64_t requested = 0;
    uint64_t effective = 0;
    const std::string prefix = "mooncake_tenant_quota_";
    QuotaPolicies policies = policies_->Policies();
    for (const TenantQuota& quota : list->quotas) {
      const auto of = [&](const std::string& name) -> uint64_t& {
        return gauges[prefix + name + "{tenant_id=\"" + quota.tenant + "\"}"];
      };
      const uint64_t asked = policies.contains(quota.tenant) ? policies.at(quota.tenant) : 0;
      of("requested_bytes") = asked;
      of("explicit_policy") = asked > 0;
      of("effective_bytes") = quota.effective;
      of("admission_closed") = 0;
      of("over_quota") = quota.charged > quota.effective;
      requested += asked;
      effective += quota.effective;
      policies.erase(quota.tenant);
    }
    EXPECT_TRUE(policies.empty()) << Where() << ": a quota is not listed";
    const uint64_t capacity = gauges.at("master_total_capacity_bytes");
    EXPECT_EQ(effective, std::min(requested, capacity)) << Where();
    gauges[prefix + "allocatable_capacity_bytes"] = capacity;
    gauges[prefix + "requested_bytes_sum"] = requested;
    gauges[prefix + "effective_bytes_sum"] = effective;
  }
  void CountDurability(Recount& recount) {
    auto& gauges = recount.gauges;
    gauges["master_rpc_connections"] = 3;
    gauges["master_log_durable_sequence"] = service_->Ping(kWriter, "writer", kNever)->log_position;
    gauges["master_log_waiting_records"] = 0;
    gauges["master_log_failing"] = 0;
    gauges["master_log_held_bytes"] = 0;
    gauges["master_snapshot_last_begun_ms"] = static_cast<uint64_t>(snapshot_.begun_ms);
    gauges["master_snapshot_last_records"] = snapshot_.records;
    gauges["master_snapshot_last_bytes"] = snapshot_.bytes;
  }

  // Bytes without a name, of replaced and removed versions that are leased and of writes that were given up, are not listed. Where
  // there are some, what is used is more than what is counted, and else the same.
  void CompareBytes(Page& page, const Recount& recount, const std::vector<SegmentInfo>& segments) {
    const auto take = [&](const std::string& series) {
      const auto at = page.values.find(series);
      EXPECT_NE(at, page.values.end()) << Where() << ": no " << series;
      if (at == page.values.end()) return uint64_t{0};
      return page.values.extract(at).mapped();
    };
    const uint64_t nameless =
        take("master_detached_bytes") + take("master_put_start_discarded_staging_size");
    const auto compare = [&](const std::string& series, uint64_t counted) {
      const uint64_t value = take(series);
      EXPECT_GE(value, counted) << Where() << ": " << series;
      if (nameless == 0) {
        EXPECT_EQ(value, counted) << Where() << ": " << series;
      }
      return value;
    };
    uint64_t counted = 0;
    uint64_t used = 0;
    for (const SegmentInfo& segment : segments) {
      const auto bytes = recount.bytes.find(segment.descriptor.id);
      const uint64_t named = bytes == recount.bytes.end() ? 0 : bytes->second;
      used +=
          compare("segment_allocated_bytes{segment=\"" + segment.descriptor.name + "\"}", named);
      counted += named;
    }
    EXPECT_EQ(take("master_allocated_bytes"), used) << Where();
    EXPECT_GE(used - counted, nameless) << Where();
    if (!options_.core.multi_tenants) return;
    uint64_t charged = 0;
    const auto list = service_->ListQuotas("", 100, kNever);
    for (const TenantQuota& quota : list->quotas) {
      const auto bytes = recount.charged.find(quota.tenant);
      charged += compare("mooncake_tenant_quota_charged_bytes{tenant_id=\"" + quota.tenant + "\"}",
                         bytes == recount.charged.end() ? 0 : bytes->second);
    }
    EXPECT_EQ(charged, used) << Where();
  }

  void Compare() {
    const auto segments = service_->GetSegments({}, kNever).value();
    Recount recount = CountObjects(segments);
    CountNodes(segments, recount);
    CountQuotas(recount);
    CountDurability(recount);
    recount.gauges["master_active_clients"] = service_->GetClients(kNever)->size();
    recount.gauges["master_processing_key_count"] = writes_.size();
    Page page(MetricsText(*service_, {.open = 3}));
    CompareBytes(page, recount, segments);
    EXPECT_EQ(page.values, recount.gauges) << Where();
    for (const auto& [series, value] : page.counters) {
      // Those of a tenant go with it, and begin anew.
      const auto before = counters_.find(series);
      if (before != counters_.end()) {
        EXPECT_GE(value, before->second) << Where() << ": " << series;
      }
    }
    counters_ = std::move(page.counters);
  }

  Rng rng_;
  MasterServiceOptions options_;
  ManualClock clock_;
  const std::shared_ptr<testing::MemoryDisk> disk_ = std::make_shared<testing::MemoryDisk>();
  const std::shared_ptr<testing::PolicyPlace> policies_ = std::make_shared<testing::PolicyPlace>();
  std::unique_ptr<MasterService> service_;
  std::array<Node, kNodes> nodes_;
  uint64_t lives_ = 0;
  std::map<PutId, Placed> placed_;
  std::map<Name, Write> writes_;
  SnapshotDescriptor snapshot_;
  std::map<std::string, uint64_t> counters_;
  int step_ = 0;
  std::string what_;
};

TEST(Gauges, EqualARecountAfterEachStep) {
  for (const uint64_t seed : testing::Seeds(20)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed);
    world.Run();
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace mooncake

// Random operations on few keys, with a hand-driven clock, against CoreModel: equal answers, equal contents, no byte
// given away that a reader, a writer or a leaseholder may still use, and the invariants after each step.
#include <map>

#include <gtest/gtest.h>

#include "master/core/allocator/slab_allocator.h"
#include "master/core/metadata_core.h"
#include "tests/property/master/core_model.h"
#include "tests/support/seeds.h"
#include "transfer/base/rng.h"
#include "transfer/base/seal.h"

namespace mooncake::core {
namespace {

constexpr int kSteps = 1500;
constexpr uint32_t kNodes = 4;
constexpr ClientId kClients[] = {{9, 1}, {9, 2}};

CoreOptions OptionsOf(Rng& rng) {
  CoreOptions options;
  options.table_parts = 2;
  options.lease_ttl = Seconds(5);
  options.put_start_discard_timeout = Seconds(8);
  options.put_start_release_timeout = Seconds(20);
  options.client_ttl = Seconds(1000000);
  options.min_slice_bytes = 4096;
  options.allocation_strategy = static_cast<AllocationStrategy>(rng.Below(4));
  if (rng.Chance(1, 3)) options.eviction_policy = EvictionPolicyKind::kHitDensity;
  if (rng.Chance(1, 5)) options.memory_allocator = MemoryAllocator::kCachelib;
  options.multi_tenants = rng.Chance(1, 3);
  options.eviction_high_watermark = rng.Chance(1, 2) ? 1.0 : 0.7;
  options.segment_high_watermark = rng.Chance(1, 2) ? 1.0 : 0.8;
  return options;
}

class World {
 public:
  explicit World(uint64_t seed)
      : rng_(seed), options_(OptionsOf(rng_)), core_(options_, Term{1}, seed), model_(options_) {
    for (uint32_t node = 0; node < kNodes; ++node) Mount(node);
    ChangeQuota();
  }

  void Run() {
    for (step_ = 0; step_ < kSteps && !::testing::Test::HasFatalFailure(); ++step_) {
      ASSERT_NO_FATAL_FAILURE(Step());
      ASSERT_NO_FATAL_FAILURE(Check());
    }
  }

 private:
  std::string Where() const { return "step " + std::to_string(step_) + ", " + what_; }

  std::string Key() {
    static const char* const kDirs[] = {"a/", "b/", "b/c/", ""};
    return kDirs[rng_.Below(4)] + std::to_string(rng_.Below(4));
  }
  static ObjectName Name(const std::string& key) { return {kDefaultTenant, key}; }

  void Mount(uint32_t node) {
    SegmentDescriptor d;
    d.id = {++lives_, node + 1};
    d.name = "node" + std::to_string(node);
    // A segment of one slab has chunks of one size at a time: room is short there too.
    d.size = options_.memory_allocator == MemoryAllocator::kCachelib ? SlabAllocator::kSlabBytes
                                                                     : 64 * 1024 + 8192 * node;
    d.epoch = {1};
    d.owner = {7, node + 1};
    d.host_id = "host" + std::to_string(node / 2);
    if (mounted_.contains(node)) model_.LoseSegment(now_, mounted_[node].id);
    ASSERT_EQ(core_.MountSegment(now_, d.owner, d), Status::Ok());
    mounted_[node] = d;
    // Lost members keep their group, and its lease, until they are swept; the model does not.
    while (groups_ && core_.Tick(now_, 50).more) {
    }
    ASSERT_NO_FATAL_FAILURE(Reconcile());
  }

  // Of the only tenant; sometimes below what it has.
  void ChangeQuota() {
    if (!options_.multi_tenants) return;
    ASSERT_TRUE(core_.SetQuota(kDefaultTenant, rng_.Between(1, 300000)).ok());
  }

  // A put that began has not taken the tenant over its quota, and one that was refused for it is like one without room.
  ErrorCode JudgeQuota(ErrorCode code, uint64_t size) {
    if (!options_.multi_tenants) return code;
    const auto quota = core_.GetQuota(kDefaultTenant);
    if (code == ErrorCode::kOk && size > 0) {
      EXPECT_LE(quota->charged, quota->effective) << Where();
    }
    return code == ErrorCode::kTenantQuotaExceeded ? ErrorCode::kNoAvailableHandle : code;
  }

  // What the core evicted since the step before.
  void Reconcile() {
    std::vector<std::string> gone;
    for (const auto& [key, version] : model_.readable()) {
      const auto stat = core_.Stat(now_, Name(key));
      if (!stat.ok()) gone.push_back(key);
    }
    for (const std::string& key : gone)
      ASSERT_TRUE(model_.Evicted(now_, key)) << Where() << ": lost " << key;
  }

  void Start() {
    PutStartArgs args;
    args.client = kClients[rng_.Below(2)];
    args.name = Name(Key());
    args.size = rng_.Chance(1, 8) ? 0 : rng_.Between(1, rng_.Chance(1, 6) ? 100000 : 6000);
    args.mode = rng_.Chance(1, 2) ? WriteMode::kCreate : WriteMode::kReplace;
    args.config.replica_num = static_cast<uint32_t>(rng_.Between(1, 3));
    if (rng_.Chance(1, 4)) args.config.soft_pin = SoftPinAction::kEnable;
    if (rng_.Chance(1, 4))
      args.config.soft_pin_ttl = args.config.soft_pin == SoftPinAction::kEnable
                                     ? std::optional<Duration>(Seconds(9))
                                     : std::nullopt;
    args.config.hard_pin = rng_.Chance(1, 40);
    if (groups_ && rng_.Chance(1, 2)) args.config.group = rng_.Chance(1, 2) ? "g" : "h";
    if (rng_.Chance(1, 5)) args.config.preferred_segments = {"node1", "none"};
    if (rng_.Chance(1, 8)) args.config.excluded_segments = {"node2"};
    const auto readable = model_.readable().find(args.name.key);
    if (args.mode == WriteMode::kReplace && rng_.Chance(1, 3)) {
      args.expected =
          readable != model_.readable().end() && rng_.Chance(3, 4) ? readable->second.id : PutId{3};
    }
    what_ = "PutStart " + args.name.key;
    const auto reply = core_.PutStart(now_, args);
    ASSERT_NO_FATAL_FAILURE(Reconcile());
    const auto started = reply.ok() ? std::optional<PutStartReply>(reply.value()) : std::nullopt;
    ASSERT_EQ(JudgeQuota(reply.code(), args.size), model_.PutStart(now_, args, started))
        << Where() << ": " << reply.status();
    if (reply.ok()) {
      attempts_.push_back({args.name.key, reply.value().put_id, args.client});
      CheckReplicas(reply.value().replicas, args.size);
    }
  }

  struct Attempt {
    std::string key;
    PutId id;
    ClientId client;
  };
  Attempt AnyAttempt() {
    if (attempts_.empty()) return {Key(), PutId{5}, kClients[0]};
    const size_t recent = std::min<size_t>(attempts_.size(), 12);
    Attempt attempt = attempts_[attempts_.size() - 1 - rng_.Below(recent)];
    if (rng_.Chance(1, 20)) attempt.client = kClients[rng_.Below(2)];
    return attempt;
  }

  void CheckReplicas(const std::vector<ReplicaDescriptor>& replicas, uint64_t size) {
    for (const ReplicaDescriptor& replica : replicas) {
      uint64_t sum = 0;
      for (const Extent& extent : replica.extents) {
        sum += extent.length;
        ASSERT_EQ(extent.offset % kExtentAlignment, 0u) << Where();
      }
      ASSERT_EQ(sum, size) << Where();
    }
    ASSERT_EQ(replicas.empty(), size == 0) << Where();
  }

  void Clear() {
    const std::string key = Key();
    const SegmentDescriptor& segment = mounted_[static_cast<uint32_t>(rng_.Below(kNodes))];
    what_ = "ClearReplicas " + key + " on " + segment.name;
    ASSERT_EQ(core_.ClearReplicas(now_, Name(key), segment.name).code(),
              model_.Clear(now_, key, segment.id))
        << Where();
  }

  // They change where new objects go, and nothing else.
  void Report() {
    const SegmentId id = mounted_[static_cast<uint32_t>(rng_.Below(kNodes))].id;
    what_ = "ReportReplicaFailure";
    for (const ClientId& client : kClients) {
      ASSERT_TRUE(core_.Ping(now_, client, "reader").ok());
      ASSERT_EQ(core_.ReportReplicaFailure(now_, client, {&id, 1}), Status::Ok());
    }
  }

  void Rename() {
    const std::string from = Key();
    const std::string to = Key();
    const bool no_replace = rng_.Chance(1, 3);
    what_ = "Rename " + from + " to " + to;
    ASSERT_EQ(core_.Rename(now_, Name(from), Name(to), no_replace).code(),
              model_.Rename(now_, from, to, no_replace))
        << Where();
  }

  // Which queue the object is in then, and the counters, the invariants check.
  void SetPin() {
    SetPinArgs args{.name = Name(Key()), .soft = static_cast<SoftPinAction>(rng_.Below(3))};
    if (args.soft == SoftPinAction::kEnable && rng_.Chance(1, 2))
      args.soft_ttl = Seconds(static_cast<int64_t>(rng_.Below(9)));
    // Few stay hard-pinned, or nothing would be evicted any more.
    if (rng_.Chance(1, 2)) args.hard = rng_.Chance(1, 10);
    what_ = "SetPin " + args.name.key;
    const auto before = core_.Stat(now_, args.name);
    ASSERT_EQ(core_.SetPin(now_, args).code(), before.status().code()) << Where();
    if (!before.ok()) return;
    const auto after = core_.Stat(now_, args.name);
    ASSERT_EQ(after->hard_pin, args.hard.value_or(before->hard_pin)) << Where();
    if (args.soft == SoftPinAction::kPreserve) {
      ASSERT_EQ(after->soft_pin_left, before->soft_pin_left) << Where();
    } else if (args.soft == SoftPinAction::kDisable) {
      ASSERT_EQ(after->soft_pin_left, Duration::zero()) << Where();
    } else {
      ASSERT_EQ(after->soft_pin_left, args.soft_ttl.value_or(core_.options().soft_pin_ttl))
          << Where();
    }
  }

  void RenamePrefix() {
    static const char* const kPrefixes[][2] = {
        {"a/", "b/"}, {"b/c/", "a/"}, {"b/", "a/"}, {"a/", "b/c/"}};
    const auto& prefixes = kPrefixes[rng_.Below(4)];
    const std::string from = prefixes[0];
    const std::string to = prefixes[1];
    what_ = "RenamePrefix " + from + " to " + to;
    ErrorCode expected = ErrorCode::kOk;
    const auto moved = model_.RenamePrefix(now_, from, to, expected);
    auto walk = core_.StartRenamePrefix(now_, kDefaultTenant, from, to);
    ASSERT_EQ(walk.code(), expected) << Where() << walk.status();
    if (!walk.ok()) return;
    if (rng_.Chance(1, 2)) {
      walks_.push_back(walk.value());
      return;
    }
    while (!core_.Step(now_, walk.value(), 2)) {
    }
    ASSERT_EQ(walk.value().moved, *moved) << Where();
  }

  void Get() {
    const std::string key = Key();
    what_ = "Get " + key;
    const auto list = core_.GetReplicaList(now_, Name(key));
    ASSERT_EQ(list.code(), model_.Get(now_, key)) << Where();
    if (!list.ok()) return;
    CheckReplicas(list.value().replicas, list.value().size);
    reads_.push_back({key, list.value().put_id, {}});
  }

  void Renew() {
    if (reads_.empty()) return;
    const Attempt read = reads_[reads_.size() - 1 - rng_.Below(std::min<size_t>(reads_.size(), 6))];
    what_ = "RenewLease " + read.key + " " + std::to_string(read.id.value);
    const auto renewed = core_.RenewLease(now_, {Name(read.key), read.id});
    ASSERT_EQ(renewed.code(), model_.Renew(now_, read.key, read.id)) << Where();
  }

  void Advance() {
    now_ += Millis(static_cast<int64_t>(rng_.Below(2000)));
    what_ = "Advance and Tick";
    const auto budget = static_cast<uint32_t>(rng_.Between(1, 50));
    while (core_.Tick(now_, budget).more) {
    }
    model_.Expire(now_);
    ASSERT_NO_FATAL_FAILURE(Reconcile());
  }

  // Everybody else must not notice that a rename has not moved everything yet.
  void StepWalks() {
    if (walks_.empty() || !rng_.Chance(1, 4)) return;
    const size_t which = rng_.Below(walks_.size());
    if (!core_.Step(now_, walks_[which], 1)) return;
    walks_.erase(walks_.begin() + static_cast<std::ptrdiff_t>(which));
  }

  void Step() {
    StepWalks();
    const uint64_t dice = rng_.Below(100);
    if (dice < 25) {
      Start();
    } else if (dice < 42) {
      const Attempt a = AnyAttempt();
      what_ = "PutEnd " + a.key + " " + std::to_string(a.id.value);
      const PutEndArgs args{a.client, Name(a.key), a.id, std::nullopt};
      ASSERT_EQ(core_.PutEnd(now_, 0, args).code(), model_.PutEnd(now_, args)) << Where();
    } else if (dice < 47) {
      const Attempt a = AnyAttempt();
      what_ = "PutRevoke " + a.key + " " + std::to_string(a.id.value);
      const PutRevokeArgs args{a.client, Name(a.key), a.id, rng_.Chance(1, 2)};
      ASSERT_EQ(core_.PutRevoke(now_, args).code(), model_.PutRevoke(now_, args)) << Where();
    } else if (dice < 65) {
      Get();
    } else if (dice < 72) {
      Renew();
    } else if (dice < 79) {
      const std::string key = Key();
      const bool force = rng_.Chance(1, 2);
      what_ = "Remove " + key;
      ASSERT_EQ(core_.Remove(now_, Name(key), force).code(), model_.Remove(now_, key, force))
          << Where();
    } else if (dice < 86) {
      Rename();
    } else if (dice < 89) {
      RenamePrefix();
    } else if (dice < 91) {
      rng_.Chance(1, 2) ? Clear() : SetPin();
    } else if (dice < 92) {
      if (rng_.Chance(1, 3)) Report();
    } else if (dice < 93) {
      what_ = "MountSegment";
      Mount(static_cast<uint32_t>(rng_.Below(kNodes)));
      if (rng_.Chance(1, 2)) ChangeQuota();
    } else {
      Advance();
    }
  }

  // Bytes that somebody may still read under a lease, or write: nobody else may have them.
  void CheckExclusive() {
    struct Use {
      uint64_t end;
      std::string who;
    };
    std::map<SegmentId, std::map<uint64_t, Use>> uses;
    const auto use = [&](const std::vector<ReplicaDescriptor>& replicas, const std::string& who) {
      for (const ReplicaDescriptor& replica : replicas) {
        for (const Extent& e : replica.extents) {
          uses[e.segment][e.offset] = {e.offset + ExtentFootprint(e.length), who};
        }
      }
    };
    for (const auto& [key, version] : model_.readable()) use(version.replicas, "version of " + key);
    for (const auto& [id, version] : model_.detached())
      use(version.replicas, "detached " + std::to_string(id.value));
    for (const auto& [key, write] : model_.writes()) use(write.replicas, "write on " + key);
    for (const auto& [segment, by_offset] : uses) {
      uint64_t end = 0;
      for (const auto& [offset, one] : by_offset) {
        ASSERT_LE(end, offset) << Where() << ": " << one.who << " overlaps";
        end = one.end;
      }
    }
  }

  void Check() {
    ASSERT_EQ(core_.CheckInvariants(now_).value_or(""), "") << Where();
    ASSERT_NO_FATAL_FAILURE(CheckExclusive());
    // A listing ends the renames that are under way; leave them some time.
    if (!walks_.empty() && rng_.Chance(7, 8)) return;
    const auto list = core_.ListObjects(now_, {.limit = kMaxListLimit});
    ASSERT_TRUE(list.ok());
    const auto& entries = list.value().entries;
    ASSERT_EQ(entries.size(), model_.readable().size()) << Where();
    size_t i = 0;
    for (const auto& [key, version] : model_.readable()) {
      ASSERT_EQ(entries[i].key, key) << Where();
      ASSERT_EQ(entries[i].stat.put_id, version.id) << Where();
      ASSERT_EQ(entries[i].stat.size, version.size) << Where();
      ASSERT_EQ(entries[i].stat.lease_left,
                std::max(model_.LeaseUntil(version) - now_, Duration::zero()))
          << Where();
      ++i;
    }
  }

  Rng rng_;
  const CoreOptions options_;
  MetadataCore core_;
  CoreModel model_;
  TimePoint now_{Seconds(100)};
  const bool groups_ = rng_.Chance(1, 2);
  uint64_t lives_ = 0;
  std::map<uint32_t, SegmentDescriptor> mounted_;
  std::vector<RenamePrefixWalk> walks_;
  std::vector<Attempt> attempts_;
  std::vector<Attempt> reads_;
  int step_ = 0;
  std::string what_;
};

TEST(CoreAgainstModel, RandomOperationsGiveTheSameAnswers) {
  constexpr uint64_t kSeeds = 100;
  for (const uint64_t seed : testing::Seeds(kSeeds)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed);
    world.Run();
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace mooncake::core

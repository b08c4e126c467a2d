// A master that is killed and started again on its state_dir, with real nodes and clients that live on. Field reports F066,
// F072.
#include <sys/mount.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <thread>

#include "tests/integration/cluster/cluster_fixture.h"
#include "tests/support/seeds.h"
#include "transfer/base/rng.h"
#include "transfer/base/seal.h"

namespace mooncake::testing {
namespace {

namespace fs = std::filesystem;

class StateFolder {
 public:
  // From now on it is a disk of so many bytes.
  void MakeSmall(const std::string& bytes) {
    const std::string options = "size=" + bytes;
    ASSERT_EQ(mount("mc-test", path().c_str(), "tmpfs", 0, options.c_str()), 0) << "needs root";
  }
  const std::string& path() const { return folder_.path(); }
  MasterSpec Master(const std::string& durability) const {
    MasterSpec spec = QuickMaster();
    spec.flags.push_back("--state_dir=" + path() + "/state");
    spec.flags.push_back("--durability=" + durability);
    return spec;
  }

 private:
  TempFolder folder_;
};

// MC_SEEDS=100 for as many.
int Rounds() { return static_cast<int>(Seeds(4).size()); }

// A key, and what may be read under it.
struct Truth {
  std::set<uint64_t> possible = {0};  // versions; 0: nothing
  uint64_t next = 1;
};

std::string TenantOf(int worker) { return "t" + std::to_string(worker); }

// Puts, replaces, removes and reads the keys of a tenant of its own, and remembers what was acknowledged.
class Worker {
 public:
  // `may_forget`: what was acknowledged may be missing after a kill, but never wrong or old.
  Worker(ClusterProcess& cluster, int number, bool may_forget)
      : client_(cluster.Connect(For(number))), may_forget_(may_forget) {}

  void Run(const std::atomic<bool>& stop) {
    for (uint64_t step = 0; !stop; ++step) {
      Change(KeyOf(step), /*remove=*/step % 5 == 4);
      Read(KeyOf(step * 11));
    }
  }
  // Reads everything; the bytes that it occupies.
  uint64_t Check() {
    uint64_t bytes = 0;
    for (const auto& [key, truth] : truths_) {
      std::string value;
      const Status status = Read(key, &value);
      EXPECT_TRUE(status.ok() || status.code() == ErrorCode::kObjectNotFound)
          << key << ": " << status;
      if (status.ok()) bytes += ExtentFootprint(value.size());
    }
    return bytes;
  }
  Client& client() { return *client_; }
  uint64_t acknowledged() const { return acknowledged_; }
  uint64_t forgotten() const { return forgotten_; }

 private:
  static ClientOptions For(int number) {
    ClientOptions options;
    options.tenant = TenantOf(number);
    options.timeout = Seconds(5);
    return options;
  }
  static std::string KeyOf(uint64_t step) { return "k" + std::to_string(step % 37); }

  void Change(const std::string& key, bool remove) {
    Truth& truth = truths_[key];
    const uint64_t version = remove ? 0 : truth.next++;
    const size_t size = 1000 + version * 911 % 4000;
    // Until it is acknowledged it may have happened or not.
    truth.possible.insert(version);
    const Status status =
        remove ? client_->Remove(key, /*force=*/true)
               : client_->Put(key, AsBytes(ValueFor(key, version, size)), Replacing()).status();
    if (status.ok() || (remove && status.code() == ErrorCode::kObjectNotFound))
      truth.possible = {version};
    acknowledged_ += status.ok();
  }
  // Fails with the reason when nobody can tell now.
  Status Read(const std::string& key, std::string* value) {
    const Status status = client_->Get(key, value);
    uint64_t version = 0;
    if (status.ok()) {
      const auto read = VersionOf(key, *value);
      EXPECT_TRUE(read.has_value()) << "wrong bytes under " << key;
      version = read.value_or(0);
    } else if (status.code() != ErrorCode::kObjectNotFound) {
      return status;
    }
    Truth& truth = truths_[key];
    if (truth.possible.contains(version)) return status;
    EXPECT_TRUE(may_forget_ && version == 0)
        << key << " shows version " << version << ", the last acknowledged is "
        << *truth.possible.rbegin();
    truth.possible = {0};
    ++forgotten_;
    return status;
  }
  void Read(const std::string& key) {
    std::string value;
    Read(key, &value).Ignore("the master may be away");
  }

  std::unique_ptr<Client> client_;
  const bool may_forget_;
  std::atomic<uint64_t> acknowledged_ = 0;
  uint64_t forgotten_ = 0;
  std::map<std::string, Truth> truths_;
};

class Durability : public ::testing::TestWithParam<const char*> {
 protected:
  static constexpr int kWorkers = 3;
  static constexpr uint64_t kQuota = 4 * kMiB;  // so that nothing is evicted

  Durability() : cluster_(Spec()) {
    cluster_.StartNode({.name = "a"});
    cluster_.StartNode({.name = "b"});
    admin_ = cluster_.Connect();
    for (int i = 0; i < kWorkers; ++i)
      workers_.push_back(std::make_unique<Worker>(cluster_, i, !sync_));
  }
  void SetUp() override {
    ASSERT_TRUE(cluster_.WaitForSegments(2));
    for (int i = 0; i < kWorkers; ++i) {
      const auto set = admin_->master().SetQuota(TenantOf(i), kQuota, In(Seconds(20)));
      ASSERT_TRUE(set.ok()) << set.message();
    }
  }
  MasterSpec Spec() const {
    MasterSpec spec = state_.Master(GetParam());
    spec.flags.push_back("--snapshot_interval_seconds=1");
    spec.flags.push_back("--enable_multi_tenants");
    return spec;
  }
  uint64_t Acknowledged() const {
    uint64_t sum = 0;
    for (const auto& worker : workers_) sum += worker->acknowledged();
    return sum;
  }
  uint64_t Charged(int worker) {
    const auto quota = admin_->master().GetQuota(TenantOf(worker), In(Seconds(10)));
    EXPECT_TRUE(quota.ok()) << quota.message();
    EXPECT_EQ(quota.value_or(TenantQuota{}).effective, kQuota);
    return quota.value_or(TenantQuota{}).charged;
  }
  void LoadAndKill(int round) {
    std::atomic<bool> stop = false;
    std::vector<std::thread> threads;
    const uint64_t before = Acknowledged();
    for (auto& worker : workers_) threads.emplace_back([&] { worker->Run(stop); });
    const uint64_t enough = before + 100 + 170 * static_cast<uint64_t>(round % 5);
    EXPECT_TRUE(Eventually([&] { return Acknowledged() > enough; }));
    cluster_.RestartMaster();
    stop = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_GT(Acknowledged(), before) << "the load was not one";
  }
  // Once leases and unfinished writes have run out: of each tenant, what can be read, to the byte; and all of the capacity.
  void CheckBooks(const std::vector<uint64_t>& bytes) {
    for (int i = 0; i < kWorkers; ++i)
      EXPECT_TRUE(Eventually([&] { return Charged(i) == bytes.at(static_cast<size_t>(i)); }))
          << TenantOf(i) << " is charged " << Charged(i) << ", there are "
          << bytes.at(static_cast<size_t>(i));
    const ClusterStatus status = StatusOf(*admin_);
    EXPECT_EQ(status.used, std::accumulate(bytes.begin(), bytes.end(), uint64_t{0}));
    EXPECT_EQ(status.capacity, 2 * NodeSpec{}.size);
  }

  const bool sync_ = std::string(GetParam()) == "sync";
  StateFolder state_;
  ClusterProcess cluster_;
  std::unique_ptr<Client> admin_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

TEST_P(Durability, KillingTheMasterUnderLoadNeverShowsAWrongOrOldValue) {
  for (int round = 0; round < Rounds() && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    LoadAndKill(round);
    ASSERT_TRUE(cluster_.WaitForSegments(2));
    std::vector<uint64_t> bytes;
    for (auto& worker : workers_) bytes.push_back(worker->Check());
    if (round % 4 == 3) CheckBooks(bytes);
  }
  uint64_t forgotten = 0;
  for (auto& worker : workers_) forgotten += worker->forgotten();
  RecordProperty("forgotten", static_cast<int>(forgotten));
  if (sync_) {
    EXPECT_EQ(forgotten, 0u);
  }

  // Everything away, everything free.
  for (auto& worker : workers_) {
    RemoveByRegexArgs all{.pattern = "."};
    all.force = true;
    EXPECT_TRUE(worker->client().RemoveByRegex(all).ok());
  }
  CheckBooks(std::vector<uint64_t>(kWorkers, 0));
  EXPECT_EQ(StatusOf(*admin_).object_count, 0u);
}
INSTANTIATE_TEST_SUITE_P(Modes, Durability, ::testing::Values("async", "sync"),
                         [](const auto& mode) { return std::string(mode.param); });

TEST(DurableMaster, AllIsReadableSoonAfterARestart) {
  StateFolder state;
  ClusterProcess cluster(state.Master("sync"));
  cluster.StartNode({.name = "a"});
  ASSERT_TRUE(cluster.WaitForSegments(1));
  auto client = cluster.Connect();
  for (int i = 0; i < 100; ++i) {
    const std::string key = "k" + std::to_string(i);
    ASSERT_TRUE(client->Put(key, AsBytes(ValueFor(key, 1, 10000))).ok());
  }
  cluster.RestartMaster();
  ASSERT_TRUE(
      Eventually([&] { return client->Get("k0", std::make_unique<std::string>().get()).ok(); }));
  for (int i = 0; i < 100; ++i) {
    const std::string key = "k" + std::to_string(i);
    std::string value;
    const Status status = client->Get(key, &value);
    ASSERT_TRUE(status.ok()) << key << ": " << status;
    EXPECT_EQ(VersionOf(key, value), 1u);
  }
}

TEST(DurableMaster, AMountReadsOnAfterARestart) {
  StateFolder state;
  ClusterProcess cluster(state.Master("sync"));
  cluster.StartNode({.name = "a"});
  ASSERT_TRUE(cluster.WaitForSegments(1));
  const std::string folder = state.path() + "/mnt";
  auto mount = cluster.Mount({.folder = folder});
  const std::string value = ValueFor("f", 1, 100000);
  std::ofstream(*mount / "f") << value;
  cluster.RestartMaster();
  const auto read = [&] {
    std::ifstream in(*mount / "f");
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  EXPECT_TRUE(Eventually([&] { return read() == value; }));
}

TEST(DurableMaster, ANodeThatDiedWithTheMasterTakesItsObjectsAlong) {
  StateFolder state;
  ClusterProcess cluster(state.Master("sync"));
  cluster.StartNode({.name = "a"});
  ASSERT_TRUE(cluster.WaitForSegments(1));
  auto client = cluster.Connect();
  ASSERT_TRUE(client->Put("k", AsBytes(ValueFor("k", 1, 10000))).ok());
  cluster.node("a").Kill();
  cluster.RestartMaster();
  cluster.StartNode({.name = "a"});
  ASSERT_TRUE(cluster.WaitForService());
  std::string value;
  EXPECT_TRUE(
      Eventually([&] { return client->Get("k", &value).code() == ErrorCode::kObjectNotFound; }));
  EXPECT_TRUE(Eventually([&] { return StatusOf(*client).used == 0; })) << StatusOf(*client).used;
}

// An operator puts an old copy of the folder back, however old: nothing that was removed or replaced since is shown.
TEST(DurableMaster, AnOldCopyOfTheStateShowsNothingThatChangedSince) {
  StateFolder state;
  const std::string folder = state.path() + "/state";
  const std::string copy = state.path() + "/copy";
  ClusterProcess cluster(state.Master("sync"));
  cluster.StartNode({.name = "a"});
  ASSERT_TRUE(cluster.WaitForSegments(1));
  auto client = cluster.Connect();
  for (int i = 0; i < 60; ++i) {
    const std::string key = "k" + std::to_string(i);
    ASSERT_TRUE(client->Put(key, AsBytes(ValueFor(key, 1, 10000))).ok());
  }
  cluster.master().Kill();
  fs::copy(folder, copy, fs::copy_options::recursive);
  cluster.StartMaster();
  ASSERT_TRUE(cluster.WaitForSegments(1));
  for (int i = 0; i < 60; ++i) {
    const std::string key = "k" + std::to_string(i);
    if (i % 3 == 0) {
      ASSERT_EQ(client->Remove(key, true), Status::Ok());
    } else if (i % 3 == 1) {
      ASSERT_TRUE(client->Put(key, AsBytes(ValueFor(key, 2, 9000)), Replacing()).ok());
    }
  }
  // The node hears of the later state with its next ping.
  const uint64_t position = client->master().Ping(ClientId{1, 1}, "", In(Seconds(5)))->log_position;
  ASSERT_GT(position, 100u);
  const TimePoint told = SystemClock().Now();
  ASSERT_TRUE(Eventually([&] {
    const auto clients = client->master().GetClients(In(Seconds(5)));
    if (!clients.ok()) return false;
    const auto heard = [&](const ClientInfo& info) {
      // Long enough ago that the answer has come.
      return info.segment_count > 0 && info.since_ping > Millis(50) &&
             info.since_ping < SystemClock().Now() - told;
    };
    return std::any_of(clients->begin(), clients->end(), heard);
  }));
  cluster.master().Kill();
  fs::remove_all(folder);
  fs::rename(copy, folder);
  cluster.StartMaster();
  ASSERT_TRUE(cluster.WaitForService());
  for (int i = 0; i < 60; ++i) {
    const std::string key = "k" + std::to_string(i);
    std::string value;
    const Status status = client->Get(key, &value);
    EXPECT_TRUE(i % 3 == 2 ? true : !status.ok()) << key << " came back";
    if (status.ok()) {
      EXPECT_EQ(VersionOf(key, value), 1u);
    }
  }
}

TEST(DurableMaster, ASecondMasterOnTheSameFolderIsRefused) {
  StateFolder state;
  ClusterProcess cluster(state.Master("sync"));
  Process second({.command = {ProgramPath("mooncake-master"), "--rpc_port=0", "--metrics_port=0",
                              "--state_dir=" + state.path() + "/state"}});
  const auto ended = second.Wait();
  ASSERT_TRUE(ended.has_value());
  EXPECT_EQ(ended->exit_status, 1);
  EXPECT_NE(second.Errors().find("in use by another master"), std::string::npos) << second.Errors();
}

// The same with a snapshot alone, from before half of the keys were evicted and others got their space.
TEST(DurableMaster, AnOldSnapshotAloneShowsEachKeyRightOrNot) {
  StateFolder state;
  const fs::path snapshots = state.path() + "/state/snapshots";
  const std::string copy = state.path() + "/copy";
  ClusterProcess cluster(state.Master("sync"));
  cluster.StartNode({.name = "a", .size = 8 * kMiB});
  ASSERT_TRUE(cluster.WaitForSegments(1));
  auto client = cluster.Connect();
  const auto put = [&](const std::string& key, uint64_t version) {
    return client->Put(key, AsBytes(ValueFor(key, version, 100000)), Replacing()).ok();
  };
  for (int i = 0; i < 70; ++i) ASSERT_TRUE(put("k" + std::to_string(i), 1));
  ASSERT_TRUE(client->master().TakeSnapshot(In(Seconds(20))).ok());
  fs::copy(snapshots, copy, fs::copy_options::recursive);
  for (int i = 0; i < 35; ++i) ASSERT_TRUE(put("new" + std::to_string(i), 1)) << i;
  ASSERT_GT(StatusOf(*client).evicted_objects, 20u);
  cluster.master().Kill();
  fs::remove_all(snapshots.parent_path());
  fs::create_directory(snapshots.parent_path());
  fs::rename(copy, snapshots);
  cluster.StartMaster();
  ASSERT_TRUE(cluster.WaitForService());
  // What was evicted is overwritten now, or soon.
  for (const int more : {0, 20}) {
    for (int i = 0; i < more; ++i) EXPECT_TRUE(put("later" + std::to_string(i), 1)) << i;
    int right = 0;
    for (int i = 0; i < 70; ++i) {
      const std::string key = "k" + std::to_string(i);
      std::string value;
      const Status status = client->Get(key, &value);
      ExpectRightOrError(key, status, value);
      right += status.ok();
    }
    for (int i = 0; i < more; ++i) {
      const std::string key = "later" + std::to_string(i);
      std::string value;
      ExpectRightOrError(key, client->Get(key, &value), value);
    }
    RecordProperty("right" + std::to_string(more), right);
    EXPECT_LE(right, 50);
  }
}

// Until there is no room for one block more.
void Fill(const std::string& path) {
  std::ofstream out(path, std::ios::binary);
  const std::string block(4096, 'x');
  while (out.write(block.data(), 4096) && out.flush()) {
  }
}

// F072: the disk is full at some moment of writing the log or a snapshot, and a start finds it so. Whatever was safe before stays,
// and with room again all goes on. MC_SEEDS=20 for as many moments.
TEST(DurableMaster, ADiskThatIsFullAtAnyMomentKeepsWhatWasSafe) {
  for (const uint64_t seed : Seeds(1)) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    StateFolder state;
    state.MakeSmall("3m");
    ClusterProcess cluster(state.Master("async"));
    cluster.StartNode({.name = "a"});
    ASSERT_TRUE(cluster.WaitForService());
    ClientOptions options;
    options.timeout = Seconds(2);
    auto client = cluster.Connect(options);
    const auto put = [&](const std::string& key) {
      return client->Put(key, AsBytes(ValueFor(key, 1, 100))).status();
    };
    for (int i = 0; i < 200; ++i) ASSERT_EQ(put("safe" + std::to_string(i)), Status::Ok());
    ASSERT_TRUE(client->master().TakeSnapshot(In(Seconds(20))).ok());
    const auto expect_safe = [&] {
      for (int i = 0; i < 200; ++i) {
        const std::string key = "safe" + std::to_string(i);
        std::string value;
        ASSERT_TRUE(Eventually([&] { return client->Get(key, &value).ok(); })) << key;
        ASSERT_EQ(VersionOf(key, value), 1u) << key;
      }
    };
    const auto expect_usable_snapshot = [&] {
      const auto snapshots = client->master().ListSnapshots(In(Seconds(20)));
      ASSERT_TRUE(snapshots.ok()) << snapshots.message();
      EXPECT_TRUE(std::any_of(snapshots->begin(), snapshots->end(),
                              [](const auto& snapshot) { return snapshot.trouble.empty(); }));
    };

    // The rest of the disk but a little.
    const std::string ballast = state.path() + "/ballast";
    Fill(ballast);
    fs::resize_file(ballast, fs::file_size(ballast) - 4096 * rng.Below(100));
    const uint64_t puts_to_a_snapshot = rng.Between(20, 400);
    bool in_trouble = false;
    int written = 0;
    for (; written < 5000 && !in_trouble; ++written) {
      put("k" + std::to_string(written)).Ignore("it may be refused");
      if (static_cast<uint64_t>(written) % puts_to_a_snapshot != 0) continue;
      client->master().TakeSnapshot(In(Seconds(1))).status().Ignore("the disk may be full");
      const auto durability = client->master().GetDurability(In(Seconds(5)));
      ASSERT_TRUE(durability.ok()) << durability.message();
      in_trouble = !durability->log_trouble.empty() || !durability->snapshot_trouble.empty();
    }
    EXPECT_TRUE(in_trouble);
    ASSERT_NO_FATAL_FAILURE(expect_safe());
    expect_usable_snapshot();

    cluster.RestartMaster();
    expect_usable_snapshot();
    for (int i = 0; i < 200; ++i)
      ASSERT_EQ(client->ExistKey("safe" + std::to_string(i)).value_or(false), true) << i;
    fs::remove(ballast);
    ASSERT_NO_FATAL_FAILURE(expect_safe());
    for (int i = 0; i < written; ++i) {
      const std::string key = "k" + std::to_string(i);
      std::string value;
      ExpectRightOrError(key, client->Get(key, &value), value);
    }
    EXPECT_TRUE(Eventually([&] { return client->master().TakeSnapshot(In(Seconds(5))).ok(); }));
    cluster.RestartMaster();
    ASSERT_NO_FATAL_FAILURE(expect_safe());
  }
}

// F072: the process lives and serves, and what it knows at a restart is right.
TEST(DurableMaster, AFullDiskStopsNeitherTheServiceNorTheNextStart) {
  StateFolder state;
  state.MakeSmall("3m");
  MasterSpec spec = state.Master("async");
  spec.flags.push_back("--snapshot_interval_seconds=1");
  ClusterProcess cluster(spec);
  cluster.StartNode({.name = "a"});
  ASSERT_TRUE(cluster.WaitForService());
  ClientOptions options;
  options.timeout = Seconds(2);
  auto client = cluster.Connect(options);
  ASSERT_TRUE(client->Put("first", AsBytes(ValueFor("first", 1, 1000))).ok());
  // Fills the rest of the disk with something else.
  const std::string ballast = state.path() + "/ballast";
  Fill(ballast);
  for (int i = 0; i < 2000; ++i) {
    const std::string key = "k" + std::to_string(i);
    client->Put(key, AsBytes(ValueFor(key, 1, 100))).status().Ignore("it may be refused");
  }
  std::string value;
  ASSERT_EQ(client->Get("first", &value), Status::Ok()) << "reading goes on";
  ASSERT_TRUE(cluster.master().Running());

  // On the full disk a start works and knows what is there; but no epoch can be made durable, so it may not let anybody read.
  // Unless a half snapshot, which a start deletes, leaves room for one.
  cluster.RestartMaster();
  EXPECT_EQ(client->ExistKey("first").value_or(false), true);
  const Status read = client->Get("first", &value);
  EXPECT_TRUE(read.ok() || read.code() == ErrorCode::kUnavailableInCurrentStatus) << read;

  // And when there is room again everything works without another one.
  fs::remove(ballast);
  ASSERT_TRUE(Eventually([&] { return client->Get("first", &value).ok(); }));
  EXPECT_EQ(VersionOf("first", value), 1u);
  EXPECT_TRUE(Eventually(
      [&] { return client->Put("last", AsBytes(ValueFor("last", 1, 100)), Replacing()).ok(); }));
  EXPECT_TRUE(Eventually([&] { return client->Remove("first", true).ok(); }));
  cluster.RestartMaster();
  EXPECT_TRUE(Eventually([&] { return client->Get("last", &value).ok(); }));
  EXPECT_EQ(client->Get("first", &value).code(), ErrorCode::kObjectNotFound);
}

}  // namespace
}  // namespace mooncake::testing

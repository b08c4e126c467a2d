// The file system below the master's state_dir stops to answer, and heals. Field report F069.
#include <filesystem>
#include <fstream>

#include "tests/integration/cluster/cluster_fixture.h"

namespace mooncake::testing {
namespace {

namespace fs = std::filesystem;

// A snapshot in the making has such a name; and the test makes one when it wants the storage frozen.
constexpr char kFreezingSuffix[] = ".tmp";

class FrozenStorage : public ::testing::Test {
 protected:
  void Start(const std::string& durability) {
    fs::create_directory(behind_);
    fs::create_directory(storage_);
    file_system_.emplace(ProcessOptions{
        .command = {ProgramPath("freezing-fs"), behind_, storage_, kFreezingSuffix}});
    const auto ready = file_system_->WaitForLine("ready ");
    ASSERT_TRUE(ready.ok()) << ready.message();
    MasterSpec spec = QuickMaster();
    spec.flags.insert(spec.flags.end(), {"--state_dir=" + storage_ + "/state",
                                         "--durability=" + durability, "--enable_multi_tenants"});
    cluster_.emplace(spec);
    cluster_->StartNode({.name = "a"});
    ASSERT_TRUE(cluster_->WaitForSegments(1));
    ClientOptions options;
    options.tenant = "t";
    options.timeout = Seconds(5);
    client_ = cluster_->Connect(options);
    const auto set = client_->master().SetQuota("t", 16 * kMiB, In(Seconds(20)));
    ASSERT_TRUE(set.ok()) << set.message();
  }
  void Put(int from, int to) {
    for (int i = from; i < to; ++i) {
      const std::string key = "k" + std::to_string(i);
      const auto put = client_->Put(key, AsBytes(ValueFor(key, 1, 1000)));
      ASSERT_TRUE(put.ok()) << put.message();
    }
  }
  void ExpectReadable(int from, int to) {
    for (int i = from; i < to; ++i) {
      const std::string key = "k" + std::to_string(i);
      std::string value;
      EXPECT_TRUE(Eventually([&] { return client_->Get(key, &value).ok(); })) << key;
      EXPECT_EQ(VersionOf(key, value), 1u) << key;
    }
  }
  void Freeze() { std::ofstream(storage_ + "/state/freeze" + kFreezingSuffix); }
  bool IsFrozen() {
    std::string id, name, state;
    std::ifstream("/proc/" + std::to_string(file_system_->pid()) + "/stat") >> id >> name >> state;
    return state == "T";
  }
  ProcessOptions Admin(const std::vector<std::string>& arguments) {
    ProcessOptions options{.command = {ProgramPath("mooncake-admin"),
                                       "--master=" + cluster_->address(), "--timeout=60s"}};
    options.command.insert(options.command.end(), arguments.begin(), arguments.end());
    return options;
  }
  // What an administrator may be doing meanwhile: each waits for the storage in the master.
  std::vector<Process> AdminsThatWait() {
    std::vector<Process> waiting;
    for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
             {"snapshot", "now"}, {"snapshot", "list"}, {"quota", "set", "t", "20M"}}) {
      waiting.emplace_back(Admin(command));
    }
    return waiting;
  }
  // So many snapshots that can be used, and no other.
  void ExpectSnapshots(size_t count) {
    const auto snapshots = client_->master().ListSnapshots(In(Seconds(20)));
    ASSERT_TRUE(snapshots.ok()) << snapshots.message();
    EXPECT_EQ(snapshots->size(), count);
    for (const SnapshotDescriptor& snapshot : *snapshots) EXPECT_EQ(snapshot.trouble, "");
    for (const auto& entry : fs::directory_iterator(behind_ + "/state/snapshots"))
      EXPECT_EQ(entry.path().extension(), ".sst") << entry.path();
  }

  TempFolder folder_;
  const std::string behind_ = folder_ / "behind";
  const std::string storage_ = folder_ / "storage";
  std::optional<Process> file_system_;
  std::optional<ClusterProcess> cluster_;
  std::unique_ptr<Client> client_;
};

TEST_F(FrozenStorage, ServingGoesOnInAsyncModeAndTheNextSnapshotWorks) {
  Start("async");
  Put(0, 50);
  Freeze();
  ASSERT_TRUE(Eventually([&] { return IsFrozen(); }));
  std::vector<Process> admins = AdminsThatWait();
  for (int i = 50; i < 250; ++i) {
    Put(i, i + 1);
    EXPECT_TRUE(client_->ExistKey("k" + std::to_string(i)).value_or(false));
    ExpectReadable(i - 50, i - 49);
  }
  // Whoever looks after it is answered, and told.
  EXPECT_GT(client_->master().GetDurability(In(Seconds(5)))->log_waiting, 0u);
  EXPECT_TRUE(client_->master().GetQuota("t", In(Seconds(5))).ok());
  ASSERT_TRUE(IsFrozen());
  for (Process& admin : admins) EXPECT_TRUE(admin.Running());

  file_system_->Continue();
  for (Process& admin : admins) {
    // The snapshot freezes the storage once more, with the file that it makes.
    const auto ended = Eventually([&] {
      if (IsFrozen()) file_system_->Continue();
      return !admin.Running();
    });
    EXPECT_TRUE(ended);
    EXPECT_TRUE(admin.Wait()->ok()) << admin.Errors();
  }
  ExpectSnapshots(1);
  cluster_->RestartMaster();
  ExpectReadable(0, 250);
}

TEST_F(FrozenStorage, ASnapshotThatHangsHoldsUpNoStopAndIsNotChosenLater) {
  Start("sync");
  Put(0, 50);
  {
    Process works(Admin({"snapshot", "now"}));
    ASSERT_TRUE(Eventually([&] { return IsFrozen(); })) << "with the snapshot's file";
    file_system_->Continue();
    ASSERT_TRUE(works.Wait()->ok()) << works.Errors();
  }
  Put(50, 60);
  std::vector<Process> admins = AdminsThatWait();
  ASSERT_TRUE(Eventually([&] { return IsFrozen(); }));
  const auto ended = cluster_->master().Terminate();
  ASSERT_TRUE(ended) << "it still runs";
  EXPECT_TRUE(ended->ok()) << ended->ToString() << cluster_->master().Errors();
  file_system_->Continue();
  cluster_->StartMaster();
  ExpectSnapshots(1);
  ExpectReadable(0, 60);
}

TEST_F(FrozenStorage, AMasterThatWaitsForItAtItsStartCanBeStopped) {
  Start("sync");
  cluster_->master().Kill();
  Freeze();
  ASSERT_TRUE(Eventually([&] { return IsFrozen(); }));
  Process master({.command = {ProgramPath("mooncake-master"), "--rpc_port=0", "--metrics_port=0",
                              "--state_dir=" + storage_ + "/state", "--enable_multi_tenants"}});
  ASSERT_FALSE(master.WaitForLine("ready ", Millis(300)).ok());
  const auto ended = master.Terminate();
  ASSERT_TRUE(ended) << "it still runs";
  EXPECT_TRUE(ended->ok()) << ended->ToString();
  file_system_->Continue();
}

}  // namespace
}  // namespace mooncake::testing

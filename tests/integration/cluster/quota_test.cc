// Tenants and their quotas through real processes: writers at the edge, the mount, kills and restarts. Field reports F075, F076, F077.
#include <sys/statvfs.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/integration/cluster/cluster_fixture.h"
#include "tests/support/seeds.h"

namespace mooncake::testing {
namespace {

constexpr uint64_t kBlock = 64 * kKiB;
constexpr uint64_t kValue = kBlock - 64;  // with its seal, a block

class QuotaCluster : public ::testing::Test {
 protected:
  static MasterSpec Spec(const std::string& folder) {
    MasterSpec spec = QuickMaster();
    spec.flags.push_back("--enable_multi_tenants");
    spec.flags.push_back("--state_dir=" + folder + "/state");
    spec.flags.push_back("--durability=sync");
    return spec;
  }
  void SetUp() override {
    cluster_.StartNode({.name = "a"});
    ASSERT_TRUE(cluster_.WaitForSegments(1));
    admin_ = Connect("admin");
  }
  std::unique_ptr<Client> Connect(const std::string& tenant) {
    ClientOptions options;
    options.tenant = tenant;
    return cluster_.Connect(options);
  }
  static TimePoint Soon() { return In(Seconds(20)); }
  void SetQuota(const std::string& tenant, uint64_t bytes) {
    const auto set = admin_->master().SetQuota(tenant, bytes, Soon());
    ASSERT_TRUE(set.ok()) << set.status();
  }
  TenantQuota Quota(const std::string& tenant) {
    const auto quota = admin_->master().GetQuota(tenant, Soon());
    EXPECT_TRUE(quota.ok()) << quota.status();
    return quota.value_or(TenantQuota{});
  }
  uint64_t Used() { return StatusOf(*admin_).used; }

  TempFolder folder_;
  ClusterProcess cluster_{Spec(folder_.path())};
  std::unique_ptr<Client> admin_;
};

// MC_SEEDS=500 is about a minute.
int PutsOfAWriter() { return 20 * static_cast<int>(Seeds(5).size()); }

// One of eight writers: keys of its own, a third of them read (and so leased), some removed.
void WriteAtTheEdge(Client& client, int writer, std::atomic<int>& refused) {
  for (int i = 0; i < PutsOfAWriter(); ++i) {
    const std::string key = "w" + std::to_string(writer) + "/" + std::to_string(i % 23);
    const uint64_t version = static_cast<uint64_t>(i) + 1;
    const size_t size = 1000 + static_cast<size_t>(i * 7919) % kValue;
    const auto put = client.Put(key, AsBytes(ValueFor(key, version, size)), Replacing());
    if (put.code() == ErrorCode::kTenantQuotaExceeded) {
      ++refused;
    } else if (put.ok() && i % 3 == 0) {
      std::string value;
      // It may have been evicted for another writer meanwhile.
      if (client.Get(key, &value).ok()) {
        EXPECT_EQ(VersionOf(key, value), version) << key;
      }
    } else if (i % 7 == 0) {
      client.Remove(key, i % 2 == 0).Ignore("it may be gone");
    }
  }
}

TEST_F(QuotaCluster, EightWritersATenantNeverPassTheEdgeAndLeaveNothing) {
  const std::vector<std::string> tenants = {"alpha", "beta"};
  for (const std::string& tenant : tenants) SetQuota(tenant, 40 * kBlock);
  std::atomic<int> refused{0};
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<std::thread> writers;
  std::atomic<int> running{16};
  for (const std::string& tenant : tenants) {
    for (int w = 0; w < 8; ++w) {
      clients.push_back(Connect(tenant));
      writers.emplace_back([&, client = clients.back().get(), w] {
        WriteAtTheEdge(*client, w, refused);
        --running;
      });
    }
  }
  while (running > 0) {
    for (const std::string& tenant : tenants) {
      const TenantQuota quota = Quota(tenant);
      ASSERT_LE(quota.charged, quota.effective) << tenant;
    }
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_GT(Quota("alpha").evicted_bytes + static_cast<uint64_t>(refused), 0u) << "it was no edge";
  EXPECT_TRUE(Eventually([&] { return Quota("alpha").charged + Quota("beta").charged == Used(); }));

  for (size_t i = 0; i < clients.size(); i += 8) {
    RemoveByRegexArgs all{.pattern = "."};
    all.force = true;
    ASSERT_TRUE(clients[i]->RemoveByRegex(all).ok());
  }
  for (const std::string& tenant : tenants)
    EXPECT_TRUE(Eventually([&] { return Quota(tenant).charged == 0; })) << Quota(tenant).charged;
  EXPECT_EQ(Used(), 0u);
  for (const std::string& tenant : tenants)
    EXPECT_TRUE(admin_->master().DeleteQuota(tenant, Soon()).ok());
}

// F075.
TEST_F(QuotaCluster, AMountSaysQuotaExceededAndKeepsNothingOfTheFile) {
  SetQuota("t", kMiB);
  auto mount = cluster_.Mount({.folder = folder_.path() + "/mnt", .options = {"tenant=t"}});
  struct statvfs space {};
  ASSERT_EQ(statvfs(mount->folder().c_str(), &space), 0);
  EXPECT_EQ(space.f_blocks * space.f_frsize, kMiB) << "df shows the tenant's share";

  std::ofstream(*mount / "kept") << "kept";
  const uint64_t before = Quota("t").charged;
  const RunResult dd = mooncake::testing::Run(
      {.command = {"/bin/dd", "if=/dev/zero", "of=" + (*mount / "large"), "bs=64k", "count=32"}});
  EXPECT_NE(dd.ended.exit_status, 0);
  EXPECT_NE(dd.err.find("Disk quota exceeded"), std::string::npos) << dd.err;
  EXPECT_FALSE(std::filesystem::exists(*mount / "large"));
  EXPECT_EQ(Quota("t").charged, before);
  std::ifstream kept(*mount / "kept");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(kept), {}), "kept");
}

TEST_F(QuotaCluster, OfATenantWithoutOneNothingCanBeWritten) {
  auto client = Connect("stranger");
  EXPECT_EQ(client->Put("k", AsBytes("v")).code(), ErrorCode::kTenantNotRegistered);
  EXPECT_EQ(client->ExistKey("k").value_or(true), false);
  const RunResult run = cluster_.Admin({"--tenant=stranger", "put", "k", "-"}, "v");
  EXPECT_EQ(run.ended.exit_status, 1);
  EXPECT_NE(run.err.find("quota set"), std::string::npos) << run.err;
  auto mount = cluster_.Mount({.folder = folder_.path() + "/mnt", .options = {"tenant=stranger"}});
  std::ofstream out(*mount / "f");
  out << "x";
  out.close();
  EXPECT_FALSE(out.good());
}

TEST_F(QuotaCluster, BooksAndQuotasSurviveAKillOfTheMaster) {
  SetQuota("t", 4 * kMiB);
  SetQuota("u", 2 * kMiB);
  auto client = Connect("t");
  for (int i = 0; i < 20; ++i) {
    const std::string key = "k" + std::to_string(i);
    ASSERT_TRUE(client->Put(key, AsBytes(ValueFor(key, 1, 10000))).ok());
  }
  const uint64_t charged = Quota("t").charged;
  cluster_.RestartMaster();
  ASSERT_TRUE(cluster_.WaitForSegments(1));
  EXPECT_EQ(Quota("t").charged, charged);
  EXPECT_EQ(Quota("t").requested, 4 * kMiB);
  EXPECT_EQ(Quota("u").requested, 2 * kMiB);
  std::string value;
  EXPECT_TRUE(Eventually([&] { return client->Get("k3", &value).ok(); }));
}

// F076.
TEST_F(QuotaCluster, AKilledWriterGivesBackWhatItReserved) {
  SetQuota("t", kMiB);
  // A writer that dies between PutStart and PutEnd.
  const PutStartArgs start{.client = {5, 5}, .name = {"t", "k"}, .size = 500000};
  ASSERT_TRUE(admin_->master().BatchPutStart({&start, 1}, Soon())[0].ok());
  EXPECT_GT(Quota("t").charged, 500000u);
  EXPECT_TRUE(Eventually([&] { return Quota("t").charged == 0; })) << "the release timeout";
}

TEST_F(QuotaCluster, TheAdminToolChangesWhatCounts) {
  EXPECT_EQ(cluster_.Admin({"quota", "set", "t", "1M"}).ended.exit_status, 0);
  auto client = Connect("t");
  const std::string value(3 * kMiB / 2, 'x');
  EXPECT_EQ(client->Put("k", AsBytes(value)).code(), ErrorCode::kTenantQuotaExceeded);
  EXPECT_EQ(cluster_.Admin({"quota", "set", "t", "2M"}).ended.exit_status, 0);
  EXPECT_TRUE(client->Put("k", AsBytes(value)).ok());
  const RunResult refused = cluster_.Admin({"quota", "delete", "t", "--yes"});
  EXPECT_EQ(refused.ended.exit_status, 1);
  EXPECT_NE(refused.err.find("remove them first"), std::string::npos) << refused.err;
  EXPECT_EQ(cluster_.Admin({"--tenant=t", "rm", "k", "--force"}).ended.exit_status, 0);
  EXPECT_TRUE(Eventually([&] { return Quota("t").charged == 0; }));
  EXPECT_EQ(cluster_.Admin({"quota", "delete", "t", "--yes"}).ended.exit_status, 0);
  EXPECT_NE(cluster_.Admin({"quota", "get", "t"}).ended.exit_status, 0);
}

}  // namespace
}  // namespace mooncake::testing

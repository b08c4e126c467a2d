// mooncake-admin and mooncake-inspect on a master that keeps its state.
#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/integration/cluster/cluster_fixture.h"

namespace mooncake::testing {
namespace {

using Json = nlohmann::json;

class AdminOfADurableMaster : public ::testing::Test {
 protected:
  AdminOfADurableMaster() : cluster_(Spec()) {
    cluster_.StartNode({.name = "a", .size = 64 * kMiB});
    client_ = cluster_.Connect();
  }
  MasterSpec Spec() const {
    MasterSpec spec = QuickMaster();
    spec.flags.push_back("--state_dir=" + state_);
    spec.flags.push_back("--durability=sync");
    return spec;
  }
  RunResult Do(std::vector<std::string> arguments) { return cluster_.Admin(std::move(arguments)); }
  Json DoJson(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "--json");
    const RunResult run = Do(std::move(arguments));
    Json json = Json::parse(run.out, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << run.out << run.err;
    return json;
  }
  void Put(const std::string& key) {
    const auto put = client_->Put(key, AsBytes(ValueFor(key, 1, 100)));
    ASSERT_TRUE(put.ok()) << put.message();
  }

  TempFolder folder_;
  const std::string state_ = folder_ / "state";
  ClusterProcess cluster_;
  std::unique_ptr<Client> client_;
};

TEST_F(AdminOfADurableMaster, TakesListsAndVerifiesSnapshots) {
  EXPECT_EQ(Do({"snapshot", "list"}).ended.exit_status, 0);
  EXPECT_EQ(Do({"snapshot", "verify"}).ended.exit_status, 1) << "there is none";
  for (int i = 0; i < 100; ++i) Put("k" + std::to_string(i));
  const RunResult now = Do({"snapshot", "now"});
  ASSERT_EQ(now.ended.exit_status, 0) << now.err;
  EXPECT_NE(now.out.find(": 101 records, "), std::string::npos) << now.out;
  const std::string second = DoJson({"snapshot", "now"})["id"];
  const Json list = DoJson({"snapshot", "list"})["snapshots"];
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["id"], second);
  EXPECT_EQ(list[0]["records"], 101);
  EXPECT_EQ(list[0]["usable"], true);
  EXPECT_EQ(DoJson({"snapshot", "verify"})["snapshots"].size(), 2u);
  EXPECT_EQ(Do({"snapshot", "verify", second}).ended.exit_status, 0);
  EXPECT_EQ(Do({"snapshot", "verify", "../lock"}).ended.exit_status, 2);
  EXPECT_EQ(Do({"snapshot", "verify", "1"}).ended.exit_status, 1);

  // Damage in the middle of a block of records.
  const std::string file = state_ + "/snapshots/" + second + ".sst";
  {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(200);
    stream.write("damage", 6);
  }
  const RunResult damaged = Do({"snapshot", "verify", second});
  EXPECT_EQ(damaged.ended.exit_status, 1);
  EXPECT_NE(damaged.out.find("damaged"), std::string::npos) << damaged.out << damaged.err;
  EXPECT_GT(DoJson({"snapshot", "verify", second})["snapshots"][0]["damaged"], 0);
}

TEST_F(AdminOfADurableMaster, HealthFollowsWhatHappens) {
  ASSERT_TRUE(Eventually([&] { return Do({"health"}).ended.exit_status == 0; }));
  EXPECT_TRUE(Do({"health"}).out.starts_with("OK: ")) << Do({"health"}).out;
  EXPECT_EQ(DoJson({"health"})["durability"]["mode"], "sync");
  cluster_.node("a").Kill();
  cluster_.RestartMaster();
  const RunResult lonely = Do({"health"});
  EXPECT_EQ(lonely.ended.exit_status, 1);
  EXPECT_NE(lonely.out.find("not mounted"), std::string::npos) << lonely.out;
  cluster_.master().Kill();
  EXPECT_EQ(Do({"health"}).ended.exit_status, 3);
}

TEST_F(AdminOfADurableMaster, WhatItKeptCanBeInspected) {
  for (int i = 0; i < 10; ++i) Put("k" + std::to_string(i));
  ASSERT_EQ(Do({"snapshot", "now"}).ended.exit_status, 0);
  Put("later");
  const auto inspect = [&](const std::string& what) {
    return testing::Run({.command = {ProgramPath("mooncake-inspect"), state_, what}});
  };
  EXPECT_EQ(inspect("--snapshots").ended.exit_status, 0) << inspect("--snapshots").err;
  const RunResult refused = inspect("--log");
  EXPECT_EQ(refused.ended.exit_status, 1);
  EXPECT_EQ(refused.out, "");
  EXPECT_NE(refused.err.find("running master"), std::string::npos) << refused.err;
  Put("last");  // the master noticed nothing

  cluster_.master().Kill();
  const RunResult log = inspect("--log");
  EXPECT_EQ(log.ended.exit_status, 0) << log.err;
  EXPECT_NE(log.out.find("\"key\":\"later\""), std::string::npos) << log.out;
  EXPECT_NE(log.out.find("\"key\":\"last\""), std::string::npos) << log.out;
  cluster_.RestartMaster();
  std::string value;
  EXPECT_TRUE(Eventually([&] { return client_->Get("last", &value).ok(); }));
}

TEST(AdminOfAForgetfulMaster, SnapshotsAreRefusedWithTheCure) {
  ClusterProcess cluster(QuickMaster());
  for (const char* command : {"now", "list", "verify"}) {
    const RunResult run = cluster.Admin({"snapshot", command});
    EXPECT_EQ(run.ended.exit_status, 1);
    EXPECT_NE(run.err.find("--state_dir"), std::string::npos) << run.err;
  }
}

}  // namespace
}  // namespace mooncake::testing

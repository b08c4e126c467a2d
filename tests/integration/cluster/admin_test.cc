// mooncake-admin against a real cluster: every command, both outputs, every exit status.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/integration/cluster/cluster_fixture.h"

namespace mooncake::testing {
namespace {

using Json = nlohmann::json;
using ::testing::Test;

class Admin : public Test {
 protected:
  Admin() : cluster_(QuickMaster()) {
    cluster_.StartNode({.name = "a", .size = 64 * kMiB});
    cluster_.StartNode({.name = "b", .size = 64 * kMiB});
    client_ = cluster_.Connect();
  }
  RunResult Do(std::vector<std::string> arguments, const std::string& input = "") {
    return cluster_.Admin(std::move(arguments), input);
  }
  Json DoJson(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "--json");
    const RunResult run = Do(std::move(arguments));
    Json json = Json::parse(run.out, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << run.out << run.err;
    return json;
  }
  void Put(const std::string& key, const std::string& value) {
    const auto put = client_->Put(key, AsBytes(value));
    ASSERT_TRUE(put.ok()) << put.message();
  }

  ClusterProcess cluster_;
  std::unique_ptr<Client> client_;
  TempFolder folder_;
};

TEST_F(Admin, TellsOfTheCluster) {
  Put("k", std::string(1000, 'x'));
  const RunResult status = Do({"status"});
  EXPECT_EQ(status.ended.exit_status, 0) << status.err;
  EXPECT_NE(status.out.find("objects             1\n"), std::string::npos) << status.out;
  const Json json = DoJson({"status"});
  EXPECT_EQ(json["capacity"], 128 * kMiB);
  EXPECT_EQ(json["objects"], 1);
  EXPECT_EQ(json["segments"], 2);

  const RunResult table = Do({"segments"});
  EXPECT_EQ(table.out.substr(0, 4), "NAME") << table.out;
  const Json segments = DoJson({"segments"})["segments"];
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_EQ(segments[0]["name"], "a");
  EXPECT_EQ(segments[1]["name"], "b");
  EXPECT_GT(segments[0]["used"].get<uint64_t>() + segments[1]["used"].get<uint64_t>(), 1000u);
  // Two nodes and the client of this test; asking leaves no trace.
  EXPECT_EQ(DoJson({"clients"})["clients"].size(), 3u);
  EXPECT_EQ(DoJson({"clients"})["clients"].size(), 3u);
}

TEST_F(Admin, TellsWhatTheMasterDoesAndHowItWasStarted) {
  Put("k", std::string(1000, 'x'));
  EXPECT_EQ(Do({"pin", "--ttl=1h", "k"}).ended.exit_status, 0);
  EXPECT_NE(Do({"stat", "k"}).out.find("pinned    softly"), std::string::npos);
  const Json top = DoJson({"top", "--count=1"});
  EXPECT_EQ(top["status"]["soft_pinned"], 1);
  EXPECT_EQ(top["segments"].size(), 2u);
  const auto ends = std::find_if(top["calls"].begin(), top["calls"].end(),
                                 [](const Json& call) { return call["name"] == "BatchPutEnd"; });
  ASSERT_NE(ends, top["calls"].end());
  EXPECT_FALSE((*ends)["p99_us"].is_null());
  EXPECT_EQ(Do({"unpin", "k"}).ended.exit_status, 0);
  EXPECT_EQ(Do({"stat", "k"}).out.find("pinned"), std::string::npos);
  const Json options = DoJson({"config", "rpc_address", "eviction_policy"})["options"];
  EXPECT_EQ(options[0]["value"], "127.0.0.1");
  EXPECT_EQ(options[0]["is_default"], false);
  EXPECT_EQ(options[1]["value"], "lru");
  EXPECT_EQ(options[1]["is_default"], true);
}

TEST_F(Admin, ListsPageByPageAndByFolder) {
  for (int i = 0; i < 2500; ++i) Put("many/" + std::to_string(10000 + i), "");
  Put("top", "1234");
  EXPECT_EQ(Do({"ls"}).out, "many/\ntop\n");
  EXPECT_EQ(DoJson({"ls", "--recursive"})["entries"].size(), 2501u);
  EXPECT_EQ(DoJson({"ls", "many/"})["entries"].size(), 2500u);
  EXPECT_EQ(Do({"ls", "-l", "to"}).out.substr(0, 10), "       4 B");
  const RunResult some = Do({"ls", "-r", "--limit=3"});
  EXPECT_EQ(some.out, "many/10000\nmany/10001\nmany/10002\n");
  EXPECT_NE(some.err.find("--limit"), std::string::npos) << some.err;
  EXPECT_EQ(DoJson({"ls", "-r", "--limit=3"})["truncated"], true);
  const Json none = DoJson({"ls", "no such prefix"});
  EXPECT_EQ(none["entries"].size(), 0u);
  EXPECT_EQ(none["truncated"], false);
  // A reader that has seen enough goes away.
  const RunResult head =
      testing::Run({.command = {"/bin/sh", "-c",
                                ProgramPath("mooncake-admin") + " --master=" + cluster_.address() +
                                    " ls -r | head -1"}});
  EXPECT_EQ(head.out, "many/10000\n");
  EXPECT_EQ(head.err, "");
}

TEST_F(Admin, PutsAndGetsByteForByte) {
  const std::string value = ValueFor("v", 1, 20 * kMiB);
  std::ofstream(folder_ / "in", std::ios::binary) << value;
  ASSERT_EQ(Do({"put", "v", folder_ / "in"}).ended.exit_status, 0);
  EXPECT_EQ(Do({"get", "v"}).out, value);
  ASSERT_EQ(Do({"get", "v", "-o", folder_ / "out"}).ended.exit_status, 0);
  EXPECT_EQ(std::filesystem::file_size(folder_ / "out"), value.size());
  EXPECT_TRUE(
      testing::Run({.command = {"/usr/bin/cmp", folder_ / "in", folder_ / "out"}}).ended.ok());
  EXPECT_EQ(DoJson({"get", "v", "-o", folder_ / "out"})["size"], value.size());

  const RunResult again = Do({"put", "v", "-"}, "new");
  EXPECT_EQ(again.ended.exit_status, 1);
  EXPECT_NE(again.err.find("--replace"), std::string::npos) << again.err;
  EXPECT_EQ(Do({"put", "v", "-", "--replace", "--replicas=2", "--checksum"}, "new").err, "");
  EXPECT_EQ(Do({"get", "v"}).out, "new");
  EXPECT_EQ(DoJson({"stat", "v", "--placement"})["objects"][0]["placement"].size(), 2u);
  EXPECT_EQ(Do({"put", "/etc", "/etc"}).ended.exit_status, 1);
  EXPECT_EQ(Do({"--json", "get", "v"}).ended.exit_status, 2);
}

TEST_F(Admin, AFailedGetLeavesNoFile) {
  EXPECT_EQ(Do({"get", "missing", "-o", folder_ / "out"}).ended.exit_status, 1);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  std::ofstream(folder_ / "out") << "before";
  EXPECT_EQ(Do({"get", "missing", "-o", folder_ / "out"}).ended.exit_status, 1);
  EXPECT_EQ(std::filesystem::file_size(folder_ / "out"), 6u);
}

TEST_F(Admin, AValueThatDoesNotFitIsRefusedAndLeavesNothing) {
  std::ofstream(folder_ / "in").close();
  std::filesystem::resize_file(folder_ / "in", 300 * kMiB);
  const RunResult put = Do({"put", "big", folder_ / "in"});
  EXPECT_EQ(put.ended.exit_status, 1);
  EXPECT_NE(put.err.find("mooncake-admin segments"), std::string::npos) << put.err;
  const ClusterStatus status = StatusOf(*client_);
  EXPECT_EQ(status.object_count, 0u);
  EXPECT_EQ(status.used, 0u);
}

TEST_F(Admin, NamesOfAnyBytesGoInAndOut) {
  const std::string key("caf\xe9\n\\", 6);
  Put(key, "x");
  EXPECT_EQ(Do({"ls"}).out, "caf\\xe9\\x0a\\\\\n");
  const Json entry = DoJson({"ls"})["entries"][0];
  EXPECT_EQ(entry["key"], "caf\\xe9\\x0a\\\\");
  EXPECT_EQ(entry["key_base64"], "Y2Fm6Qpc");
  EXPECT_EQ(Do({"-e", "get", "caf\\xe9\\x0a\\\\"}).out, "x");
  EXPECT_EQ(Do({"get", key}).out, "x");
  EXPECT_EQ(Do({"-e", "get", "bad\\escape"}).ended.exit_status, 2);
  // What CLI11 and the commands themselves could take for something else.
  for (const std::string odd : {"[a,b]", "ls", "-x", "--json", "a b", "\x1f[", ""}) {
    const RunResult put = Do({"put", "--", odd, "/etc/hostname"});
    EXPECT_EQ(put.ended.exit_status, odd.empty() ? 2 : 0) << odd << put.err;
    if (odd.empty()) continue;
    EXPECT_EQ(client_->ExistKey(odd).value_or(false), true) << odd;
    EXPECT_EQ(Do({"rm", "--", odd}).ended.exit_status, 0) << odd;
  }
}

TEST_F(Admin, StatAndExistsAnswerForEachKey) {
  Put("k", "12345");
  const RunResult stat = Do({"stat", "k", "missing"});
  EXPECT_EQ(stat.ended.exit_status, 1);
  EXPECT_NE(stat.out.find("5 bytes"), std::string::npos) << stat.out;
  EXPECT_NE(stat.err.find("'missing'"), std::string::npos) << stat.err;
  const Json objects = DoJson({"stat", "missing", "k"})["objects"];
  EXPECT_EQ(objects[0]["error"]["code"], "OBJECT_NOT_FOUND");
  EXPECT_EQ(objects[1]["size"], 5);
  EXPECT_EQ(Do({"exists", "k"}).ended.exit_status, 0);
  EXPECT_EQ(Do({"exists", "k", "missing"}).ended.exit_status, 1);
}

TEST_F(Admin, MovesNamesAndPrefixes) {
  Put("a/1", "one");
  Put("a/2", "two");
  EXPECT_EQ(Do({"mv", "a/1", "b"}).ended.exit_status, 0);
  EXPECT_EQ(Do({"get", "b"}).out, "one");
  EXPECT_EQ(Do({"mv", "a/1", "c"}).ended.exit_status, 1);
  EXPECT_EQ(Do({"mv", "-n", "a/2", "b"}).ended.exit_status, 1);
  EXPECT_EQ(Do({"mv", "-n", "a/2", "b", "--dry-run"}).ended.exit_status, 1);
  const RunResult replace = Do({"mv", "a/2", "b"});
  EXPECT_EQ(replace.ended.exit_status, 2) << "it asks, and nobody is there to ask";
  EXPECT_NE(replace.err.find("--yes"), std::string::npos) << replace.err;
  EXPECT_NE(Do({"mv", "a/2", "b", "--dry-run"}).out.find("3 B"), std::string::npos);
  EXPECT_NE(Do({"mv", "a/2", "c", "--dry-run"}).out.find("would be c"), std::string::npos);
  EXPECT_EQ(Do({"mv", "a/1", "c", "--dry-run"}).ended.exit_status, 1) << "there is no a/1";
  EXPECT_EQ(Do({"get", "b"}).out, "one");
  Put("a/3", "three");
  EXPECT_EQ(Do({"mv", "--yes", "a/3", "b"}).ended.exit_status, 0);
  EXPECT_EQ(Do({"get", "b"}).out, "three");
  EXPECT_EQ(Do({"mv", "--prefix", "a/", "z/", "--dry-run"}).ended.exit_status, 2);
  EXPECT_EQ(Do({"mv", "--prefix", "a/", "z/"}).out, "moved 1 object\n");
  EXPECT_EQ(Do({"ls", "-r"}).out, "b\nz/2\n");
  EXPECT_EQ(Do({"mv", "--prefix", "none/", "z/"}).ended.exit_status, 1);
}

TEST_F(Admin, RemovesKeysAndTellsOfThoseItCouldNot) {
  Put("a", "");
  Put("b", "");
  const RunResult look = Do({"rm", "a", "missing", "--dry-run"});
  EXPECT_EQ(look.ended.exit_status, 1);
  EXPECT_EQ(look.out, "a  0 B would be removed\n");
  EXPECT_EQ(DoJson({"rm", "a", "--dry-run"})["objects"][0]["would_be_removed"], true);
  const RunResult rm = Do({"rm", "a", "missing", "b"});
  EXPECT_EQ(rm.ended.exit_status, 1);
  EXPECT_EQ(Do({"ls"}).out, "");
  Put("leased", "value");
  auto view = client_->Open("leased");  // holds a lease
  ASSERT_TRUE(view.ok());
  const RunResult refused = Do({"rm", "leased"});
  EXPECT_EQ(refused.ended.exit_status, 1);
  EXPECT_NE(refused.err.find("--force"), std::string::npos) << refused.err;
  EXPECT_EQ(Do({"rm", "--segment", "a", "leased"}).ended.exit_status, 1);
  EXPECT_EQ(Do({"rm", "--segment", "a", "-f", "leased"}).ended.exit_status, 2);
  EXPECT_EQ(Do({"rm", "-f", "leased"}).ended.exit_status, 0);
  std::string still(5, '\0');
  EXPECT_EQ((*view)->Read(0, {reinterpret_cast<std::byte*>(still.data()), 5}).value_or(0), 5u);
  EXPECT_EQ(still, "value") << "a reader keeps its version";
}

TEST_F(Admin, RemovesByPatternOnlyWhatWasMeant) {
  for (const char* key : {"abc", "b", "bb", "x/b"}) Put(key, "");
  const RunResult look = Do({"rm", "--regex", "b", "--dry-run"});
  EXPECT_EQ(look.ended.exit_status, 0);
  EXPECT_EQ(look.out.substr(0, 26), "4 objects would be removed") << look.out;
  EXPECT_EQ(Do({"rm", "--regex", "b"}).ended.exit_status, 2) << "nobody can be asked";
  EXPECT_EQ(Do({"rm", "--regex", ""}).ended.exit_status, 2);
  EXPECT_EQ(Do({"rm", "--regex=", "--yes"}).ended.exit_status, 2);
  EXPECT_EQ(Do({"rm", "--regex", "b", "abc", "--yes"}).ended.exit_status, 2);
  EXPECT_EQ(StatusOf(*client_).object_count, 4u);
  EXPECT_EQ(Do({"rm", "--regex", "a|b", "--full-match", "--yes"}).out, "removed 1 object\n");
  EXPECT_EQ(Do({"ls", "-r"}).out, "abc\nbb\nx/b\n");
  const Json json = DoJson({"rm", "--regex", "^x/", "--yes"});
  EXPECT_EQ(json["removed"], 1);
  EXPECT_EQ(Do({"ls", "-r"}).out, "abc\nbb\n");
}

TEST_F(Admin, TenantsDoNotSeeEachOther) {
  ASSERT_EQ(Do({"--tenant=t", "put", "k", "-"}, "theirs").ended.exit_status, 0);
  EXPECT_EQ(Do({"get", "k"}).ended.exit_status, 1);
  EXPECT_EQ(Do({"--tenant=t", "get", "k"}).out, "theirs");
  EXPECT_EQ(Do({"rm", "--regex", ".", "--yes"}).out, "removed 0 objects\n");
  EXPECT_EQ(Do({"get", "k", "--tenant=t"}).out, "theirs");
}

TEST_F(Admin, WithoutAMasterTheExitStatusIsThree) {
  cluster_.master().Kill();
  for (const std::vector<std::string>& command : {std::vector<std::string>{"status"},
                                                  {"ls"},
                                                  {"get", "k"},
                                                  {"rm", "k"},
                                                  {"segments"},
                                                  {"exists", "k"}}) {
    const RunResult run = Do(command);
    EXPECT_EQ(run.ended.exit_status, 3) << command[0] << ": " << run.err;
    EXPECT_NE(run.err.find("--master"), std::string::npos) << run.err;
  }
  EXPECT_EQ(DoJson({"status"})["error"]["code"], "RPC_FAIL");
}

}  // namespace
}  // namespace mooncake::testing

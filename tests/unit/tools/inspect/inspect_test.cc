// mooncake-inspect on folders as a master leaves them: whole, in use, damaged.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "master/ha/rocksdb_state_store.h"
#include "tests/support/process.h"
#include "tests/unit/master/ha/ha_fixture.h"
#include "tools/inspect/inspect_command.h"

namespace mooncake::inspect {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::ASegment;
using testing::AVersion;
using testing::Gone;
using testing::Numbered;

std::map<std::string, std::string> ContentsOf(const std::string& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    contents[entry.path()] = std::string(std::istreambuf_iterator<char>(in), {});
  }
  return contents;
}

class Inspected : public ::testing::Test {
 protected:
  std::unique_ptr<StateStore> Open() {
    auto store = OpenRocksDbStateStore(state_);
    EXPECT_TRUE(store.ok()) << store.message();
    return std::move(store).value();
  }
  static std::string Snapshot(StateStore& store, const std::vector<core::Record>& records) {
    auto writer = store.BeginSnapshot(1234);
    for (const core::Record& record : records) EXPECT_EQ((*writer)->Add(record), Status::Ok());
    return (*writer)->Finish({0, 3, 4, Term{2}, 7})->id;
  }
  // One of each kind in the log, the version under a key that is not UTF-8.
  static std::vector<core::Record> OneOfEach() {
    core::VersionRecord version = AVersion(5);
    version.key = "caf\xe9";
    version.attributes = ObjectAttributes{ObjectKind::kSymlink, 0644, 1, 2, 3'000'000};
    version.extents.push_back({SegmentId{7, 2}, 4096, 100, 1});
    return {core::SegmentRecord{ASegment(1)}, version, Gone(1),
            core::PrefixRenamedRecord{kDefaultTenant, "a/", "b/"},
            core::SegmentGoneRecord{SegmentId{7, 2}}};
  }
  int Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), state_);
    std::ostringstream out;
    std::ostringstream err;
    const int status = RunLine(arguments, out, err);
    err_ = err.str();
    lines_.clear();
    std::istringstream in(out.str());
    for (std::string line; std::getline(in, line);) lines_.push_back(Json::parse(line));
    return status;
  }
  std::vector<std::string> Kinds() const {
    std::vector<std::string> kinds;
    for (const Json& line : lines_) kinds.push_back(line.value("record", line["type"]));
    return kinds;
  }
  static void Damage(const std::string& file, std::streamoff offset) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(offset);
    stream.write("damage", 6);
  }

  testing::TempFolder folder_;
  const std::string state_ = folder_ / "state";
  std::vector<Json> lines_;
  std::string err_;
};

TEST_F(Inspected, ShowsSnapshotsAndLogWithEveryKindOfRecord) {
  {
    const auto store = Open();
    ASSERT_EQ(store->SaveTerm(Term{9}), Status::Ok());
    Snapshot(*store, {core::SegmentRecord{ASegment(1)}, AVersion(1)});
    ASSERT_EQ(store->Append(Numbered(4, OneOfEach())), Status::Ok());
  }
  EXPECT_EQ(Run({}), 0) << err_;
  EXPECT_EQ(err_, "");
  EXPECT_EQ(Kinds(), (std::vector<std::string>{"snapshot", "log", "segment", "version", "name_gone",
                                               "prefix_renamed", "segment_gone"}));
  EXPECT_EQ(lines_[0]["usable"], true);
  EXPECT_EQ(lines_[0]["records"], 2);
  EXPECT_EQ(lines_[0]["damaged_records"], 0);
  EXPECT_EQ(lines_[0]["log_until"], 4);
  EXPECT_EQ(lines_[1]["term"], 9);
  const Json& version = lines_[3];
  EXPECT_EQ(version["sequence"], 5);
  EXPECT_EQ(version["key"], "caf\\xe9");
  EXPECT_EQ(version["key_base64"], "Y2Fm6Q==");
  EXPECT_EQ(version["version"], "5");
  EXPECT_EQ(version["attributes"]["kind"], "symlink");
  ASSERT_EQ(version["replicas"].size(), 2u);
  EXPECT_EQ(version["replicas"][1][0]["offset"], 4096);
  EXPECT_EQ(lines_[5]["to"], "b/");
}

TEST_F(Inspected, ShowsAsMuchAsWasAskedFor) {
  std::string id;
  {
    const auto store = Open();
    id = Snapshot(*store, {AVersion(1), AVersion(2), AVersion(3)});
    ASSERT_EQ(store->Append(Numbered(1, OneOfEach())), Status::Ok());
  }
  EXPECT_EQ(Run({"--snapshots"}), 0);
  EXPECT_EQ(Kinds(), std::vector<std::string>{"snapshot"});
  EXPECT_EQ(Run({"--snapshot=" + id, "--limit=2"}), 0);
  EXPECT_EQ(Kinds(), (std::vector<std::string>{"version", "version"}));
  EXPECT_EQ(Run({"--log", "--after=3", "--limit=1"}), 0);
  EXPECT_EQ(Kinds(), (std::vector<std::string>{"log", "prefix_renamed"}));
  EXPECT_EQ(Run({"--log", "--after", "99"}), 0);
  EXPECT_EQ(Kinds(), std::vector<std::string>{"log"});
}

TEST_F(Inspected, ChangesNothing) {
  {
    const auto store = Open();
    Snapshot(*store, {AVersion(1)});
    ASSERT_EQ(store->Append(Numbered(1, OneOfEach())), Status::Ok());
  }
  std::ofstream(state_ + "/snapshots/unfinished.tmp") << "a writer that crashed";
  const auto before = ContentsOf(state_);
  EXPECT_EQ(Run({}), 0) << err_;
  EXPECT_EQ(ContentsOf(state_), before);
}

TEST_F(Inspected, WhileAMasterRunsOnlySnapshotsAreRead) {
  const auto store = Open();
  const std::string id = Snapshot(*store, {AVersion(1)});
  ASSERT_EQ(store->Append(Numbered(1, OneOfEach())), Status::Ok());
  for (const char* what : {"--log", "--limit=9"}) {
    EXPECT_EQ(Run({what}), 1);
    EXPECT_TRUE(lines_.empty());
    EXPECT_NE(err_.find("a running master uses"), std::string::npos) << err_;
    EXPECT_NE(err_.find("--snapshots"), std::string::npos) << err_;
  }
  EXPECT_EQ(Run({"--snapshots"}), 0) << err_;
  EXPECT_EQ(Run({"--snapshot", id}), 0) << err_;
  EXPECT_EQ(store->Append(Numbered(6, {Gone(6)})), Status::Ok()) << "the master goes on";
}

TEST_F(Inspected, DamageIsShownCountedAndFails) {
  std::string id;
  {
    const auto store = Open();
    std::vector<core::Record> many;
    for (uint64_t i = 1; i <= 3000; ++i) many.push_back(AVersion(i));
    id = Snapshot(*store, many);
    ASSERT_EQ(store->Append(Numbered(1, {Gone(1)})), Status::Ok());
    ASSERT_EQ(store->Append(Numbered(4, {Gone(4)})), Status::Ok());
  }
  EXPECT_EQ(Run({"--log"}), 1);
  EXPECT_EQ(Kinds(), (std::vector<std::string>{"log", "name_gone", "log_hole", "name_gone"}));
  EXPECT_NE(err_.find("1 hole in the log"), std::string::npos) << err_;

  Damage(state_ + "/snapshots/" + id + ".sst", 2000);
  EXPECT_EQ(Run({"--snapshots"}), 1);
  EXPECT_EQ(lines_.at(0)["usable"], true);
  const uint64_t damaged = lines_.at(0)["damaged_records"];
  EXPECT_GT(damaged, 0u);
  EXPECT_NE(err_.find("damaged: " + std::to_string(damaged) + " record"), std::string::npos)
      << err_;
  EXPECT_EQ(Run({"--snapshot=" + id}), 1);
  EXPECT_EQ(lines_.size(), 3000u);
  EXPECT_EQ(lines_.back()["record"], "damaged");

  std::ofstream(state_ + "/snapshots/20200101_000000_000.sst") << "nothing of the kind";
  EXPECT_EQ(Run({"--snapshots"}), 1);
  EXPECT_EQ(lines_.at(1)["usable"], false);
  EXPECT_NE(err_.find("1 snapshot that cannot be used"), std::string::npos) << err_;
}

TEST_F(Inspected, ADamagedLogIsReadAsFarAsItGoes) {
  {
    const auto store = Open();
    for (uint64_t i = 1; i <= 50; ++i)
      ASSERT_EQ(store->Append(Numbered(i, {Gone(i)})), Status::Ok());
  }
  for (const auto& entry : fs::directory_iterator(state_ + "/log")) {
    if (entry.path().extension() == ".log") Damage(entry.path(), 1000);
  }
  const auto before = ContentsOf(state_);
  EXPECT_EQ(Run({"--log"}), 1);
  EXPECT_GT(lines_.size(), 10u);
  EXPECT_EQ(ContentsOf(state_), before);
}

TEST_F(Inspected, MistakesAreNamed) {
  EXPECT_EQ(Run({}), 1) << "there is no such folder";
  EXPECT_NE(err_.find(state_), std::string::npos) << err_;
  fs::create_directory(state_);
  EXPECT_EQ(Run({}), 1);
  EXPECT_NE(err_.find("--state_dir"), std::string::npos) << err_;
  for (const std::vector<std::string>& line : {std::vector<std::string>{"--snapshot=../lock"},
                                               {"--snapshot="},
                                               {"--snapshots", "--after=1"},
                                               {"--log", "--after=x"},
                                               {"--limit=-1"},
                                               {"extra"},
                                               {"--frobnicate"}}) {
    EXPECT_EQ(Run(line), 2) << line[0];
    EXPECT_NE(err_.find("--help"), std::string::npos);
  }
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(RunLine({}, out, err), 2);
  EXPECT_EQ(RunLine({"--help"}, out, err), 0);
  EXPECT_NE(out.str().find("Example"), std::string::npos);
}

}  // namespace
}  // namespace mooncake::inspect

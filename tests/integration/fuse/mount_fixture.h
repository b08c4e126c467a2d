// A real mount of an embedded store, for tests that use it as programs do.
#pragma once

#include <sys/mount.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/process.h"

namespace mooncake::testing {

class MountTest : public ::testing::Test {
 protected:
  void SetUp() override {
    mount_ = folder_ / "mount";
    work_ = folder_ / "work";
    ASSERT_TRUE(Shell("mkdir -p \"$M\" \"$W\"").ended.ok());
    StartMount(Options());
  }

  void TearDown() override {
    if (daemon_ && daemon_->Running()) {
      EXPECT_TRUE(Shell("umount \"$M\"").ended.ok());
      const auto ended = daemon_->Wait();
      EXPECT_TRUE(ended && ended->ok()) << "umount has to end the daemon: " << daemon_->Errors();
    }
    ::umount2(mount_.c_str(), MNT_DETACH);
  }

  // What -o gets.
  virtual std::string Options() const { return "size=256MiB,write_space=256MiB,cache_size=128MiB"; }

  void StartMount(const std::string& options) {
    daemon_ = std::make_unique<Process>(
        ProcessOptions{.command = {ProgramPath("mount.mooncake"), mount_, "-f", "-o", options}});
    const auto ready = daemon_->WaitForLine("ready ");
    ASSERT_TRUE(ready.ok()) << ready.status();
  }

  // $M is the mount, $W an ordinary directory beside it.
  RunResult Shell(const std::string& script, Duration limit = Seconds(60)) const {
    return testing::Run({.command = {"/bin/bash", "-c", script},
                         .environment = {{"M", mount_},
                                         {"W", work_},
                                         {"LC_ALL", "C"},
                                         {"GIT_CONFIG_GLOBAL", "/dev/null"}},
                         .folder = folder_.path()},
                        limit);
  }
  // Fails the test unless the script, under set -eu, ends well. Its output without the last newline.
  std::string Sh(const std::string& script, Duration limit = Seconds(60)) const {
    const RunResult result = Shell("set -euo pipefail\n" + script, limit);
    EXPECT_TRUE(result.ended.ok()) << script << "\n"
                                   << result.ended.ToString() << "\n"
                                   << result.out << result.err;
    return Trim(result.out);
  }
  static std::string Trim(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }

  std::string Path(const std::string& name) const { return mount_ + "/" + name; }
  static std::string ReadAll(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }

  TempFolder folder_;
  std::string mount_;
  std::string work_;
  std::unique_ptr<Process> daemon_;
};

// The same tests over each way that data can take.
class EachDataPath : public MountTest, public ::testing::WithParamInterface<const char*> {
 protected:
  std::string Options() const override {
    return MountTest::Options() + ",passthrough=" + GetParam();
  }
};

}  // namespace mooncake::testing

// Starting, refusing to start, ending, and what is left after each.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "tests/integration/fuse/mount_fixture.h"
#include "tests/support/wait.h"

namespace mooncake::testing {
namespace {

class LifecycleTest : public MountTest {
 protected:
  void SetUp() override {  // each test mounts for itself
    mount_ = folder_ / "mount";
    work_ = folder_ / "work";
    ASSERT_TRUE(Shell("mkdir -p \"$M\" \"$W\"").ended.ok());
  }
  RunResult Mount(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), ProgramPath("mount.mooncake"));
    return testing::Run({.command = arguments, .folder = folder_.path()});
  }
  static int Lines(const std::string& text) {
    return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  }
  bool Mounted() const {
    return Shell("grep -q \" $M fuse.mooncake \" /proc/self/mounts").ended.ok();
  }
  static constexpr char kSmall[] = "size=16MiB";
};

TEST_F(LifecycleTest, GoesToTheBackgroundWhenItAnswersAndEndsWithUmount) {
  const RunResult mounted =
      Mount({mount_, "-o", std::string(kSmall) + ",log_file=" + (folder_ / "log")});
  ASSERT_TRUE(mounted.ended.ok()) << mounted.err;
  EXPECT_NE(mounted.out.find("RPC at 127.0.0.1:"), std::string::npos) << mounted.out;
  EXPECT_TRUE(Mounted());
  Sh("echo x > \"$M/k\"; umount \"$M\"");
  Sh("for i in $(seq 200); do grep -q ' unmounted ' log && exit 0; sleep 0.05; done; cat log; exit "
     "1");
  EXPECT_FALSE(Mounted());
}

TEST_F(LifecycleTest, HelperFormAsMount8CallsIt) {
  const RunResult mounted =
      Mount({"embedded", mount_, "-n", "-o",
             std::string("rw,_netdev,nofail,x-systemd.automount,noatime,") + kSmall});
  ASSERT_TRUE(mounted.ended.ok()) << mounted.err;
  EXPECT_NE(Sh("grep \" $M \" /proc/self/mounts").find("fuse.mooncake"), std::string::npos);
  Sh("umount \"$M\"");
}

TEST_F(LifecycleTest, FakeMountsNothing) {
  const RunResult faked = Mount({"embedded", mount_, "-f", "-o", kSmall});
  EXPECT_TRUE(faked.ended.ok()) << faked.err;
  EXPECT_FALSE(Mounted());
}

TEST_F(LifecycleTest, HelpAndVersion) {
  const RunResult help = Mount({"--help"});
  EXPECT_TRUE(help.ended.ok());
  for (const char* word :
       {"SOURCE", "size=", "write_space=", "passthrough=", "timeout=", "default:"}) {
    EXPECT_NE(help.out.find(word), std::string::npos) << word;
  }
  EXPECT_TRUE(Mount({"--version"}).ended.ok());
}

TEST_F(LifecycleTest, RefusalsAreOneLineAndLeaveNothing) {  // F035
  Sh("touch \"$W/file\"; mkdir \"$W/full\"; touch \"$W/full/x\"");
  const std::vector<std::vector<std::string>> cases = {
      {work_ + "/missing"},
      {work_ + "/file"},
      {work_ + "/full"},
      {mount_, "-o", "size=tiny"},
      {mount_, "-o", "nosuchoption"},
      {mount_, "-o", "spill_dir=" + work_ + "/missing"},
      {"127.0.0.1:1", mount_, "-o", "timeout=2s"},
      {"not-a-source", mount_},
      {},
  };
  for (const auto& arguments : cases) {
    const RunResult refused = Mount(arguments);
    EXPECT_TRUE(refused.ended.exit_status == 1 || refused.ended.exit_status == 32)
        << refused.ended.ToString();
    EXPECT_EQ(Lines(refused.err), 1) << refused.err;
    EXPECT_FALSE(Mounted());
  }
}

TEST_F(LifecycleTest, ASecondMountOverALiveOneIsRefusedWithoutHarm) {  // F003
  StartMount(kSmall);
  Sh("echo x > \"$M/k\"");
  for (const char* options : {kSmall, "master=127.0.0.1:1,timeout=1s"}) {
    const RunResult second = Mount({mount_, "-o", options});
    EXPECT_EQ(second.ended.exit_status, 32);
    EXPECT_NE(second.err.find("already"), std::string::npos) << second.err;
    EXPECT_EQ(Sh("cat \"$M/k\""), "x");
  }
}

TEST_F(LifecycleTest, ADeadMountIsCleanedByTheNext) {  // F001
  StartMount(std::string(kSmall) + ",no_auto_unmount");
  daemon_->Kill();
  EXPECT_FALSE(Shell("ls \"$M\"").ended.ok());
  StartMount(kSmall);
  EXPECT_EQ(Sh("ls \"$M\""), "");
}

// fusermount3 looks once whether the mount is dead, and now and then does so before the kernel has closed the device: then the
// dead mount stays for the next one to clean, as above.
TEST_F(LifecycleTest, AKilledDaemonIsUnmountedButForARaceOfFusermount) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    StartMount(kSmall);
    daemon_->Kill();
    if (Eventually([this] { return !Mounted(); }, Seconds(5))) return;
  }
  ADD_FAILURE() << "still mounted after each of three kills";
}

TEST_F(LifecycleTest, SigtermUnmountsEvenWhileInUse) {
  StartMount(kSmall);
  Sh("echo x > \"$M/k\"");
  Process user(
      {.command = {"/bin/bash", "-c", "exec 3< \"$0/k\"; cd \"$0\"; echo in; read", mount_}});
  ASSERT_TRUE(user.WaitForLine("in").ok());
  const auto ended = daemon_->Terminate();
  ASSERT_TRUE(ended.has_value());
  EXPECT_TRUE(ended->ok()) << ended->ToString() << daemon_->Errors();
  EXPECT_FALSE(Mounted());
}

TEST_F(LifecycleTest, UsersSeeTheMountOnlyWithAllowOther) {
  StartMount(kSmall);
  Sh("echo x > \"$M/k\"; chmod 644 \"$M/k\"; chmod 755 .");
  EXPECT_FALSE(Shell("setpriv --reuid=65534 --clear-groups cat \"$M/k\"").ended.ok());
  TearDown();
  StartMount(std::string(kSmall) + ",allow_other");
  Sh("echo x > \"$M/k\"; echo y > \"$M/secret\"; chmod 600 \"$M/secret\"");
  Sh("setpriv --reuid=65534 --clear-groups cat \"$M/k\"");
  EXPECT_FALSE(Shell("setpriv --reuid=65534 --clear-groups cat \"$M/secret\"").ended.ok());
  EXPECT_FALSE(Shell("setpriv --reuid=65534 --clear-groups touch \"$M/new\"").ended.ok());
}

TEST_F(LifecycleTest, ReadOnlyMount) {
  StartMount(std::string(kSmall) + ",ro");
  EXPECT_FALSE(Shell("echo x > \"$M/k\"").ended.ok());
  EXPECT_EQ(Sh("ls \"$M\""), "");
}

}  // namespace
}  // namespace mooncake::testing

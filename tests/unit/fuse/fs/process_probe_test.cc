#include "fuse/fs/process_probe.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include <gtest/gtest.h>

namespace mooncake::fs {
namespace {

TEST(ProcessProbe, AThreadBelongsToItsProcess) {
  const auto probe = MakeProcProbe();
  pid_t seen = 0;
  std::thread([&] { seen = probe->ProcessOf(static_cast<pid_t>(syscall(SYS_gettid))); }).join();
  EXPECT_EQ(seen, getpid());
}

TEST(ProcessProbe, LivingProcessesDieOfNothing) {
  const auto probe = MakeProcProbe();
  EXPECT_FALSE(probe->DiesOfSignal(getpid()));
  EXPECT_TRUE(probe->IsAlive(getpid()));
}

TEST(ProcessProbe, AZombieIsDeadAndShowsWhetherASignalKilledIt) {
  const auto probe = MakeProcProbe();
  for (const bool killed : {true, false}) {
    const pid_t child = fork();
    if (child == 0) {
      if (killed) raise(SIGKILL);
      _exit(3);
    }
    siginfo_t info;
    ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
    EXPECT_EQ(probe->DiesOfSignal(child), killed);
    EXPECT_FALSE(probe->IsAlive(child));
    waitpid(child, nullptr, 0);
    EXPECT_FALSE(probe->IsAlive(child));
    EXPECT_FALSE(probe->DiesOfSignal(child));
  }
}

TEST(ProcessProbe, FindsADescriptorOnAnInode) {
  const auto probe = MakeProcProbe();
  char name[] = "/tmp/mc-probe-XXXXXX";
  const int fd = mkstemp(name);
  ASSERT_GE(fd, 0);
  unlink(name);
  struct stat info {};
  ASSERT_EQ(fstat(fd, &info), 0);
  EXPECT_TRUE(probe->HoldsInode(getpid(), info.st_ino));
  close(fd);
  EXPECT_FALSE(probe->HoldsInode(getpid(), info.st_ino));
}

}  // namespace
}  // namespace mooncake::fs

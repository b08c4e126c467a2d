#include "master/tenants/policy_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "master/tenants/policy_text.h"
#include "tests/support/process.h"
#include "transfer/base/unique_fd.h"

namespace mooncake {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const QuotaPolicies kTwo = {{"a", 1}, {"b", uint64_t{10} << 30}};
const QuotaPolicies kOther = {{"c", 77}};

class PolicyFileTest : public ::testing::Test {
 protected:
  PolicyFile Store(bool create = false) {
    return PolicyFile({.path = path_, .create_if_missing = create});
  }
  void Put(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  void Put(const QuotaPolicies& policies) { Put(path_, *WritePolicyText(policies)); }
  static std::string Bytes(const std::string& path) {
    std::ostringstream bytes;
    bytes << std::ifstream(path, std::ios::binary).rdbuf();
    return bytes.str();
  }
  // Names in the folder, hidden ones too.
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  void ExpectKept(const QuotaPolicies& policies) {
    const auto kept = Store().Load();
    ASSERT_TRUE(kept.ok()) << kept.message();
    EXPECT_EQ(*kept, policies);
  }

  const testing::TempFolder folder_;
  const std::string path_ = folder_ / "tenants.yaml";
  const std::string hidden_ = folder_ / ".tenants.yaml.mooncake-new";
};

TEST_F(PolicyFileTest, AMissingFileIsRefusedWithTheCure) {
  const auto policies = Store().Load();
  EXPECT_EQ(policies.code(), ErrorCode::kObjectNotFound);
  EXPECT_THAT(policies.message(), HasSubstr(path_ + " does not exist"));
  EXPECT_THAT(policies.message(), HasSubstr("`version: 1` and `tenants: []`"));
  EXPECT_THAT(policies.message(), HasSubstr("--state_dir"));
  EXPECT_TRUE(Names().empty());
}

TEST_F(PolicyFileTest, AMissingFileIsMadeWhenThatIsAskedFor) {
  const auto policies = Store(true).Load();
  ASSERT_TRUE(policies.ok()) << policies.message();
  EXPECT_TRUE(policies->empty());
  EXPECT_EQ(Bytes(path_), "version: 1\ntenants: []\n");
  EXPECT_EQ(Names(), std::vector<std::string>{"tenants.yaml"});
}

TEST_F(PolicyFileTest, AMissingFolderIsNotMade) {
  PolicyFile store({.path = folder_ / "none/tenants.yaml", .create_if_missing = true});
  EXPECT_EQ(store.Load().code(), ErrorCode::kPersistentFail);
  EXPECT_THAT(store.Save(kTwo).message(), HasSubstr("No such file or directory"));
}

TEST_F(PolicyFileTest, ABadTextIsRefusedWithPathAndLineAndStays) {
  const std::string text = "version: 1\ntenants:\n- name: a\n  quota: 10XB\n";
  Put(path_, text);
  PolicyFile store = Store(true);
  const auto policies = store.Load();
  EXPECT_EQ(policies.code(), ErrorCode::kInvalidParams);
  EXPECT_THAT(policies.message(),
              HasSubstr("file " + path_ + ": line 4: tenant 'a': quota '10XB'"));
  EXPECT_EQ(store.Save(kTwo).code(), ErrorCode::kInvalidVersion);
  EXPECT_EQ(Bytes(path_), text);
}

TEST_F(PolicyFileTest, WhatIsNoFileOrTooLargeIsRefused) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(Store().Load().message(), HasSubstr("is no regular file"));
  fs::remove(path_);
  fs::create_directory(path_);
  EXPECT_THAT(Store().Load().message(), HasSubstr("is no regular file"));
  fs::remove(path_);
  Put(path_, "");
  fs::resize_file(path_, uint64_t{1} << 40);
  EXPECT_THAT(Store().Load().message(), HasSubstr("has more than 4194304 bytes"));
}

TEST_F(PolicyFileTest, AnEditByHandIsNotOverwritten) {
  Put(kTwo);
  PolicyFile store = Store();
  ASSERT_TRUE(store.Load().ok());
  Put(kOther);
  const Status saved = store.Save({});
  EXPECT_EQ(saved.code(), ErrorCode::kInvalidVersion);
  EXPECT_THAT(saved.message(), HasSubstr(path_ + " was changed by someone else"));
  ExpectKept(kOther);
  EXPECT_EQ(Names(), std::vector<std::string>{"tenants.yaml"});
}

TEST_F(PolicyFileTest, ModeAndOwnerStay) {
  Put(kTwo);
  ASSERT_EQ(chmod(path_.c_str(), 0640), 0);
  const bool root = geteuid() == 0;
  ASSERT_TRUE(!root || chown(path_.c_str(), 12345, 54321) == 0);
  PolicyFile store = Store();
  ASSERT_TRUE(store.Load().ok());
  ASSERT_EQ(store.Save(kOther), Status::Ok());
  struct stat info {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u);
  EXPECT_EQ(info.st_uid, root ? 12345 : geteuid());
  EXPECT_EQ(info.st_gid, root ? 54321 : getegid());
  ExpectKept(kOther);
}

TEST_F(PolicyFileTest, ANewFileCanBeReadByAll) {
  ASSERT_EQ(Store(true).Save(kTwo), Status::Ok());
  struct stat info {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0644u);
}

TEST_F(PolicyFileTest, OfASymbolicLinkTheFileBehindIsReplaced) {
  fs::create_directory(folder_ / "far");
  fs::create_symlink("far/link", path_);
  fs::create_symlink(folder_ / "far/file", folder_ / "far/link");
  const auto missing = Store().Load();
  EXPECT_EQ(missing.code(), ErrorCode::kObjectNotFound);
  EXPECT_THAT(missing.message(), HasSubstr("(a symbolic link to " + (folder_ / "far/file") + ")"));

  PolicyFile store = Store(true);
  ASSERT_TRUE(store.Load().ok());
  ASSERT_EQ(store.Save(kTwo), Status::Ok());
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_TRUE(fs::is_symlink(folder_ / "far/link"));
  EXPECT_EQ(Bytes(folder_ / "far/file"), *WritePolicyText(kTwo));
  ExpectKept(kTwo);
}

TEST_F(PolicyFileTest, LinksInACircleAreRefused) {
  fs::create_symlink("other", path_);
  fs::create_symlink("tenants.yaml", folder_ / "other");
  EXPECT_THAT(Store(true).Load().message(), HasSubstr("in a circle"));
  EXPECT_EQ(Store(true).Save(kTwo).code(), ErrorCode::kInvalidParams);
}

// What a master leaves that is killed between any two of its steps.
TEST_F(PolicyFileTest, WhatAKilledMasterLeftIsIgnoredAndRemoved) {
  for (const std::string& left : {std::string(), std::string("version: 1\ntena"),
                                  *WritePolicyText(kOther), std::string(100000, 'x')}) {
    Put(kTwo);
    Put(hidden_, left);
    ExpectKept(kTwo);
    EXPECT_EQ(Names(), std::vector<std::string>{"tenants.yaml"});

    PolicyFile store = Store();
    ASSERT_TRUE(store.Load().ok());
    Put(hidden_, left);
    ASSERT_EQ(store.Save(kOther), Status::Ok()) << "another's rest is no reason to fail";
    EXPECT_EQ(Names(), std::vector<std::string>{"tenants.yaml"});
    ExpectKept(kOther);
  }
}

TEST_F(PolicyFileTest, ASaveInProgressIsLeftAloneAndKeepsOthersOut) {
  Put(kTwo);
  PolicyFile store = Store();
  ASSERT_TRUE(store.Load().ok());
  Put(hidden_, "half");
  {
    const UniqueFd other(open(hidden_.c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(flock(other.get(), LOCK_EX | LOCK_NB), 0);
    EXPECT_EQ(store.Save(kOther).code(), ErrorCode::kUnavailableInCurrentStatus);
    ExpectKept(kTwo);
    EXPECT_EQ(Bytes(hidden_), "half");
  }
  EXPECT_EQ(store.Save(kOther), Status::Ok());
}

TEST_F(PolicyFileTest, ATrapUnderTheHiddenNameIsNotFollowed) {
  Put(kTwo);
  Put(folder_ / "precious", "precious");
  fs::create_symlink("precious", hidden_);
  PolicyFile store = Store();
  ASSERT_TRUE(store.Load().ok());
  EXPECT_EQ(store.Save(kOther).code(), ErrorCode::kPersistentFail);
  EXPECT_EQ(Bytes(folder_ / "precious"), "precious");
}

// Saves in a child process that is killed when it has entered and left so many system calls. Whether it ended by itself first.
bool SaveAndKill(const std::string& path, const QuotaPolicies& policies, int stops) {
  const pid_t child = fork();
  if (child == 0) {
    PolicyFile store({.path = path});
    const bool loaded = store.Load().ok();
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    _exit(loaded && store.Save(policies).ok() ? 0 : 1);
  }
  int status = 0;
  for (int stop = 0; waitpid(child, &status, 0) == child && WIFSTOPPED(status); ++stop) {
    if (stop == stops) kill(child, SIGKILL);
    if (stop < stops) ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
  }
  if (WIFSIGNALED(status)) return false;
  EXPECT_EQ(WEXITSTATUS(status), 0);
  return true;
}

TEST_F(PolicyFileTest, AMasterKilledBetweenAnyTwoSystemCallsLeavesOneWholeValue) {
  bool ended = false;
  int old_kept = 0;
  int new_kept = 0;
  for (int stops = 0; !ended; ++stops) {
    ASSERT_LT(stops, 1000);
    Put(kTwo);
    ended = SaveAndKill(path_, kOther, stops);
    const auto kept = Store().Load();
    ASSERT_TRUE(kept.ok()) << stops << ": " << kept.message();
    ++(*kept == kTwo ? old_kept : new_kept);
    ASSERT_TRUE(*kept == kTwo || *kept == kOther) << stops;
    ASSERT_EQ(Names(), std::vector<std::string>{"tenants.yaml"}) << stops;
  }
  // Opening, locking, writing and synchronising come before the renaming, the folder's part after it.
  EXPECT_GE(old_kept, 10);
  EXPECT_GE(new_kept, 4);
}

// Who changes a quota over HTTP is served in a thread with a stack of 100 KiB, part of which the server uses.
TEST_F(PolicyFileTest, NeedsLittleStack) {
  QuotaPolicies many;
  for (int i = 0; i < 1000; ++i) many["tenant-" + std::to_string(i)] = 1;
  Put(many);
  PolicyFile store = Store();
  ASSERT_TRUE(store.Load().ok());
  const auto save = [](void* it) -> void* {
    return static_cast<PolicyFile*>(it)->Save(kOther).ok() ? it : nullptr;
  };
  pthread_attr_t small;
  ASSERT_EQ(pthread_attr_init(&small), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&small, 64 << 10), 0);
  pthread_t thread{};
  ASSERT_EQ(pthread_create(&thread, &small, save, &store), 0);
  void* done = nullptr;
  EXPECT_EQ(pthread_join(thread, &done), 0);
  EXPECT_EQ(done, &store);
  ExpectKept(kOther);
  pthread_attr_destroy(&small);
}

}  // namespace
}  // namespace mooncake

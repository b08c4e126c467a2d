// Rules of fuse/SEMANTICS.md that need a kernel to be seen.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "client/store_client.h"
#include "tests/integration/fuse/mount_fixture.h"
#include "tests/support/wait.h"
#include "transfer/base/units.h"

namespace mooncake::testing {
namespace {

class SemanticsTest : public EachDataPath {
 protected:
  // A client of the same store, as programs without the mount use it.
  std::unique_ptr<Client> Connect() {
    const std::string text = daemon_->Errors() + daemon_->Output();
    const size_t at = text.find("RPC at ") + 7;
    auto client =
        Client::Connect({.master = text.substr(at, text.find_first_of("\" \n", at) - at)});
    EXPECT_TRUE(client.ok()) << client.status();
    return client.ok() ? std::move(*client) : nullptr;
  }
};

TEST_P(SemanticsTest, MountAndApiShowTheSameKeys) {
  const auto client = Connect();
  ASSERT_TRUE(client->Put("dir/by-api", AsBytes("api")).ok());
  EXPECT_EQ(ReadAll(Path("dir/by-api")), "api");
  Sh("echo mount > \"$M/dir/by-mount\"");
  std::string value;
  ASSERT_TRUE(client->Get("dir/by-mount", &value).ok());
  EXPECT_EQ(value, "mount\n");
  ASSERT_TRUE(
      client->Put("dir/by-api", AsBytes("longer value"), {.mode = WriteMode::kReplace}).ok());
  EXPECT_EQ(ReadAll(Path("dir/by-api")), "longer value");
  ASSERT_TRUE(client->Remove("dir/by-api", true).ok());
  EXPECT_EQ(open(Path("dir/by-api").c_str(), O_RDONLY), -1);
  EXPECT_EQ(errno, ENOENT);
}

TEST_P(SemanticsTest, EveryKeyHasAPath) {  // F013, F015
  const auto client = Connect();
  for (const std::string& key :
       {std::string("x//y"), std::string("/lead"), std::string("./p"), std::string("../q"),
        std::string("n\0l", 3), std::string("caf\xe9"), std::string(1000, 'k'), std::string("a"),
        std::string("a/b"), std::string("tail/")}) {
    ASSERT_TRUE(client->Put(key, AsBytes(key)).ok());
  }
  EXPECT_EQ(Sh("cd \"$M\"; find . -type f | wc -l"), "10");
  EXPECT_EQ(ReadAll(Path("x/%mc:/y")), "x//y");
  EXPECT_EQ(ReadAll(Path("%mc:/lead")), "/lead");
  EXPECT_EQ(ReadAll(Path("%mc:../q")), "../q");
  EXPECT_EQ(ReadAll(Path("%mc=a")), "a");
  EXPECT_EQ(ReadAll(Path("tail/%mc:")), "tail/");
  Sh("find \"$M\" -type f -exec cat {} + > /dev/null; ls -laR \"$M\" > /dev/null");
}

TEST_P(SemanticsTest, AKilledWriterPublishesNothing) {
  Sh("echo old > \"$M/k\"");
  Process writer({.command = {"/usr/bin/python3", "-c",
                              "import sys,time\n"
                              "f=open(sys.argv[1],'wb',0); f.write(b'cut '*1000)\n"
                              "g=open(sys.argv[2],'wb',0); g.write(b'cut'); "
                              "print('written',flush=True); time.sleep(600)",
                              Path("k"), Path("fresh")}});
  ASSERT_TRUE(writer.WaitForLine("written").ok());
  writer.Kill();
  EXPECT_EQ(Sh("cat \"$M/k\""), "old");
  const auto client = Connect();
  std::string value;
  ASSERT_TRUE(client->Get("k", &value).ok());
  EXPECT_EQ(value, "old\n");
  EXPECT_EQ(client->Get("fresh", &value).code(), ErrorCode::kObjectNotFound);
  EXPECT_EQ(Sh("ls \"$M\""), "k");
}

TEST_P(SemanticsTest, CloseReportsAFullStore) {
  const int fd = open(Path("big").c_str(), O_WRONLY | O_CREAT, 0644);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(ftruncate(fd, 400 << 20), 0);
  EXPECT_EQ(close(fd), -1);
  EXPECT_EQ(errno, ENOSPC);
  // The kernel tells of the last close without waiting for it.
  EXPECT_TRUE(Eventually([&] { return access(Path("big").c_str(), F_OK) != 0; }));
  Sh("echo small > \"$M/s\"; cat \"$M/s\"");
}

TEST_P(SemanticsTest, FilesLargerThanTheMemoryForWriting) {
  TearDown();
  StartMount("size=256MiB,write_space=8MiB,passthrough=" + std::string(GetParam()));
  Sh("head -c 100000000 /dev/urandom > \"$W/r\"; cp \"$W/r\" \"$M/r\"; cmp \"$W/r\" \"$M/r\"");
}

TEST_P(SemanticsTest, SizesAroundFourGibibytes) {
  const std::string path = Path("sparse");
  const int fd = open(path.c_str(), O_RDWR | O_CREAT, 0644);
  ASSERT_GE(fd, 0);
  for (const off_t size :
       {(off_t{1} << 31) - 1, off_t{1} << 31, (off_t{1} << 32) - 1, (off_t{1} << 32) + 1}) {
    ASSERT_EQ(ftruncate(fd, size), 0) << size;
    struct stat info {};
    ASSERT_EQ(fstat(fd, &info), 0);
    EXPECT_EQ(info.st_size, size);
    ASSERT_EQ(pwrite(fd, "end", 3, size - 1), 3);
    char c = 0;
    EXPECT_EQ(pread(fd, &c, 1, size + 1), 1);
    EXPECT_EQ(c, 'd');
    EXPECT_EQ(lseek(fd, 0, SEEK_END), size + 2);
  }
  unlink(path.c_str());
  EXPECT_EQ(close(fd), 0);
}

TEST_P(SemanticsTest, AnOpenFileKeepsItsVersion) {
  Sh("echo first > \"$M/k\"");
  const int fd = open(Path("k").c_str(), O_RDONLY);
  char buffer[64] = {};
  Sh("echo second > \"$M/k\"");
  EXPECT_EQ(pread(fd, buffer, sizeof buffer, 0), 6);
  EXPECT_STREQ(buffer, "first\n");
  struct stat opened {
  }, named{};
  fstat(fd, &opened);
  stat(Path("k").c_str(), &named);
  EXPECT_NE(opened.st_ino, named.st_ino);
  EXPECT_EQ(ReadAll(Path("k")), "second\n");
  close(fd);
}

TEST_P(SemanticsTest, AReaderBesideAWriterSeesTheOldOrTheNewWhole) {
  Sh("echo old value > \"$M/k\"");
  const int writer = open(Path("k").c_str(), O_WRONLY | O_TRUNC);
  ASSERT_EQ(write(writer, "new", 3), 3);
  EXPECT_EQ(ReadAll(Path("k")), "old value\n");
  ASSERT_EQ(write(writer, "er", 2), 2);
  EXPECT_EQ(close(writer), 0);
  EXPECT_EQ(ReadAll(Path("k")), "newer");
}

TEST_P(SemanticsTest, WhatTheStoreCannotDoFailsWithOneErrno) {
  Sh("echo x > \"$M/f\"");
  EXPECT_EQ(link(Path("f").c_str(), Path("hard").c_str()), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(mkfifo(Path("pipe").c_str(), 0644), -1);
  EXPECT_EQ(errno, EPERM);
  Sh("echo y > \"$M/g\"");
  EXPECT_EQ(renameat2(AT_FDCWD, Path("f").c_str(), AT_FDCWD, Path("g").c_str(), RENAME_EXCHANGE),
            -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(setxattr(Path("f").c_str(), "user.a", "b", 1, 0), -1);
  EXPECT_EQ(errno, EOPNOTSUPP);
  char value[8];
  EXPECT_EQ(getxattr(Path("f").c_str(), "user.a", value, sizeof value), -1);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_P(SemanticsTest, ErrnosOfWrongCalls) {
  Sh("mkdir \"$M/d\"; echo x > \"$M/d/f\"; echo x > \"$M/other\"");
  EXPECT_EQ(open(Path("d/f").c_str(), O_CREAT | O_EXCL | O_WRONLY, 0644), -1);
  EXPECT_EQ(errno, EEXIST);
  EXPECT_EQ(open(Path("d").c_str(), O_WRONLY), -1);
  EXPECT_EQ(errno, EISDIR);
  EXPECT_EQ(mkdir(Path("d").c_str(), 0755), -1);
  EXPECT_EQ(errno, EEXIST);
  EXPECT_EQ(rmdir(Path("d").c_str()), -1);
  EXPECT_EQ(errno, ENOTEMPTY);
  EXPECT_EQ(unlink(Path("d").c_str()), -1);
  EXPECT_EQ(errno, EISDIR);
  EXPECT_EQ(rmdir(Path("d/f").c_str()), -1);
  EXPECT_EQ(errno, ENOTDIR);
  EXPECT_EQ(rename(Path("other").c_str(), Path("d").c_str()), -1);
  EXPECT_EQ(errno, EISDIR);
  EXPECT_EQ(rename(Path("d").c_str(), Path("d/e").c_str()), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(open(Path("%mcx").c_str(), O_CREAT | O_WRONLY, 0644), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST_P(SemanticsTest, CapacityIsThatOfTheStore) {  // F019
  struct statvfs before {
  }, after{};
  ASSERT_EQ(statvfs(mount_.c_str(), &before), 0);
  EXPECT_EQ(before.f_blocks * before.f_frsize, 256u << 20);
  EXPECT_GT(before.f_files, 0u);
  EXPECT_EQ(before.f_namemax, 255u);
  Sh("head -c 50000000 /dev/zero > \"$M/k\"; sleep 1.1");
  ASSERT_EQ(statvfs(mount_.c_str(), &after), 0);
  EXPECT_LE((after.f_bfree + 12000) * after.f_frsize, before.f_bfree * before.f_frsize);
  EXPECT_NE(Sh("df -h \"$M\""), "");
}

TEST_P(SemanticsTest, ManyNamesListedInBoundedMemory) {  // F024
  const auto client = Connect();
  constexpr int kNames = 20000;
  std::vector<std::string> keys(kNames);
  std::vector<PutItem> items;
  for (int i = 0; i < kNames; ++i) {
    keys[static_cast<size_t>(i)] = "big/name-" + std::to_string(i);
    items.push_back({keys[static_cast<size_t>(i)], {}});
  }
  for (size_t at = 0; at < items.size(); at += 5000) {
    for (const auto& put : client->BatchPut(std::span(items).subspan(at, 5000)))
      ASSERT_TRUE(put.ok()) << put.status();
  }
  const uint64_t before = daemon_->ResidentBytes();
  EXPECT_EQ(Sh("ls -f \"$M/big\" | wc -l"), std::to_string(kNames + 2));
  EXPECT_LT(daemon_->ResidentBytes(), before + (64 << 20));
  EXPECT_EQ(Sh("ls \"$M/big\" | sort -u | wc -l"), std::to_string(kNames));
  EXPECT_EQ(Sh("ls -l \"$M/big\" | wc -l"), std::to_string(kNames + 1));
}

INSTANTIATE_TEST_SUITE_P(Mount, SemanticsTest, ::testing::Values("auto", "off"),
                         [](const auto& path) { return std::string(path.param); });

}  // namespace
}  // namespace mooncake::testing

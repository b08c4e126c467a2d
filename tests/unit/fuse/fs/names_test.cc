#include "fuse/fs/names.h"

#include "tests/unit/fuse/fs_fixture.h"

namespace mooncake::fs {
namespace {

using NamesTest = testing::FsTest;
using ::testing::Test;

TEST_F(NamesTest, DirectoriesExistThroughTheirKeys) {
  client_.Store("a/b/c", "x");
  ASSERT_NE(Walk("a"), nullptr);
  EXPECT_EQ(Walk("a")->kind, ObjectKind::kDirectory);
  EXPECT_EQ(Walk("a/b")->kind, ObjectKind::kDirectory);
  EXPECT_EQ(Walk("a/b/c")->kind, ObjectKind::kFile);
  EXPECT_EQ(Walk("a/x"), nullptr);
}

TEST_F(NamesTest, LookupOfAFileIsOneRequest) {
  client_.Store("k", "x");
  ASSERT_NE(Walk("k"), nullptr);
  EXPECT_EQ(client_.CallsOf("List"), 1);
  EXPECT_EQ(client_.CallsOf("Stat"), 0);
}

TEST_F(NamesTest, LookupSeesTheDirectoryBehindManyNeighbours) {
  for (int i = 0; i < 100; ++i) client_.Store("x-" + std::to_string(i), "");
  client_.Store("x/y", "");
  ASSERT_NE(Walk("x"), nullptr);
  EXPECT_EQ(Walk("x")->kind, ObjectKind::kDirectory);
}

TEST_F(NamesTest, ADirectoryShadowsTheObjectOfTheSameKey) {
  client_.Store("a", "file");
  EXPECT_EQ(ReadFile("a"), "file");
  EXPECT_EQ(Walk("%mc=a"), nullptr);  // not while there is no directory
  client_.Store("a/b", "below");
  EXPECT_EQ(Walk("a")->kind, ObjectKind::kDirectory);
  EXPECT_EQ(ReadFile("%mc=a"), "file");
  ASSERT_TRUE(client_.Remove("a/b", true, {}).ok());
  EXPECT_EQ(ReadFile("a"), "file");
}

TEST_F(NamesTest, MkdirMakesAMarkerAndRmdirRemovesIt) {
  EXPECT_EQ(MakeDirectory("d"), 0);
  EXPECT_TRUE(client_.Has("d/"));
  EXPECT_EQ(MakeDirectory("d"), EEXIST);
  EXPECT_EQ(Stat("d").mode, 0755u);
  EXPECT_EQ(RemoveDirectory("d"), 0);
  EXPECT_FALSE(client_.Has("d/"));
  EXPECT_EQ(Walk("d"), nullptr);
}

TEST_F(NamesTest, RmdirRefusesADirectoryWithEntries) {
  MakeDirectory("d");
  client_.Store("d/f", "x");
  EXPECT_EQ(RemoveDirectory("d"), ENOTEMPTY);
  Unlink("d/f");
  HandlePtr handle = Create("d/new");  // not yet published, but there
  EXPECT_EQ(RemoveDirectory("d"), ENOTEMPTY);
  Unlink("d/new");
  EXPECT_EQ(RemoveDirectory("d"), 0);
  Release(std::move(handle));
}

TEST_F(NamesTest, RemovingTheLastKeyKeepsTheDirectory) {
  client_.Store("d/f", "x");
  ASSERT_NE(Walk("d/f"), nullptr);
  EXPECT_EQ(Unlink("d/f"), 0);
  ASSERT_NE(Walk("d"), nullptr);
  EXPECT_EQ(RemoveDirectory("d"), 0);
}

TEST_F(NamesTest, UnlinkKeepsOpenHandlesReadable) {
  WriteFile("k", "value");
  HandlePtr handle = Open("k");
  EXPECT_EQ(Unlink("k"), 0);
  EXPECT_EQ(Walk("k"), nullptr);
  EXPECT_EQ(Read(*handle), "value");
  EXPECT_EQ(fs_->names().GetAttributes(handle->inode)->links, 0u);
  EXPECT_EQ(Unlink("k"), ENOENT);
  Release(std::move(handle));
}

TEST_F(NamesTest, RenameMovesAPublishedFile) {
  WriteFile("a", "x");
  const InodeId id = Walk("a")->id;
  EXPECT_EQ(Rename("a", "b"), 0);
  EXPECT_EQ(Walk("a"), nullptr);
  EXPECT_EQ(ReadFile("b"), "x");
  EXPECT_EQ(Walk("b")->id, id);
  EXPECT_EQ(client_.CallsOf("Put"), 1);
}

TEST_F(NamesTest, RenameOverAnExistingFileReplacesItForNewReadersOnly) {
  WriteFile("a", "new");
  WriteFile("b", "old");
  HandlePtr reader = Open("b");
  EXPECT_EQ(Rename("a", "b", /*no_replace=*/true), EEXIST);
  EXPECT_EQ(Rename("a", "b"), 0);
  EXPECT_EQ(Read(*reader), "old");
  EXPECT_EQ(ReadFile("b"), "new");
  Release(std::move(reader));
}

TEST_F(NamesTest, RenameOfAFileStillBeingWrittenMovesItsHandle) {
  client_.Store("doc", "old doc");
  HandlePtr handle = Create(".tmp");
  Write(*handle, 0, "first");
  EXPECT_EQ(Rename(".tmp", "doc"), 0);
  EXPECT_EQ(client_.ValueOf("doc"), "old doc");  // until the new one is published
  Write(*handle, 5, "second");
  EXPECT_EQ(Close(std::move(handle)), 0);
  EXPECT_EQ(client_.ValueOf("doc"), "firstsecond");
  EXPECT_FALSE(client_.Has(".tmp"));
}

TEST_F(NamesTest, AnExclusivelyCreatedFileCanBeRenamedOverAnother) {
  client_.Store("doc", "old doc");
  HandlePtr handle = Create("lock", {.write = true, .exclusive = true});
  EXPECT_EQ(Rename("lock", "doc"), 0);
  EXPECT_EQ(Close(std::move(handle)), 0);
  EXPECT_EQ(client_.ValueOf("doc"), "");
}

TEST_F(NamesTest, WhatAnUnpublishedFileWasRenamedOverStaysGone) {
  client_.Store("doc", "old doc");
  HandlePtr handle = Create(".tmp");
  EXPECT_EQ(Rename(".tmp", "doc"), 0);
  EXPECT_EQ(Rename("doc", "elsewhere"), 0);
  EXPECT_EQ(Walk("doc"), nullptr);
  Close(std::move(handle));
  EXPECT_EQ(List(""), std::vector<std::string>{"elsewhere"});
}

TEST_F(NamesTest, RenameOverAFileBeingWrittenTakesItsNameForGood) {
  HandlePtr handle = Create("b");
  Write(*handle, 0, "late");
  WriteFile("a", "x");
  EXPECT_EQ(Rename("a", "b"), 0);
  EXPECT_EQ(Close(std::move(handle)), 0);
  EXPECT_EQ(client_.ValueOf("b"), "x");
}

TEST_F(NamesTest, RenameOfADirectoryTakesEverythingBelow) {
  MakeDirectory("d");
  WriteFile("d/f", "1");
  MakeDirectory("d/e");
  WriteFile("d/e/g", "2");
  HandlePtr open = Create("d/e/new");
  Write(*open, 0, "3");
  EXPECT_EQ(Rename("d", "n"), 0);
  EXPECT_EQ(Walk("d"), nullptr);
  EXPECT_EQ(ReadFile("n/f"), "1");
  EXPECT_EQ(ReadFile("n/e/g"), "2");
  Close(std::move(open));
  EXPECT_EQ(client_.ValueOf("n/e/new"), "3");
}

TEST_F(NamesTest, RenameOfADirectoryOverAnotherNeedsItEmpty) {
  MakeDirectory("a");
  WriteFile("a/f", "1");
  MakeDirectory("b");
  WriteFile("b/g", "2");
  EXPECT_EQ(Rename("a", "b"), ENOTEMPTY);
  Unlink("b/g");
  EXPECT_EQ(Rename("a", "b"), 0);
  EXPECT_EQ(ReadFile("b/f"), "1");
}

TEST_F(NamesTest, RenameOfADirectoryIntoItselfIsRefused) {
  MakeDirectory("a");
  MakeDirectory("a/b");
  EXPECT_EQ(Rename("a", "a/b/c"), EINVAL);
}

TEST_F(NamesTest, RenameOfADirectoryOverAFileIsRefused) {
  MakeDirectory("a");
  WriteFile("f", "x");
  EXPECT_EQ(Rename("a", "f"), ENOTDIR);
}

TEST_F(NamesTest, SymlinksAreStoredWithTheirTarget) {
  ASSERT_TRUE(fs_->names().MakeSymlink(Root(), "l", "../some/where", kCaller).ok());
  EXPECT_EQ(client_.ValueOf("l"), "../some/where");
  Start({});  // a new mount
  const InodePtr link = Walk("l");
  ASSERT_NE(link, nullptr);
  EXPECT_EQ(link->kind, ObjectKind::kSymlink);
  EXPECT_EQ(*fs_->names().ReadSymlink(link), "../some/where");
  EXPECT_EQ(Stat("l").size, 13u);
}

TEST_F(NamesTest, NamesThatNoKeyHasAreRefused) {
  EXPECT_EQ(Walk("%mcx"), nullptr);
  EXPECT_EQ(errno_, ENOENT);
  EXPECT_EQ(Create("%mcx"), nullptr);
  EXPECT_EQ(errno_, EINVAL);
  EXPECT_EQ(MakeDirectory("%mc:plain"), EINVAL);
  EXPECT_EQ(Create(std::string(256, 'x')), nullptr);
  EXPECT_EQ(errno_, ENAMETOOLONG);
}

TEST_F(NamesTest, KeysOverTheLimitAreRefused) {
  std::string path;
  for (int i = 0; i < 16; ++i) path += (i == 0 ? "" : "/") + std::string(250, 'd');
  client_.Store(path + "/x", "");  // 16 directories of 250 bytes
  const std::string name(255, 'n');
  EXPECT_EQ(Create(path + "/" + name), nullptr);
  EXPECT_EQ(errno_, ENAMETOOLONG);
}

TEST_F(NamesTest, ALongKeyIsReachedThroughPartDirectories) {
  const std::string key = "d/" + std::string(600, 'q');
  client_.Store(key, "deep");
  EXPECT_EQ(ReadFile(KeyToPath(key)), "deep");
}

TEST_F(NamesTest, ASlashAtTheEndOfAKeyIsAFileWithAnEmptyName) {
  client_.Store("odd/", "value");
  EXPECT_EQ(Walk("odd")->kind, ObjectKind::kDirectory);
  EXPECT_EQ(ReadFile("odd/%mc:"), "value");
  MakeDirectory("real");
  EXPECT_EQ(Walk("real/%mc:"), nullptr);  // a marker is the directory, not a file in it
}

TEST_F(NamesTest, DirectoryModeAndTimesAreStored) {
  MakeDirectory("d");
  AttributeChange change;
  change.mode = 01777;
  change.mtime_ns = 42;
  ASSERT_TRUE(fs_->files().SetAttributes(Walk("d"), change, nullptr, kCaller).ok());
  Start({});
  EXPECT_EQ(Stat("d").mode, 01777u);
  EXPECT_EQ(Stat("d").mtime_ns, 42);
}

TEST_F(NamesTest, ASetGroupIdDirectoryGivesItsGroup) {
  MakeDirectory("d");
  AttributeChange change;
  change.mode = 02775;
  change.gid = 4242;
  ASSERT_TRUE(fs_->files().SetAttributes(Walk("d"), change, nullptr, kCaller).ok());
  WriteFile("d/f", "x");
  EXPECT_EQ(Stat("d/f").gid, 4242u);
  MakeDirectory("d/e");
  EXPECT_EQ(Stat("d/e").mode & 02000, 02000u);
}

TEST_F(NamesTest, TheMastersErrorsReachTheCaller) {
  client_.SetFault(
      [](std::string_view, std::string_view) { return Status(ErrorCode::kRpcTimeout, "frozen"); });
  EXPECT_EQ(Walk("k"), nullptr);
  EXPECT_EQ(errno_, ETIMEDOUT);
  EXPECT_EQ(MakeDirectory("d"), ETIMEDOUT);
  EXPECT_EQ(fs_->GetCapacity().error().value, ETIMEDOUT);
}

TEST_F(NamesTest, CapacityIsAskedAtMostOnceASecond) {
  client_.Store("k", std::string(1000, 'x'));
  EXPECT_EQ(fs_->GetCapacity()->free_bytes, client_.capacity - 1000);
  fs_->GetCapacity().ok();
  EXPECT_EQ(client_.CallsOf("Space"), 1);
  clock_.Advance(Seconds(2));
  fs_->GetCapacity().ok();
  EXPECT_EQ(client_.CallsOf("Space"), 2);
}

}  // namespace
}  // namespace mooncake::fs

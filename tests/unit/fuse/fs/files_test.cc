#include "fuse/fs/files.h"

#include <fcntl.h>

#include "tests/unit/fuse/fs_fixture.h"

namespace mooncake::fs {
namespace {

using FilesTest = testing::FsTest;

TEST_F(FilesTest, WriterReadsWhatItWrote) {
  HandlePtr handle = Create("k");
  Write(*handle, 0, "hello");
  Write(*handle, 10, "world");
  EXPECT_EQ(Read(*handle), std::string("hello\0\0\0\0\0world", 15));
  EXPECT_EQ(Read(*handle, 12, 2), "rl");
  EXPECT_EQ(Read(*handle, 15), "");
  EXPECT_EQ(Close(std::move(handle)), 0);
}

TEST_F(FilesTest, AppendGoesToTheEndForEveryWriter) {
  WriteFile("k", "one");
  HandlePtr a = Open("k", {.write = true, .append = true});
  HandlePtr b = Open("k", {.write = true, .append = true}, kOther);
  Write(*a, 0, "-a");
  Write(*b, 0, "-b");
  Write(*a, 3, "-c");
  Close(std::move(a));
  Close(std::move(b), kOther);
  EXPECT_EQ(client_.ValueOf("k"), "one-a-b-c");
}

TEST_F(FilesTest, RandomWriteWorksOnACopyAndReplacesTheWhole) {
  WriteFile("k", "0123456789");
  HandlePtr handle = Open("k", {.write = true});
  Write(*handle, 3, "xyz");
  EXPECT_EQ(client_.ValueOf("k"), "0123456789");
  Close(std::move(handle));
  EXPECT_EQ(client_.ValueOf("k"), "012xyz6789");
}

TEST_F(FilesTest, OpeningForWritingWithoutWritingPublishesNothing) {
  WriteFile("k", "old");
  Close(Open("k", {.write = true}));
  EXPECT_EQ(client_.CallsOf("Put"), 1);
}

TEST_F(FilesTest, AnOpenReaderKeepsItsVersionWhileTheFileIsRewritten) {
  WriteFile("k", "old value");
  HandlePtr reader = Open("k");
  EXPECT_EQ(Read(*reader, 0, 3), "old");
  EXPECT_EQ(WriteFile("k", "NEW"), 0);
  EXPECT_EQ(Read(*reader), "old value");
  EXPECT_EQ(ReadFile("k"), "NEW");
  EXPECT_NE(Walk("k")->id, reader->inode->id);  // another version is another inode
  Release(std::move(reader));
}

TEST_F(FilesTest, ANewReaderSeesTheCommittedValueWhileTheFileIsRewritten) {
  WriteFile("k", "old");
  HandlePtr writer = Open("k", {.write = true, .truncate = true});
  Write(*writer, 0, "ne");
  HandlePtr reader = Open("k", {}, kOther);
  ASSERT_NE(reader, nullptr);
  EXPECT_EQ(Read(*reader), "old");
  Write(*writer, 2, "w");
  Close(std::move(writer));
  EXPECT_EQ(Read(*reader), "old");
  EXPECT_EQ(ReadFile("k"), "new");
  Release(std::move(reader));
}

TEST_F(FilesTest, AFileThatWasNeverPublishedIsShownAsItGrows) {
  HandlePtr writer = Create("k");
  Write(*writer, 0, "abc");
  EXPECT_EQ(Stat("k").size, 3u);
  HandlePtr reader = Open("k", {}, kOther);
  EXPECT_EQ(Read(*reader), "abc");
  Write(*writer, 3, "def");
  EXPECT_EQ(Read(*reader), "abcdef");
  Close(std::move(writer));
  EXPECT_EQ(Read(*reader), "abcdef");
  Release(std::move(reader));
}

TEST_F(FilesTest, WritersOfOneMountShareTheFile) {
  WriteFile("k", "0000");
  HandlePtr a = Open("k", {.write = true});
  HandlePtr b = Open("k", {.write = true}, kOther);
  Write(*a, 0, "a");
  EXPECT_EQ(Read(*b), "a000");
  Write(*b, 3, "b");
  Close(std::move(a));
  Close(std::move(b), kOther);
  EXPECT_EQ(client_.ValueOf("k"), "a00b");
}

TEST_F(FilesTest, AReplacementElsewhereIsSeenByTheNextOpen) {
  client_.Store("k", "one");
  EXPECT_EQ(ReadFile("k"), "one");
  client_.Store("k", "two!");
  EXPECT_EQ(ReadFile("k"), "two!");
  EXPECT_EQ(Stat("k").size, 4u);
}

TEST_F(FilesTest, ARemovalElsewhereIsSeenByTheNextOpen) {
  client_.Store("k", "one");
  HandlePtr reader = Open("k");
  ASSERT_TRUE(client_.Remove("k", true, {}).ok());
  EXPECT_EQ(Open("k", {}, kOther), nullptr);
  EXPECT_EQ(errno_, ENOENT);
  EXPECT_EQ(Read(*reader), "one");
  Release(std::move(reader));
}

TEST_F(FilesTest, OpenSurvivesAReplacementBetweenLookupAndOpen) {
  client_.Store("k", "one");
  const InodePtr inode = Walk("k");
  client_.Store("k", "two");
  auto opened = fs_->files().Open(inode, {}, kCaller);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().value, ESTALE);  // the kernel looks up again …
  const InodePtr again = Walk("k");
  client_.Store("k", "three");  // … and it has changed again
  opened = fs_->files().Open(again, {}, kCaller);
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(Read(**opened), "three");
  Release(std::move(*opened));
}

TEST_F(FilesTest, TruncateByNameIsPublishedAtOnce) {
  WriteFile("k", "0123456789");
  AttributeChange change;
  change.size = 4;
  ASSERT_TRUE(fs_->files().SetAttributes(Walk("k"), change, nullptr, kCaller).ok());
  EXPECT_EQ(client_.ValueOf("k"), "0123");
  change.size = 6;
  ASSERT_TRUE(fs_->files().SetAttributes(Walk("k"), change, nullptr, kCaller).ok());
  EXPECT_EQ(client_.ValueOf("k"), std::string("0123\0\0", 6));
  change.size = 0;
  ASSERT_TRUE(fs_->files().SetAttributes(Walk("k"), change, nullptr, kCaller).ok());
  EXPECT_EQ(client_.ValueOf("k"), "");
}

TEST_F(FilesTest, TruncateByNameWorksBesideAnOpenReader) {
  WriteFile("k", "0123456789");
  HandlePtr reader = Open("k");
  AttributeChange change;
  change.size = 2;
  auto cut = fs_->files().SetAttributes(Walk("k"), change, nullptr, kCaller);
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().value, ESTALE);
  cut = fs_->files().SetAttributes(Walk("k"), change, nullptr, kCaller);  // as the kernel retries
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(client_.ValueOf("k"), "01");
  EXPECT_EQ(Read(*reader), "0123456789");
  Release(std::move(reader));
}

TEST_F(FilesTest, FtruncateUpAndDownLeavesZerosNotOldBytes) {
  HandlePtr handle = Create("k");
  Write(*handle, 0, "secret");
  AttributeChange change;
  change.size = 1;
  ASSERT_TRUE(fs_->files().SetAttributes(handle->inode, change, handle.get(), kCaller).ok());
  change.size = 4;
  ASSERT_TRUE(fs_->files().SetAttributes(handle->inode, change, handle.get(), kCaller).ok());
  Close(std::move(handle));
  EXPECT_EQ(client_.ValueOf("k"), std::string("s\0\0\0", 4));
}

TEST_F(FilesTest, AllocateOnlyChangesTheSize) {
  HandlePtr handle = Create("k");
  Write(*handle, 0, "abcdef");
  EXPECT_TRUE(fs_->files().Allocate(*handle, FALLOC_FL_KEEP_SIZE, 0, 100).ok());
  EXPECT_EQ(handle->slab->size(), 6u);
  EXPECT_TRUE(fs_->files().Allocate(*handle, 0, 0, 8).ok());
  EXPECT_EQ(handle->slab->size(), 8u);
  EXPECT_TRUE(
      fs_->files().Allocate(*handle, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 1, 2).ok());
  EXPECT_EQ(fs_->files().Allocate(*handle, FALLOC_FL_COLLAPSE_RANGE, 0, 4096).value, EOPNOTSUPP);
  Close(std::move(handle));
  EXPECT_EQ(client_.ValueOf("k"), std::string("a\0\0def\0\0", 8));
}

TEST_F(FilesTest, ChangingModeAndTimesNeedsNoDataTransfer) {
  WriteFile("k", "x");
  AttributeChange change;
  change.mode = 0400;
  change.uid = 5;
  change.mtime_ns = 7;
  ASSERT_TRUE(fs_->files().SetAttributes(Walk("k"), change, nullptr, kCaller).ok());
  EXPECT_EQ(client_.CallsOf("Put"), 1);
  EXPECT_EQ(client_.CallsOf("SetAttributes"), 1);
  const FileAttributes now = Stat("k");
  EXPECT_EQ(now.mode, 0400u);
  EXPECT_EQ(now.uid, 5u);
  EXPECT_EQ(now.mtime_ns, 7);
}

TEST_F(FilesTest, AccessTimesAreRememberedWithoutARequest) {
  WriteFile("k", "x");
  AttributeChange change;
  change.atime_ns = 3'000'000'000'000'000'000;
  ASSERT_TRUE(fs_->files().SetAttributes(Walk("k"), change, nullptr, kCaller).ok());
  EXPECT_EQ(client_.CallsOf("SetAttributes"), 0);
  EXPECT_EQ(Stat("k").atime_ns, 3'000'000'000'000'000'000);
}

TEST_F(FilesTest, ReadOnlyMountsRefuseEveryChange) {
  client_.Store("k", "x");
  Start({.read_only = true});
  EXPECT_EQ(Open("k", {.write = true}), nullptr);
  EXPECT_EQ(errno_, EROFS);
  EXPECT_EQ(Create("new"), nullptr);
  EXPECT_EQ(errno_, EROFS);
  EXPECT_EQ(ReadFile("k"), "x");
}

TEST_F(FilesTest, AFileLargerThanTheMemoryForWritingGoesToDisk) {
  Start({}, /*slab_bytes=*/1 << 16);
  const std::string block(1 << 15, 'b');
  HandlePtr handle = Create("k");
  for (int i = 0; i < 8; ++i)
    ASSERT_EQ(Write(*handle, static_cast<uint64_t>(i) * block.size(), block), 0);
  EXPECT_FALSE(handle->slab->in_memory());
  EXPECT_EQ(Close(std::move(handle)), 0);
  EXPECT_EQ(client_.ValueOf("k").size(), 8 * block.size());
}

TEST_F(FilesTest, AValueThatCannotBeCopiedMakesOpenFailNotWrite) {
  WriteFile("k", "x");
  client_.SetFault([](std::string_view operation, std::string_view) {
    return operation == "Read" ? Status(ErrorCode::kTransferFail, "") : Status::Ok();
  });
  EXPECT_EQ(Open("k", {.write = true}), nullptr);
  EXPECT_EQ(errno_, EIO);
}

TEST_F(FilesTest, AVersionThatIsGoneFromTheStoreReadsAsStale) {
  WriteFile("k", "x");
  HandlePtr reader = Open("k");
  for (const ErrorCode code :
       {ErrorCode::kLeaseExpired, ErrorCode::kObjectNotFound, ErrorCode::kReplicaIsGone}) {
    client_.SetFault([code](std::string_view operation, std::string_view) {
      return operation == "Read" ? Status(code, "") : Status::Ok();
    });
    Read(*reader);
    EXPECT_EQ(errno_, ESTALE) << code;
  }
  Release(std::move(reader));
}

TEST_F(FilesTest, NothingIsRememberedOnceTheKernelForgets) {
  WriteFile("k", "x");
  const InodePtr inode = Walk("k");
  const InodeId id = inode->id;
  fs_->names().Forget(id, inode->lookups);
  EXPECT_EQ(fs_->names().ById(id), nullptr);
  EXPECT_EQ(ReadFile("k"), "x");
}

}  // namespace
}  // namespace mooncake::fs

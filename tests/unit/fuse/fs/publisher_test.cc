// When a write becomes a value: the rules of close, dup, fork and death.
#include "fuse/fs/publisher.h"

#include "tests/unit/fuse/fs_fixture.h"

namespace mooncake::fs {
namespace {

using PublisherTest = testing::FsTest;

constexpr Caller kChild{.uid = 1000, .gid = 1000, .pid = 99};

TEST_F(PublisherTest, CloseMakesTheValueReadable) {
  HandlePtr handle = Create("k");
  EXPECT_EQ(Write(*handle, 0, "hello"), 0);
  EXPECT_FALSE(client_.Has("k"));
  EXPECT_EQ(Flush(*handle), 0);
  EXPECT_EQ(client_.ValueOf("k"), "hello");
  Release(std::move(handle));
  EXPECT_EQ(ReadFile("k"), "hello");
}

TEST_F(PublisherTest, CloseReportsTheStoresError) {
  client_.SetFault([](std::string_view operation, std::string_view) {
    return operation == "Put" ? Status(ErrorCode::kNoAvailableHandle, "full") : Status::Ok();
  });
  HandlePtr handle = Create("k");
  Write(*handle, 0, "hello");
  EXPECT_EQ(Close(std::move(handle)), ENOSPC);
  client_.SetFault(nullptr);
  EXPECT_FALSE(client_.Has("k"));
  EXPECT_EQ(Walk("k"), nullptr);  // and nothing is left of it in the mount
  EXPECT_EQ(errno_, ENOENT);
}

TEST_F(PublisherTest, AFailedRewriteLeavesTheOldValue) {
  WriteFile("k", "old");
  client_.SetFault([](std::string_view operation, std::string_view) {
    return operation == "Put" ? Status(ErrorCode::kTransferFail, "cut") : Status::Ok();
  });
  EXPECT_EQ(WriteFile("k", "newer"), EIO);
  client_.SetFault(nullptr);
  EXPECT_EQ(ReadFile("k"), "old");
  EXPECT_EQ(Stat("k").size, 3u);
}

TEST_F(PublisherTest, TheExitOfAForkedChildDoesNotPublish) {
  HandlePtr handle = Create("k");
  Write(*handle, 0, "aaaa");
  EXPECT_EQ(Flush(*handle, kChild), 0);
  EXPECT_FALSE(client_.Has("k"));
  Write(*handle, 4, "bbbb");
  EXPECT_EQ(Close(std::move(handle)), 0);
  EXPECT_EQ(client_.ValueOf("k"), "aaaabbbb");
}

TEST_F(PublisherTest, AChildPublishesOnceTheOpenerHasClosed) {
  HandlePtr handle = Create("k");
  EXPECT_EQ(Flush(*handle), 0);  // the parent lets go
  Write(*handle, 0, "by the child");
  EXPECT_EQ(Flush(*handle, kChild), 0);
  EXPECT_EQ(client_.ValueOf("k"), "by the child");
  Release(std::move(handle));
}

TEST_F(PublisherTest, AChildPublishesOnceTheOpenerIsDead) {
  HandlePtr handle = Create("k");
  Write(*handle, 0, "x");
  probe_->dead.insert(kCaller.pid);
  EXPECT_EQ(Flush(*handle, kChild), 0);
  EXPECT_EQ(client_.ValueOf("k"), "x");
  Release(std::move(handle));
}

TEST_F(PublisherTest, AThreadOfTheOpenerIsTheOpener) {
  probe_->processes[99] = kCaller.pid;
  HandlePtr handle = Create("k");
  Write(*handle, 0, "x");
  EXPECT_EQ(Flush(*handle, kChild), 0);
  EXPECT_EQ(client_.ValueOf("k"), "x");
  Release(std::move(handle));
}

TEST_F(PublisherTest, WhatWasDeferredIsPublishedByTheLastRelease) {
  HandlePtr handle = Create("k");
  Write(*handle, 0, "x");
  Flush(*handle, kChild);
  EXPECT_FALSE(client_.Has("k"));
  Release(std::move(handle));
  EXPECT_EQ(client_.ValueOf("k"), "x");
}

TEST_F(PublisherTest, DupThenCloseTwicePublishesTheWhole) {
  HandlePtr handle = Create("k");
  Write(*handle, 0, "one");
  EXPECT_EQ(Flush(*handle), 0);
  EXPECT_EQ(client_.ValueOf("k"), "one");
  Write(*handle, 3, "two");
  EXPECT_EQ(Close(std::move(handle)), 0);
  EXPECT_EQ(client_.ValueOf("k"), "onetwo");
}

TEST_F(PublisherTest, AnUnchangedFileIsNotPublishedAgain) {
  HandlePtr handle = Create("k");
  Write(*handle, 0, "one");
  Flush(*handle);
  Flush(*handle);
  EXPECT_EQ(Close(std::move(handle)), 0);
  EXPECT_EQ(client_.CallsOf("Put"), 1);
}

TEST_F(PublisherTest, AKilledWriterPublishesNothing) {
  HandlePtr handle = Create("k");
  Write(*handle, 0, "cut val");
  probe_->dying.insert(kCaller.pid);
  EXPECT_EQ(Close(std::move(handle)), 0);
  EXPECT_FALSE(client_.Has("k"));
  EXPECT_EQ(Walk("k"), nullptr);
}

TEST_F(PublisherTest, AKilledWriterLeavesTheOldValue) {
  WriteFile("k", "old");
  HandlePtr handle = Open("k", {.write = true, .truncate = true});
  Write(*handle, 0, "n");
  probe_->dying.insert(kCaller.pid);
  Close(std::move(handle));
  EXPECT_EQ(client_.ValueOf("k"), "old");
  EXPECT_EQ(ReadFile("k"), "old");
}

TEST_F(PublisherTest, AnEmptyFileIsPublishedByClose) {
  EXPECT_EQ(Close(Create("k")), 0);
  EXPECT_EQ(client_.ValueOf("k"), "");
}

TEST_F(PublisherTest, AShellRedirectionDoesNotPublishAnEmptyValueFirst) {
  client_.Store("k", "old");
  HandlePtr handle = Open("k", {.write = true, .truncate = true});
  probe_->holders.insert(kCaller.pid);  // open, dup2, close: descriptor 1 is still open
  EXPECT_EQ(Flush(*handle), 0);
  EXPECT_EQ(client_.ValueOf("k"), "old");
  Write(*handle, 0, "new");
  probe_->holders.clear();
  EXPECT_EQ(Close(std::move(handle)), 0);
  EXPECT_EQ(client_.ValueOf("k"), "new");
}

TEST_F(PublisherTest, ARemovedFileIsNotPublished) {
  HandlePtr handle = Create("k");
  Write(*handle, 0, "x");
  EXPECT_EQ(Unlink("k"), 0);
  EXPECT_EQ(Write(*handle, 1, "y"), 0);
  EXPECT_EQ(Read(*handle), "xy");
  EXPECT_EQ(Close(std::move(handle)), 0);
  EXPECT_FALSE(client_.Has("k"));
}

TEST_F(PublisherTest, ExclusiveCreationLosesToAnotherMount) {
  HandlePtr handle = Create("k", {.write = true, .exclusive = true});
  Write(*handle, 0, "mine");
  client_.Store("k", "theirs");
  EXPECT_EQ(Close(std::move(handle)), EEXIST);
  EXPECT_EQ(client_.ValueOf("k"), "theirs");
}

TEST_F(PublisherTest, OfTwoMountsTheLastCloseWins) {
  HandlePtr handle = Create("k");
  Write(*handle, 0, "mine");
  client_.Store("k", "theirs");
  EXPECT_EQ(Close(std::move(handle)), 0);
  EXPECT_EQ(client_.ValueOf("k"), "mine");
}

TEST_F(PublisherTest, FsyncPublishes) {
  HandlePtr handle = Create("k");
  Write(*handle, 0, "x");
  EXPECT_TRUE(fs_->files().Sync(*handle).ok());
  EXPECT_EQ(client_.ValueOf("k"), "x");
  Release(std::move(handle));
}

TEST_F(PublisherTest, AFailedWritePoisonsTheFile) {
  Start({}, /*slab_bytes=*/1 << 20);
  HandlePtr handle = Create("k");
  EXPECT_EQ(Write(*handle, 0, "good"), 0);
  EXPECT_EQ(Write(*handle, kMaxObjectBytes, "far"),
            EFBIG);  // refused before anything happens: not poisoned
  EXPECT_EQ(Write(*handle, 4, "more"), 0);
  handle->inode->write_errno = EIO;  // as a full disk leaves it
  EXPECT_EQ(Write(*handle, 8, "after"), EIO);
  EXPECT_EQ(Close(std::move(handle)), EIO);
  EXPECT_FALSE(client_.Has("k"));
}

TEST_F(PublisherTest, AttributesAreStoredWithTheValue) {
  HandlePtr handle = Create("k");
  Write(*handle, 0, "x");
  AttributeChange change;
  change.mode = 0600;
  change.mtime_ns = 1'500'000'000'123'456'789;
  ASSERT_TRUE(fs_->files().SetAttributes(handle->inode, change, handle.get(), kCaller).ok());
  EXPECT_EQ(Close(std::move(handle)), 0);
  EXPECT_EQ(Stat("k").mode, 0600u);
  EXPECT_EQ(Stat("k").uid, 1000u);
  EXPECT_EQ(Stat("k").mtime_ns, 1'500'000'000'123'456'789);
  const auto stored = client_.Stat("k", {});
  ASSERT_TRUE(stored.ok());
  EXPECT_EQ(stored->attributes->mode, 0600u);
}

}  // namespace
}  // namespace mooncake::fs

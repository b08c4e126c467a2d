// Which open files the kernel is given to serve by itself, and from what.
#include "tests/unit/fuse/fs_fixture.h"

namespace mooncake::fs {
namespace {

class FakeKernel final : public BackingFiles {
 public:
  uint32_t Register(int) override {
    if (refuses) return 0;
    ++live;
    return ++last;
  }
  void Unregister(uint32_t) override { --live; }
  bool refuses = false;
  int live = 0;
  uint32_t last = 0;
};

class PassthroughTest : public testing::FsTest {
 protected:
  void SetUp() override {
    Start({.fetch_least = 10, .fetch_most = 1000});
    fs_->SetBacking(&kernel_);
  }
  void TearDown() override { fs_.reset(); }
  FakeKernel kernel_;
};

TEST_F(PassthroughTest, AValueIsFetchedWholeAndItsSlabIsExactlyAsLong) {
  client_.Store("k", std::string(500, 'x'));
  HandlePtr handle = Open("k");
  ASSERT_NE(handle->backed, nullptr);
  EXPECT_EQ(handle->backed->slab()->size(), 500u);
  EXPECT_EQ(handle->reader, nullptr);                   // no lease is held for it
  EXPECT_EQ(Read(*handle, 490), std::string(10, 'x'));  // the kernel may ask all the same
  Release(std::move(handle));
  EXPECT_EQ(kernel_.live, 0);
}

TEST_F(PassthroughTest, TheSecondOpenFetchesNothing) {
  client_.Store("k", std::string(500, 'x'));
  Release(Open("k"));
  const int reads = client_.CallsOf("Read");
  HandlePtr handle = Open("k");
  EXPECT_NE(handle->backed, nullptr);
  EXPECT_EQ(client_.CallsOf("Read"), reads);
  Release(std::move(handle));
}

TEST_F(PassthroughTest, OpenFilesOfOneInodeShareOneBackingFile) {
  client_.Store("k", std::string(500, 'x'));
  HandlePtr a = Open("k"), b = Open("k", {}, kOther);
  EXPECT_EQ(a->backed, b->backed);
  EXPECT_EQ(kernel_.live, 1);
  Release(std::move(a));
  EXPECT_EQ(kernel_.live, 1);
  Release(std::move(b));
  EXPECT_EQ(kernel_.live, 0);
}

TEST_F(PassthroughTest, SmallAndLargeValuesAreReadDirectly) {
  client_.Store("small", "x");
  client_.Store("large", std::string(2000, 'x'));
  client_.Store("empty", "");
  for (const char* key : {"small", "large", "empty"}) {
    HandlePtr handle = Open(key);
    EXPECT_EQ(handle->backed, nullptr) << key;
    Release(std::move(handle));
  }
}

TEST_F(PassthroughTest, AnOlderVersionIsNeverServedForANewerOne) {
  client_.Store("k", std::string(500, 'x'));
  Release(Open("k"));
  client_.Store("k", std::string(400, 'y'));
  HandlePtr handle = Open("k");
  ASSERT_NE(handle->backed, nullptr);
  EXPECT_EQ(Read(*handle), std::string(400, 'y'));
  Release(std::move(handle));
}

TEST_F(PassthroughTest, WhatWasWrittenIsServedWithoutAFetch) {
  WriteFile("k", std::string(2000, 'w'));  // larger than what is fetched
  HandlePtr handle = Open("k");
  ASSERT_NE(handle->backed, nullptr);
  EXPECT_EQ(client_.CallsOf("Read"), 0);
  EXPECT_EQ(Read(*handle), std::string(2000, 'w'));
  Release(std::move(handle));
}

// Else a mount that writes and removes goes on to fresh memory until its cache is full.
TEST_F(PassthroughTest, AValueThatLosesItsNameGivesItsMemoryBack) {
  const auto cached = [&] { return fs_->state().cache.bytes(); };
  WriteFile("k", std::string(500, '1'));
  EXPECT_EQ(cached(), 500u);
  WriteFile("k", std::string(600, '2'));
  EXPECT_EQ(cached(), 600u);
  WriteFile("l", std::string(700, '3'));
  ASSERT_TRUE(fs_->names().Rename(Parent("l"), "l", Parent("k"), "k", false).ok());
  EXPECT_EQ(cached(), 700u);
  EXPECT_EQ(ReadFile("k"), std::string(700, '3'));
  HandlePtr reader = Open("k");
  ASSERT_TRUE(fs_->names().Unlink(Parent("k"), "k").ok());
  EXPECT_EQ(cached(), 0u);
  EXPECT_EQ(Read(*reader), std::string(700, '3'));
  Release(std::move(reader));
}

TEST_F(PassthroughTest, WhatWasNotPublishedIsNotServed) {
  WriteFile("k", std::string(500, 'o'));
  HandlePtr writer = Open("k", {.write = true});
  Write(*writer, 0, "new");
  probe_->dying.insert(kCaller.pid);
  Close(std::move(writer));
  EXPECT_EQ(ReadFile("k"), std::string(500, 'o'));
}

TEST_F(PassthroughTest, AWriterNeverChangesWhatAReaderWasGiven) {
  client_.Store("k", std::string(500, 'x'));
  HandlePtr reader = Open("k");
  HandlePtr writer = Open("k", {.write = true});
  ASSERT_NE(writer, nullptr);
  EXPECT_NE(writer->slab, reader->slab);
  Write(*writer, 0, "new");
  EXPECT_EQ(Read(*reader), std::string(500, 'x'));
  Close(std::move(writer));
  EXPECT_EQ(Read(*reader), std::string(500, 'x'));
  Release(std::move(reader));
}

TEST_F(PassthroughTest, AWriterAloneTakesTheCachedBytesAsItsCopy) {
  client_.Store("k", std::string(500, 'x'));
  Release(Open("k"));
  const int reads = client_.CallsOf("Read");
  HandlePtr writer = Open("k", {.write = true});
  EXPECT_EQ(client_.CallsOf("Read"), reads);
  Write(*writer, 0, "new");
  Close(std::move(writer));
  EXPECT_EQ(ReadFile("k"), "new" + std::string(497, 'x'));
}

TEST_F(PassthroughTest, WhileAHandleIsOpenWithoutItNoneIsOpenedWithIt) {
  HandlePtr writer = Create("k");
  Write(*writer, 0, std::string(500, 'w'));
  HandlePtr live = Open("k", {}, kOther);  // reads from the slab as it grows
  Close(std::move(writer));
  HandlePtr second = Open("k");
  EXPECT_EQ(second->backed, nullptr);
  Release(std::move(live));
  Release(std::move(second));
  HandlePtr third = Open("k");
  EXPECT_NE(third->backed, nullptr);
  Release(std::move(third));
}

TEST_F(PassthroughTest, AKernelThatRefusesIsNotAskedAgain) {
  kernel_.refuses = true;
  client_.Store("k", std::string(500, 'x'));
  EXPECT_EQ(ReadFile("k"), std::string(500, 'x'));
  kernel_.refuses = false;
  HandlePtr handle = Open("k");
  EXPECT_EQ(handle->backed, nullptr);
  Release(std::move(handle));
}

TEST_F(PassthroughTest, WithoutMemoryForItFilesAreReadDirectly) {
  Start({.fetch_least = 10, .fetch_most = 1000}, /*slab_bytes=*/100);
  fs_->SetBacking(&kernel_);
  client_.Store("k", std::string(500, 'x'));
  HandlePtr handle = Open("k");
  EXPECT_EQ(handle->backed, nullptr);
  EXPECT_EQ(Read(*handle), std::string(500, 'x'));
  Release(std::move(handle));
}

TEST_F(PassthroughTest, AFailedFetchLeavesTheErrorToTheRead) {
  client_.Store("k", std::string(500, 'x'));
  client_.SetFault([](std::string_view operation, std::string_view) {
    return operation == "Read" ? Status(ErrorCode::kTransferFail, "") : Status::Ok();
  });
  HandlePtr handle = Open("k");
  ASSERT_NE(handle, nullptr);
  Read(*handle);
  EXPECT_EQ(errno_, EIO);
  Release(std::move(handle));
}

}  // namespace
}  // namespace mooncake::fs

#include "master/ha/log_writer.h"

#include <atomic>

#include <gtest/gtest.h>

#include "tests/support/wait.h"
#include "tests/unit/master/ha/ha_fixture.h"

namespace mooncake {
namespace {

using testing::Gone;
using testing::Numbered;

class LogWriterTest : public ::testing::Test {
 protected:
  LogWriterTest() {
    options_.retry_every = Millis(1);
    options_.max_waiting = 3;
  }
  LogWriter& Make() {
    writer_ = std::make_unique<LogWriter>(store_, SystemClock(), options_, 0,
                                          [this](uint64_t up) { durable_ = up; });
    writer_->Start();
    return *writer_;
  }
  static TimePoint In(Duration d) { return SystemClock().Now() + d; }

  LogWriterOptions options_;
  std::atomic<uint64_t> durable_{0};
  std::shared_ptr<testing::MemoryDisk> disk_ = std::make_shared<testing::MemoryDisk>();
  testing::MemoryStateStore store_{disk_};
  std::unique_ptr<LogWriter> writer_;
};

TEST_F(LogWriterTest, WhoWaitsIsLetGoWhenTheRecordIsInTheStore) {
  LogWriter& log = Make();
  log.Submit(Numbered(1, {Gone(1), Gone(2)}));
  EXPECT_EQ(log.Await(2, In(Seconds(30))), Status::Ok());
  EXPECT_EQ(durable_.load(), 2u) << "told before those who wait are let go";
  MutexLock lock(disk_->mutex);
  EXPECT_EQ(disk_->log.size(), 2u);
}

TEST_F(LogWriterTest, AWaitHasAnEndAndNamesTheTrouble) {
  LogWriter& log = Make();
  disk_->SetFull(true);
  log.Submit(Numbered(1, {Gone(1)}));
  ASSERT_TRUE(testing::Eventually([&] { return log.numbers().failures > 0; }));
  const Status status = log.Await(1, In(Millis(20)));
  EXPECT_EQ(status.code(), ErrorCode::kRpcTimeout);
  EXPECT_NE(status.message().find("no space left"), std::string::npos) << status.message();
}

TEST_F(LogWriterTest, WhatFailedIsWrittenWhenTheStorageWorksAgain) {
  LogWriter& log = Make();
  disk_->SetFull(true);
  log.Submit(Numbered(1, {Gone(1)}));
  log.Submit(Numbered(2, {Gone(2), Gone(3)}));
  ASSERT_TRUE(testing::Eventually([&] { return log.numbers().failures > 2; }));
  EXPECT_EQ(durable_.load(), 0u);
  disk_->SetFull(false);
  EXPECT_EQ(log.Await(3, In(Seconds(30))), Status::Ok());
  EXPECT_EQ(log.numbers().trouble, "");
  MutexLock lock(disk_->mutex);
  EXPECT_EQ(disk_->log.size(), 3u);
}

TEST_F(LogWriterTest, SaysSoWhenTooMuchIsWaiting) {
  LogWriter& log = Make();
  disk_->SetFull(true);
  log.Submit(Numbered(1, {Gone(1)}));
  ASSERT_TRUE(testing::Eventually([&] { return log.numbers().failures > 0; }));
  EXPECT_FALSE(log.full());
  log.Submit(Numbered(2, {Gone(2), Gone(3), Gone(4)}));
  EXPECT_TRUE(log.full());
  disk_->SetFull(false);
  ASSERT_EQ(log.Await(4, In(Seconds(30))), Status::Ok());
  EXPECT_FALSE(log.full());
}

TEST_F(LogWriterTest, StopWritesWhatIsWaiting) {
  LogWriter& log = Make();
  for (uint64_t i = 1; i <= 100; ++i) log.Submit(Numbered(i, {Gone(i)}));
  EXPECT_TRUE(log.Stop(Seconds(30)));
  EXPECT_EQ(durable_.load(), 100u);
}

TEST_F(LogWriterTest, StopDoesNotWaitForAStorageThatFails) {
  LogWriter& log = Make();
  disk_->SetFull(true);
  log.Submit(Numbered(1, {Gone(1)}));
  EXPECT_TRUE(log.Stop(Seconds(30)));
  EXPECT_EQ(log.Await(1, In(Seconds(30))).code(), ErrorCode::kRpcTimeout) << "and nobody hangs";
}

}  // namespace
}  // namespace mooncake

#include "transfer/base/executor.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "transfer/base/mutex.h"

namespace mooncake {
namespace {

// Blocks who waits until Open().
class Gate {
 public:
  void Open() {
    MutexLock lock(mutex_);
    open_ = true;
    changed_.NotifyAll();
  }
  void Wait() {
    MutexLock lock(mutex_);
    while (!open_) changed_.Wait(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  bool open_ MC_GUARDED_BY(mutex_) = false;
};

TEST(ThreadPool, FinishesWhatWasQueuedBeforeItEnds) {
  std::atomic<int> done{0};
  {
    auto pool = MakeThreadPool("test", 3);
    for (int i = 0; i < 1000; ++i) pool->Run([&done] { ++done; });
  }
  EXPECT_EQ(done.load(), 1000);
}

TEST(ThreadPool, RunsWorkInParallel) {
  Gate gate;
  std::atomic<bool> waiter_done{false};
  {
    auto pool = MakeThreadPool("test", 2);
    pool->Run([&] {
      gate.Wait();
      waiter_done = true;
    });
    pool->Run([&] { gate.Open(); });  // would never run behind the waiter on one thread
  }
  EXPECT_TRUE(waiter_done);
}

TEST(ThreadPool, AFullQueueMakesTheCallerDoTheWork) {
  Gate gate;
  Gate started;
  auto pool = MakeThreadPool("test", 1, /*max_queued=*/1);
  pool->Run([&] {
    started.Open();
    gate.Wait();
  });
  started.Wait();
  pool->Run([] {});  // fills the queue
  std::thread::id ran_on;
  pool->Run([&ran_on] { ran_on = std::this_thread::get_id(); });
  EXPECT_EQ(ran_on, std::this_thread::get_id());
  gate.Open();
}

}  // namespace
}  // namespace mooncake

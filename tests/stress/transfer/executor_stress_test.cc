// The thread pool under many callers: nothing is lost, nothing runs twice, and ThreadSanitizer has nothing to say.
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "transfer/base/executor.h"

namespace mooncake {
namespace {

constexpr int kCallers = 4;
constexpr int kRunsEach = 2000;

TEST(ExecutorStress, RunsAllWorkOfManyCallersOnceEvenWhenTheQueueIsFull) {
  // Each element is written by the one piece of work that owns it; the pool's end publishes it.
  std::vector<int> runs(kCallers * kRunsEach, 0);
  {
    const auto pool = MakeThreadPool("stress", /*threads=*/3, /*max_queued=*/8);
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < kCallers; ++caller) {
      callers.emplace_back([&, caller] {
        for (int i = 0; i < kRunsEach; ++i) {
          int* mine = &runs[static_cast<size_t>(caller * kRunsEach + i)];
          pool->Run([mine] { ++*mine; });
        }
      });
    }
  }
  EXPECT_EQ(runs, std::vector<int>(runs.size(), 1));
}

}  // namespace
}  // namespace mooncake

#include "transfer/base/executor.h"

#include <pthread.h>

#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "transfer/base/mutex.h"

namespace mooncake {
namespace {

class ThreadPool final : public Executor {
 public:
  ThreadPool(std::string name, int threads, size_t max_queued) : max_queued_(max_queued) {
    const std::string shown = name.substr(0, 15);
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this, shown] {
        pthread_setname_np(pthread_self(), shown.c_str());
        Loop();
      });
    }
  }

  ~ThreadPool() override {
    {
      MutexLock lock(mutex_);
      stopping_ = true;
    }
    wake_.NotifyAll();
    for (std::thread& thread : threads_) thread.join();
  }

  void Run(std::function<void()> work) override {
    {
      MutexLock lock(mutex_);
      if (queue_.size() < max_queued_) {
        queue_.push_back(std::move(work));
        work = nullptr;
      }
    }
    if (work) {
      work();
    } else {
      wake_.NotifyOne();
    }
  }

 private:
  void Loop() {
    while (true) {
      std::function<void()> work;
      {
        MutexLock lock(mutex_);
        while (queue_.empty() && !stopping_) wake_.Wait(mutex_);
        if (queue_.empty()) return;
        work = std::move(queue_.front());
        queue_.pop_front();
      }
      work();
    }
  }

  const size_t max_queued_;
  Mutex mutex_;
  CondVar wake_;
  std::deque<std::function<void()>> queue_ MC_GUARDED_BY(mutex_);
  bool stopping_ MC_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace

std::unique_ptr<Executor> MakeThreadPool(std::string name, int threads, size_t max_queued) {
  return std::make_unique<ThreadPool>(std::move(name), threads, max_queued);
}

}  // namespace mooncake

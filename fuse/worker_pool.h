// The threads that take requests from the kernel. Few while they are enough, more when all of them wait.
#pragma once

#include <pthread.h>

#include <atomic>
#include <vector>

#include "transfer/base/mutex.h"

struct fuse_session;

namespace mooncake::fs {

// libfuse's own loop ends threads that were idle for a moment and starts them again; this one only grows, and only
// after all threads were busy for a while, because for short requests fewer threads are faster.
class WorkerPool {
 public:
  WorkerPool(fuse_session* session, int fewest, int most)
      : session_(session), fewest_(fewest), most_(most) {}

  // Serves until the file system is unmounted or Stop() is called. Returns 0, or an errno if the line broke.
  int Run();
  // From any thread; requests that are being handled are finished first.
  void Stop();

 private:
  static void* ThreadMain(void* self);
  void Serve();
  bool StartThread() MC_REQUIRES(mutex_);

  fuse_session* const session_;
  const int fewest_;
  const int most_;
  std::atomic<int> idle_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<int> error_{0};
  Mutex mutex_;
  CondVar changed_;
  std::vector<pthread_t> threads_ MC_GUARDED_BY(mutex_);
  int running_ MC_GUARDED_BY(mutex_) = 0;
};

}  // namespace mooncake::fs

#include "fuse/worker_pool.h"

#include <signal.h>

#include <cerrno>
#include <cstdlib>

#include "fuse/ops/operations.h"

namespace mooncake::fs {
namespace {

// Wakes a thread out of the read of the next request. Without effect otherwise.
constexpr int kWakeSignal = SIGUSR2;
// All threads have to be busy for so long before another one is started.
constexpr Duration kPatience = Millis(5);
constexpr Duration kLookEvery = Millis(200);

void NoteNothing(int) {}

}  // namespace

void* WorkerPool::ThreadMain(void* self) {
  pthread_setname_np(pthread_self(), "mc-fuse");
  sigset_t wake;
  sigemptyset(&wake);
  sigaddset(&wake, kWakeSignal);
  pthread_sigmask(SIG_UNBLOCK, &wake, nullptr);
  static_cast<WorkerPool*>(self)->Serve();
  return nullptr;
}

void WorkerPool::Serve() {
  fuse_buf buffer{};
  while (!stopping_.load(std::memory_order_acquire) && fuse_session_exited(session_) == 0) {
    idle_.fetch_add(1, std::memory_order_relaxed);
    const int received = fuse_session_receive_buf(session_, &buffer);
    if (idle_.fetch_sub(1, std::memory_order_relaxed) == 1) changed_.NotifyOne();
    if (received == -EINTR) continue;
    if (received <= 0) {
      if (received < 0) error_.store(-received, std::memory_order_relaxed);
      break;
    }
    fuse_session_process_buf(session_, &buffer);
  }
  std::free(buffer.mem);
  stopping_.store(true, std::memory_order_release);
  MutexLock lock(mutex_);
  --running_;
  changed_.NotifyAll();
}

bool WorkerPool::StartThread() {
  pthread_t thread;
  ++running_;
  if (pthread_create(&thread, nullptr, ThreadMain, this) != 0) {
    --running_;
    return false;
  }
  threads_.push_back(thread);
  return true;
}

int WorkerPool::Run() {
  struct sigaction action {};
  action.sa_handler = NoteNothing;  // without SA_RESTART: the read returns EINTR
  sigaction(kWakeSignal, &action, nullptr);
  std::vector<pthread_t> threads;
  {
    MutexLock lock(mutex_);
    for (int i = 0; i < fewest_; ++i) {
      if (!StartThread() && i == 0) return EAGAIN;
    }
    while (running_ > 0) {
      if (stopping_.load(std::memory_order_acquire)) {
        // Again and again: a signal that comes between the test and the read is lost.
        for (const pthread_t thread : threads_) pthread_kill(thread, kWakeSignal);
        changed_.WaitFor(mutex_, kPatience);
        continue;
      }
      changed_.WaitFor(mutex_, kLookEvery);
      if (idle_.load(std::memory_order_relaxed) > 0 || running_ >= most_) continue;
      changed_.WaitFor(mutex_, kPatience);
      const bool all_busy = idle_.load(std::memory_order_relaxed) == 0;
      if (all_busy && !stopping_.load(std::memory_order_acquire)) StartThread();
    }
    threads.swap(threads_);
  }
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  return error_.load(std::memory_order_relaxed);
}

void WorkerPool::Stop() {
  stopping_.store(true, std::memory_order_release);
  MutexLock lock(mutex_);
  changed_.NotifyAll();
}

}  // namespace mooncake::fs

// The only mutex of the code base: std::mutex with the annotations that clang's thread-safety
// analysis needs. The analysis cannot see std::mutex itself.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>

#include "transfer/base/time.h"

#if defined(__clang__)
#define MC_TSA(x) __attribute__((x))
#else
#define MC_TSA(x)
#endif

#define MC_CAPABILITY(x) MC_TSA(capability(x))
#define MC_SCOPED_CAPABILITY MC_TSA(scoped_lockable)
#define MC_GUARDED_BY(x) MC_TSA(guarded_by(x))
#define MC_PT_GUARDED_BY(x) MC_TSA(pt_guarded_by(x))
#define MC_REQUIRES(...) MC_TSA(requires_capability(__VA_ARGS__))
#define MC_REQUIRES_SHARED(...) MC_TSA(requires_shared_capability(__VA_ARGS__))
#define MC_ACQUIRE(...) MC_TSA(acquire_capability(__VA_ARGS__))
#define MC_ACQUIRE_SHARED(...) MC_TSA(acquire_shared_capability(__VA_ARGS__))
#define MC_RELEASE(...) MC_TSA(release_capability(__VA_ARGS__))
#define MC_RELEASE_GENERIC(...) MC_TSA(release_generic_capability(__VA_ARGS__))
#define MC_TRY_ACQUIRE(...) MC_TSA(try_acquire_capability(__VA_ARGS__))
#define MC_EXCLUDES(...) MC_TSA(locks_excluded(__VA_ARGS__))
// The caller knows that it holds x by another name.
#define MC_ASSERT_CAPABILITY(x) MC_TSA(assert_capability(x))
#define MC_RETURN_CAPABILITY(x) MC_TSA(lock_returned(x))
#define MC_NO_THREAD_SAFETY_ANALYSIS MC_TSA(no_thread_safety_analysis)

namespace mooncake {

class MC_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() MC_ACQUIRE() { mutex_.lock(); }
  void Unlock() MC_RELEASE() { mutex_.unlock(); }
  bool TryLock() MC_TRY_ACQUIRE(true) { return mutex_.try_lock(); }

 private:
  friend class CondVar;
  std::mutex mutex_;
};

class MC_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) MC_ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() MC_RELEASE() { mutex_.Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// Many readers or one writer.
class MC_CAPABILITY("shared mutex") SharedMutex {
 public:
  SharedMutex() = default;
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  void Lock() MC_ACQUIRE() { mutex_.lock(); }
  void Unlock() MC_RELEASE() { mutex_.unlock(); }
  void LockShared() MC_ACQUIRE_SHARED() { mutex_.lock_shared(); }
  void UnlockShared() MC_RELEASE_GENERIC() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

class MC_SCOPED_CAPABILITY WriterLock {
 public:
  explicit WriterLock(SharedMutex& mutex) MC_ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~WriterLock() MC_RELEASE() { mutex_.Unlock(); }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  SharedMutex& mutex_;
};

class MC_SCOPED_CAPABILITY ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mutex) MC_ACQUIRE_SHARED(mutex) : mutex_(mutex) {
    mutex_.LockShared();
  }
  ~ReaderLock() MC_RELEASE_GENERIC() { mutex_.UnlockShared(); }
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  SharedMutex& mutex_;
};

// Waits with the mutex held; spurious wake-ups happen, so loop on the condition.
class CondVar {
 public:
  void Wait(Mutex& mutex) MC_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    cv_.wait(lock);
    lock.release();
  }
  // False when `timeout` passed without a notification.
  bool WaitFor(Mutex& mutex, Duration timeout) MC_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    const bool notified = cv_.wait_for(lock, timeout) == std::cv_status::no_timeout;
    lock.release();
    return notified;
  }
  void NotifyOne() { cv_.notify_one(); }
  void NotifyAll() { cv_.notify_all(); }

 private:
  std::condition_variable cv_;
};

}  // namespace mooncake

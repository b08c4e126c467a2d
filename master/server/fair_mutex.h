// A mutex that long work can give back and take again without shutting everybody else out.
#pragma once

#include "transfer/base/mutex.h"

namespace mooncake {

// std::mutex may be taken again by the thread that has just released it while others are still waking up. Here whoever could not have
// it at once waits at a gate, one behind the other, and long work always goes through the gate: between two
// slices at least one waiter gets in. Short work tries without the gate first, one atomic operation.
// Lock order: gate_, then mutex_; nothing is done between the two.
class MC_CAPABILITY("mutex") FairMutex {
 public:
  FairMutex() = default;
  FairMutex(const FairMutex&) = delete;
  FairMutex& operator=(const FairMutex&) = delete;

  void Lock() MC_ACQUIRE() MC_NO_THREAD_SAFETY_ANALYSIS {
    if (!mutex_.TryLock()) LockPatiently();
  }
  // For work that comes in slices.
  void LockPatiently() MC_ACQUIRE() MC_NO_THREAD_SAFETY_ANALYSIS {
    MutexLock gate(gate_);
    mutex_.Lock();
  }
  void Unlock() MC_RELEASE() MC_NO_THREAD_SAFETY_ANALYSIS { mutex_.Unlock(); }

 private:
  Mutex gate_;
  Mutex mutex_;
};

class MC_SCOPED_CAPABILITY FairLock {
 public:
  explicit FairLock(FairMutex& mutex) MC_ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~FairLock() MC_RELEASE() { mutex_.Unlock(); }
  FairLock(const FairLock&) = delete;
  FairLock& operator=(const FairLock&) = delete;

 private:
  FairMutex& mutex_;
};

class MC_SCOPED_CAPABILITY SliceLock {
 public:
  explicit SliceLock(FairMutex& mutex) MC_ACQUIRE(mutex) : mutex_(mutex) { mutex_.LockPatiently(); }
  ~SliceLock() MC_RELEASE() { mutex_.Unlock(); }
  SliceLock(const SliceLock&) = delete;
  SliceLock& operator=(const SliceLock&) = delete;

 private:
  FairMutex& mutex_;
};

}  // namespace mooncake

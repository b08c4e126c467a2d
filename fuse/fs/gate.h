// Many users or one owner, with a bound on the wait: a reader-writer lock that may be held while calling out.
#pragma once

#include "transfer/base/clock.h"
#include "transfer/base/mutex.h"

namespace mooncake::fs {

// A waiting owner keeps new users out, so it is not starved. Not recursive.
class Gate {
 public:
  // False when `deadline` passed first.
  bool EnterShared(const Clock& clock, TimePoint deadline) MC_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (owned_ || owners_waiting_ > 0) {
      if (!WaitUntil(clock, deadline)) return false;
    }
    ++users_;
    return true;
  }
  void LeaveShared() MC_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (--users_ == 0) changed_.NotifyAll();
  }
  bool EnterExclusive(const Clock& clock, TimePoint deadline) MC_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    ++owners_waiting_;
    while (owned_ || users_ > 0) {
      if (!WaitUntil(clock, deadline)) {
        --owners_waiting_;
        changed_.NotifyAll();
        return false;
      }
    }
    --owners_waiting_;
    owned_ = true;
    return true;
  }
  void LeaveExclusive() MC_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    owned_ = false;
    changed_.NotifyAll();
  }

 private:
  bool WaitUntil(const Clock& clock, TimePoint deadline) MC_REQUIRES(mutex_) {
    const TimePoint now = clock.Now();
    if (now >= deadline) return false;
    changed_.WaitFor(mutex_, deadline - now);
    return true;
  }

  Mutex mutex_;
  CondVar changed_;
  int users_ MC_GUARDED_BY(mutex_) = 0;
  int owners_waiting_ MC_GUARDED_BY(mutex_) = 0;
  bool owned_ MC_GUARDED_BY(mutex_) = false;
};

// Leaves at the end of the scope if it got in.
class SharedPass {
 public:
  SharedPass(Gate& gate, const Clock& clock, TimePoint deadline)
      : gate_(gate), entered_(gate.EnterShared(clock, deadline)) {}
  ~SharedPass() {
    if (entered_) gate_.LeaveShared();
  }
  SharedPass(const SharedPass&) = delete;
  SharedPass& operator=(const SharedPass&) = delete;
  bool entered() const { return entered_; }

 private:
  Gate& gate_;
  const bool entered_;
};

class ExclusivePass {
 public:
  ExclusivePass(Gate& gate, const Clock& clock, TimePoint deadline)
      : gate_(gate), entered_(gate.EnterExclusive(clock, deadline)) {}
  ~ExclusivePass() {
    if (entered_) gate_.LeaveExclusive();
  }
  ExclusivePass(const ExclusivePass&) = delete;
  ExclusivePass& operator=(const ExclusivePass&) = delete;
  bool entered() const { return entered_; }

 private:
  Gate& gate_;
  const bool entered_;
};

}  // namespace mooncake::fs

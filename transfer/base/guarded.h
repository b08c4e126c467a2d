// A value that can be reached only with its mutex held.
#pragma once

#include <utility>

#include "transfer/base/mutex.h"

namespace mooncake {

template <typename T>
class Guarded {
 public:
  Guarded() = default;
  explicit Guarded(T value) : value_(std::move(value)) {}

  // Runs `f(T&)` under the lock and returns its result (by value). `f` must not call out.
  template <typename F>
  auto With(F&& f) MC_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return std::forward<F>(f)(value_);
  }
  template <typename F>
  auto With(F&& f) const MC_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return std::forward<F>(f)(value_);
  }

 private:
  mutable Mutex mutex_;
  T value_ MC_GUARDED_BY(mutex_);
};

}  // namespace mooncake

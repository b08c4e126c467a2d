// A clock that moves only when told to: for tests and the simulator.
#pragma once

#include <atomic>

#include "transfer/base/clock.h"

namespace mooncake {

// Thread-safe.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(TimePoint start = TimePoint(Seconds(1000)))
      : now_ns_(start.time_since_epoch().count()) {}

  TimePoint Now() const override { return TimePoint(Duration(now_ns_.load())); }
  WallTime WallNow() const override { return WallTime{now_ns_.load()}; }

  void Advance(Duration d) { now_ns_.fetch_add(d.count()); }

 private:
  std::atomic<int64_t> now_ns_;
};

}  // namespace mooncake

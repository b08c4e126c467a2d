// Port for time: shells own a Clock, cores get its reading as an argument.
#pragma once

#include "transfer/base/time.h"

namespace mooncake {

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint Now() const = 0;     // CLOCK_MONOTONIC in the real one
  virtual WallTime WallNow() const = 0;  // CLOCK_REALTIME in the real one
};

// The operating system's clocks. Stateless; the returned object lives for ever.
const Clock& SystemClock();

}  // namespace mooncake

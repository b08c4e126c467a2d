// Time as values. Only `SystemClock` (clock.h) reads the operating system's clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace mooncake {

using Duration = std::chrono::nanoseconds;

// Monotonic time with an unspecified origin: comparable only within one process (or one master term).
struct MonotonicTag {
  using rep = Duration::rep;
  using period = Duration::period;
  using duration = Duration;
  using time_point = std::chrono::time_point<MonotonicTag, Duration>;
  static constexpr bool is_steady = true;
};
using TimePoint = std::chrono::time_point<MonotonicTag, Duration>;

// Nanoseconds since 1970-01-01 UTC: for showing to people and for mtime, never for decisions.
struct WallTime {
  int64_t ns = 0;
  friend auto operator<=>(const WallTime&, const WallTime&) = default;
};

inline constexpr TimePoint kNever = TimePoint::max();

constexpr Duration Millis(int64_t n) { return std::chrono::milliseconds(n); }
constexpr Duration Seconds(int64_t n) { return std::chrono::seconds(n); }
constexpr int64_t ToMillis(Duration d) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
}

// `t + d`, saturating at kNever, so that "for ever" can be added to.
constexpr TimePoint SaturatingAdd(TimePoint t, Duration d) {
  if (d > Duration::zero() && t > kNever - d) return kNever;
  return t + d;
}

}  // namespace mooncake

#include "transfer/base/clock.h"

#include <ctime>

namespace mooncake {
namespace {

int64_t Read(clockid_t id) {
  timespec ts{};
  clock_gettime(id, &ts);
  return static_cast<int64_t>(ts.tv_sec) * 1'000'000'000 + ts.tv_nsec;
}

class OsClock final : public Clock {
 public:
  TimePoint Now() const override { return TimePoint(Duration(Read(CLOCK_MONOTONIC))); }
  WallTime WallNow() const override { return WallTime{Read(CLOCK_REALTIME)}; }
};

}  // namespace

const Clock& SystemClock() {
  static const OsClock clock;
  return clock;
}

}  // namespace mooncake

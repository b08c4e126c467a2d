#include "tests/support/wait.h"

#include <thread>

#include "transfer/base/clock.h"

namespace mooncake::testing {

bool Eventually(const std::function<bool()>& condition, Duration limit) {
  const TimePoint end = SystemClock().Now() + limit;
  while (!condition()) {
    if (SystemClock().Now() >= end) return false;
    std::this_thread::sleep_for(Millis(1));
  }
  return true;
}

}  // namespace mooncake::testing

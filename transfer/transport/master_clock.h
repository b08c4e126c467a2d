// What a node knows of its master's clock, from its pings: by it the node refuses writes whose grant has run out.
#pragma once

#include <cstdint>
#include <optional>

#include "transfer/base/guarded.h"
#include "transfer/base/result.h"
#include "transfer/base/time.h"

namespace mooncake {

// The estimate is never behind the master's real clock: the reply's value plus all the time since the ping was *sent*.
// A write admitted by it is therefore still within its grant at the master. Thread-safe.
class MasterClockEstimate {
 public:
  // `sent` is the node's clock just before the ping went out. Clocks of different terms do not compare: on a
  // new term call Reset(), advance the access epoch, then Update().
  void Update(int64_t master_now_ms, TimePoint sent);

  // Forgets everything, so all writes are refused until the next Update().
  void Reset();

  // Every grant is good: for a store whose master runs in this process and ends with it. Update and Reset
  // change nothing afterwards.
  void AllowAlways();

  // The node's time at which a grant that ends at `deadline_ms` of the master's clock has run out (kNever after
  // AllowAlways). kInvalidVersion: it has already, or there is no estimate.
  Result<TimePoint> GrantEnd(int64_t deadline_ms, TimePoint now) const;

 private:
  struct Sample {
    int64_t master_ms = 0;
    TimePoint at;
  };
  struct State {
    bool always = false;
    std::optional<Sample> sample;
  };
  Guarded<State> state_;
};

}  // namespace mooncake

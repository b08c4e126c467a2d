// What else a master may have to do while callers wait for short answers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tools/bench/benched_master.h"

namespace mooncake::bench {

// The system's clock, which can be made to jump ahead.
class JumpingClock final : public Clock {
 public:
  explicit JumpingClock(const Clock& clock) : clock_(clock) {}
  TimePoint Now() const override { return clock_.Now() + Duration(ahead_ns_.load()); }
  WallTime WallNow() const override { return clock_.WallNow(); }
  void Jump(Duration by) { ahead_ns_.fetch_add(by.count()); }

 private:
  const Clock& clock_;
  std::atomic<int64_t> ahead_ns_{0};  // a number by itself: orders nothing else
};

class Disturbance {
 public:
  static constexpr Duration kClientTtl = Seconds(3600);

  virtual ~Disturbance() = default;
  virtual std::string Name() const = 0;  // "while ..."
  // Objects that the segment of the bench must have room for, beside what Prepare puts elsewhere.
  virtual uint64_t Room() const = 0;
  // Before the bench mounts its segment (`early`), and after it filled it.
  virtual Status Prepare(BenchedMaster&, bool early) {
    (void)early;
    return Status::Ok();
  }
  // In a thread of its own, through `api`: until the work is done or `stop` is set.
  virtual Status Run(BenchedMaster& master, MasterApi& api, const std::atomic<bool>& stop) = 0;
  virtual bool EndsByItself() const = 0;
};

// `keys`: of the removal; the expiry has twice as many. `clock` is the master's.
std::vector<std::unique_ptr<Disturbance>> AllDisturbances(uint64_t keys, JumpingClock& clock);

}  // namespace mooncake::bench

#include "transfer/transport/master_clock.h"

#include <limits>
#include <string>

namespace mooncake {

void MasterClockEstimate::Update(int64_t master_now_ms, TimePoint sent) {
  state_.With([&](State& state) { state.sample = Sample{master_now_ms, sent}; });
}

void MasterClockEstimate::Reset() {
  state_.With([](State& state) { state.sample.reset(); });
}

void MasterClockEstimate::AllowAlways() {
  state_.With([](State& state) { state.always = true; });
}

Result<TimePoint> MasterClockEstimate::GrantEnd(int64_t deadline_ms, TimePoint now) const {
  const State state = state_.With([](const State& s) { return s; });
  if (state.always) return kNever;
  if (!state.sample) {
    return Status(ErrorCode::kInvalidVersion,
                  "write refused: the node has not heard from its master yet");
  }
  // Far beyond any real grant; keeps the product below in range.
  constexpr int64_t kMaxLeftMs = std::numeric_limits<int64_t>::max() / 4'000'000;
  const int64_t elapsed_ms = ToMillis(now - state.sample->at) + 1;  // rounded up
  const int64_t master_ms = state.sample->master_ms + elapsed_ms;
  if (deadline_ms <= master_ms) {
    return Status(ErrorCode::kInvalidVersion,
                  "write refused: its grant ended at " + std::to_string(deadline_ms) +
                      " ms of the master's clock, which shows " + std::to_string(master_ms));
  }
  const uint64_t left_ms = static_cast<uint64_t>(deadline_ms) - static_cast<uint64_t>(master_ms);
  return SaturatingAdd(
      now, Millis(left_ms > static_cast<uint64_t>(kMaxLeftMs) ? kMaxLeftMs
                                                              : static_cast<int64_t>(left_ms)));
}

}  // namespace mooncake

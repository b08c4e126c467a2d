#include "master/core/eviction/use_clock.h"

#include <algorithm>

namespace mooncake::core {

void UseClock::CountUse(TimePoint now) {
  ++uses_;
  if (!marks_.empty() && uses_ - marks_.back().uses < step_) return;
  if (marks_.size() == kMarks) MakeRoom();
  marks_.push_back({now, uses_});
}

void UseClock::MakeRoom() {
  const size_t half = marks_.size() / 2;
  if (uses_ - marks_[half].uses > horizon_) {
    marks_.erase(marks_.begin(), marks_.begin() + static_cast<ptrdiff_t>(half));
    return;
  }
  for (size_t i = 0; i < half; ++i) marks_[i] = marks_[2 * i];
  marks_.resize(half);
  step_ *= 2;
}

uint64_t UseClock::Since(TimePoint then) const {
  const auto later = std::upper_bound(marks_.begin(), marks_.end(), then,
                                      [](TimePoint t, const Mark& mark) { return t < mark.time; });
  if (later == marks_.begin()) return marks_.empty() ? 0 : uses_ - marks_.front().uses;
  const Mark& before = *(later - 1);
  if (later == marks_.end()) return uses_ - before.uses;
  // Between two marks uses are taken to be even in time.
  const auto part = static_cast<double>((then - before.time).count()) /
                    static_cast<double>((later->time - before.time).count());
  const auto passed = static_cast<uint64_t>(part * static_cast<double>(later->uses - before.uses));
  return uses_ - before.uses - passed;
}

}  // namespace mooncake::core

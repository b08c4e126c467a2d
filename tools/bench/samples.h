// Durations of repeated work and what is read off them.
#pragma once

#include <cstdint>
#include <vector>

#include "transfer/base/time.h"

namespace mooncake::bench {

// Thread-compatible.
class Samples {
 public:
  void Add(Duration sample) { samples_.push_back(sample); }
  void Append(const Samples& other);
  size_t size() const { return samples_.size(); }
  // The smallest sample that `share` of all are not above (nearest rank); 0 < share <= 1. Zero of nothing.
  Duration Percentile(double share) const;
  Duration Median() const { return Percentile(0.5); }

 private:
  std::vector<Duration> samples_;
};

// 0 for no time.
double PerSecond(uint64_t amount, Duration time);

}  // namespace mooncake::bench

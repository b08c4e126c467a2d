#include "tools/bench/samples.h"

#include <algorithm>
#include <cmath>

#include "transfer/base/check.h"

namespace mooncake::bench {

void Samples::Append(const Samples& other) {
  samples_.insert(samples_.end(), other.samples_.begin(), other.samples_.end());
}

Duration Samples::Percentile(double share) const {
  MC_CHECK(share > 0 && share <= 1) << share;
  if (samples_.empty()) return Duration::zero();
  std::vector<Duration> sorted = samples_;
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  const auto nth = sorted.begin() + static_cast<std::ptrdiff_t>(std::max<size_t>(rank, 1) - 1);
  std::nth_element(sorted.begin(), nth, sorted.end());
  return *nth;
}

double PerSecond(uint64_t amount, Duration time) {
  if (time <= Duration::zero()) return 0;
  return static_cast<double>(amount) * 1e9 / static_cast<double>(time.count());
}

}  // namespace mooncake::bench

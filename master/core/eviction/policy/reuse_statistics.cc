#include "master/core/eviction/policy/reuse_statistics.h"

#include <algorithm>
#include <bit>

namespace mooncake::core {
namespace {

// Requests that the belief about all blocks is worth.
constexpr double kPriorRequests = 4;
// Reuses that the belief about a group (a class) is worth, which is the hazard of all blocks (of the group).
constexpr double kPriorReuses = 0.5;
// What is seen at one age says something of the next ones: half as much for each bin away.
constexpr double kNearby = 0.5;
// Probability of a reuse in a bin while nothing is known. Equal bins of log(age): as good as LRU.
constexpr double kUnknown = 0.01;
// No hazard is higher: some always wait on.
constexpr double kCertain = 0.99;
// Below this share of survivors, sums stop.
constexpr double kNobody = 1e-12;

}  // namespace

size_t ReuseStatistics::BinOf(uint64_t age) {
  if (age < 2) return 0;
  const auto octave = static_cast<size_t>(std::bit_width(age)) - 1;
  const size_t half = (age >> (octave - 1)) & 1;
  return std::min(2 * octave + half, kAges - 1);
}

uint64_t ReuseStatistics::BinStart(size_t bin) {
  const size_t octave = bin / 2;
  if (octave == 0) return bin;
  return (uint64_t{2} + bin % 2) << (octave - 1);
}

ReuseStatistics::ReuseStatistics(size_t groups, size_t classes_per_group)
    : classes_per_group_(classes_per_group),
      reused_(groups * classes_per_group),
      ended_(reused_.size()),
      waiting_(reused_.size()),
      density_(reused_.size()) {}

void ReuseStatistics::Fade(double keep) {
  for (auto* curves : {&reused_, &ended_}) {
    for (Curve& curve : *curves) {
      for (double& count : curve) count *= keep;
    }
  }
}

// Kaplan-Meier: a block that still waits, or was forgotten, says that nothing happened until then, and no more.
// Within its last bin it counts as half a block.
ReuseStatistics::Risk ReuseStatistics::RiskOf(size_t of) const {
  Risk risk;
  double reached = 0;
  for (size_t bin = kAges; bin-- > 0;) {
    const double left = ended_[of][bin] + waiting_[of][bin];
    reached += reused_[of][bin] + left;
    risk.at_risk[bin] = reached - left / 2;
    risk.reused[bin] = reused_[of][bin];
  }
  return risk;
}

ReuseStatistics::Curve ReuseStatistics::WithNearby(const Curve& curve) {
  Curve sum;
  double below = 0;
  for (size_t bin = 0; bin < kAges; ++bin) {
    sum[bin] = below + curve[bin];
    below = kNearby * sum[bin];
  }
  double above = 0;
  for (size_t bin = kAges; bin-- > 0;) {
    sum[bin] += above;
    above = kNearby * (above + curve[bin]);
  }
  return sum;
}

// The prior hazard times the ratio, at this age and nearby, of the reuses seen to those that it lets expect (gamma-Poisson).
ReuseStatistics::Curve ReuseStatistics::Blend(const Risk& risk, const Curve& prior) {
  Curve expected;
  for (size_t bin = 0; bin < kAges; ++bin) expected[bin] = risk.at_risk[bin] * prior[bin];
  expected = WithNearby(expected);
  const Curve seen = WithNearby(risk.reused);
  Curve hazard;
  for (size_t bin = 0; bin < kAges; ++bin) {
    const double ratio = (seen[bin] + kPriorReuses) / (expected[bin] + kPriorReuses);
    hazard[bin] = std::min(kCertain, prior[bin] * ratio);
  }
  return hazard;
}

// For each age the best ratio, over all later ages at which to give up, of hits to the time that the block occupies.
ReuseStatistics::Curve ReuseStatistics::DensityOf(const Curve& hazard) {
  Curve alive;  // at the start of the bin
  Curve hits;
  Curve time;
  double left = 1;
  for (size_t bin = 0; bin < kAges; ++bin) {
    alive[bin] = left;
    hits[bin] = left * hazard[bin];
    const double next = left - hits[bin];
    time[bin] = static_cast<double>(BinStart(bin + 1) - BinStart(bin)) * (left + next) / 2;
    left = next;
  }
  Curve density{};
  for (size_t from = 0; from < kAges && alive[from] > kNobody; ++from) {
    double gained = 0;
    double spent = 0;
    for (size_t bin = from; bin < kAges && alive[bin] > kNobody; ++bin) {
      gained += hits[bin];
      spent += time[bin];
      density[from] = std::max(density[from], gained / spent);
    }
  }
  return density;
}

void ReuseStatistics::Learn() {
  const size_t classes = reused_.size();
  std::vector<Risk> risks(classes);
  std::vector<Risk> groups(classes / classes_per_group_);
  Risk all;
  double reused = 0;
  double at_risk = 0;
  for (size_t of = 0; of < classes; ++of) {
    risks[of] = RiskOf(of);
    for (Risk* sum : {&groups[of / classes_per_group_], &all}) {
      for (size_t bin = 0; bin < kAges; ++bin) {
        sum->at_risk[bin] += risks[of].at_risk[bin];
        sum->reused[bin] += risks[of].reused[bin];
      }
    }
  }
  for (size_t bin = 0; bin < kAges; ++bin) {
    reused += all.reused[bin];
    at_risk += all.at_risk[bin];
  }
  const double unknown = at_risk > 0 ? reused / at_risk : kUnknown;
  Curve any;
  for (size_t bin = 0; bin < kAges; ++bin) {
    any[bin] = (all.reused[bin] + kPriorRequests * unknown) / (all.at_risk[bin] + kPriorRequests);
  }
  for (size_t group = 0; group < groups.size(); ++group) {
    const Curve belief = Blend(groups[group], any);
    for (size_t i = 0; i < classes_per_group_; ++i) {
      const size_t of = group * classes_per_group_ + i;
      density_[of] = DensityOf(Blend(risks[of], belief));
    }
  }
  for (Curve& curve : waiting_) curve.fill(0);
}

}  // namespace mooncake::core

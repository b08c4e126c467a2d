// When are blocks used again? Learns, per class of blocks, how likely the next use is at which age, and from that the
// hit density: hits to be expected per block and step of time if the block is kept as long as pays best.
// Pure arithmetic; README.md explains the estimate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mooncake::core {

class ReuseStatistics {
 public:
  // Ages in steps of half an octave; whatever is older than 2^26 uses is in the last bin.
  static constexpr size_t kAges = 52;
  static size_t BinOf(uint64_t age);
  static uint64_t BinStart(size_t bin);

  // Classes are numbered group by group, `classes_per_group` to a group: a class about which little is known is
  // believed to be like its group, and the group like all blocks.
  ReuseStatistics(size_t groups, size_t classes_per_group);

  // A block of this class was used again, or forgotten without, at this age. `share`: its part of a request. The blocks of a
  // prompt come back together or not at all, so a prompt is one observation however long it is.
  void CountReuse(size_t of, uint64_t age, double share) { reused_[of][BinOf(age)] += share; }
  void CountForgotten(size_t of, uint64_t age, double share) { ended_[of][BinOf(age)] += share; }
  // What was counted weighs less from now on.
  void Fade(double keep);

  // Learn() makes densities of what was counted, and of the blocks that still wait for their next use, which have to be
  // named by CountWaiting before each call. Cost: classes x kAges^2 / 2.
  void CountWaiting(size_t of, uint64_t age, double share) { waiting_[of][BinOf(age)] += share; }
  void Learn();

  // Hits per block and use; 0 for all before the first Learn().
  double Density(size_t of, uint64_t age) const { return density_[of][BinOf(age)]; }

 private:
  using Curve = std::array<double, kAges>;
  struct Risk {
    Curve at_risk{};
    Curve reused{};
  };
  Risk RiskOf(size_t of) const;
  static Curve WithNearby(const Curve& curve);
  static Curve Blend(const Risk& risk, const Curve& prior);
  static Curve DensityOf(const Curve& hazard);

  const size_t classes_per_group_;
  std::vector<Curve> reused_;
  std::vector<Curve> ended_;
  std::vector<Curve> waiting_;
  std::vector<Curve> density_;
};

}  // namespace mooncake::core

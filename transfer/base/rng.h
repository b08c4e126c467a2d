// A small portable generator (xoshiro256**) with our own bounded draws, so that a seed gives the
// same decisions with every standard library. Source: Blackman and Vigna, "Scrambled linear
// pseudorandom number generators", 2018. Not for secrets.
#pragma once

#include <array>
#include <cstdint>

#include "transfer/base/check.h"

namespace mooncake {

class Rng {
 public:
  explicit Rng(uint64_t seed) {
    for (uint64_t& word : state_) word = SplitMix(seed);
  }

  uint64_t Next() {
    const uint64_t result = Rotl(state_[1] * 5, 7) * 9;
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = Rotl(state_[3], 45);
    return result;
  }

  // Uniform in [0, bound). bound > 0. Multiply-shift; the bias is below bound / 2^64.
  uint64_t Below(uint64_t bound) {
    MC_CHECK(bound > 0);
    return static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * bound) >> 64);
  }

  // Uniform in [low, high], both included.
  uint64_t Between(uint64_t low, uint64_t high) {
    MC_CHECK(low <= high);
    return high - low == UINT64_MAX ? Next() : low + Below(high - low + 1);
  }

  // True in `numerator` of `denominator` cases.
  bool Chance(uint64_t numerator, uint64_t denominator) { return Below(denominator) < numerator; }

 private:
  static uint64_t Rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  static uint64_t SplitMix(uint64_t& x) {
    uint64_t z = (x += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::array<uint64_t, 4> state_;
};

}  // namespace mooncake

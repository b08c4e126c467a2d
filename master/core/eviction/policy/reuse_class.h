// What hit_density tells blocks apart by, and how often it learns: shared by the policy here and by the model of a live master.
// README.md, "How hit_density works".
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "master/core/eviction/policy/reuse_statistics.h"

namespace mooncake::core {

// A class is how often a block was used x where it stood in its chain at the last use. A place is the end of a chain, or else how
// many blocks of the chain were unknown (below 8, 16, 32, 64, more) x what the known ones before them had been used for.
struct ReuseClass {
  static constexpr uint8_t kUses = 4;  // used once, twice, three times, more often
  static constexpr uint8_t kTails = 5;
  // Nothing was known; or the last known block had been used once, as in a conversation that goes on, and the one in the
  // middle of the known ones kUses different times, by the turns it had; or the last one more often: a beginning that is shared.
  static constexpr uint8_t kBeginnings = 2 * kUses;
  static constexpr uint8_t kPlaces = kTails * kBeginnings + 1;
  static constexpr uint8_t kEnd = kPlaces - 1;
  static constexpr uint8_t kClasses = kUses * kPlaces;

  // Earlier uses of the known blocks that a chain begins with.
  struct Beginning {
    size_t middle = 0;
    size_t last = 0;
  };
  static uint8_t PlaceOf(size_t unknown, std::optional<Beginning> known) {
    const auto width = static_cast<size_t>(std::bit_width(unknown));
    const size_t tail = std::clamp<size_t>(width, 3, 2 + kTails) - 3;
    return static_cast<uint8_t>(BeginningOf(known) * kTails + tail);
  }
  // After `uses` earlier uses.
  static uint8_t Of(size_t uses, uint8_t place) {
    return static_cast<uint8_t>(Bounded(uses) * kPlaces + place);
  }
  static size_t UsesOf(uint8_t of) { return of / kPlaces; }

 private:
  static size_t Bounded(size_t uses) { return std::min<size_t>(uses, kUses - 1); }
  static size_t BeginningOf(std::optional<Beginning> known) {
    if (!known.has_value()) return 0;
    return known->last == 0 ? 1 + Bounded(known->middle) : kUses + Bounded(known->last);
  }
};

// Times are counted in uses, `held` is the number of blocks in the cache.
class LearningPace {
 public:
  // Learning looks at each block that is remembered, so it comes the less often the more there are.
  bool LearningIsDue(uint64_t now) const { return now >= next_learning_; }
  void Learned(uint64_t now, uint64_t held) {
    const uint64_t pause = std::max<uint64_t>(2 * kLeastBetweenLearning, held / 4);
    next_learning_ = now + (now < kFewUses ? kLeastBetweenLearning : pause);
  }
  // What was seen many turnovers of the cache ago weighs less and less.
  void FadeIfDue(uint64_t now, uint64_t held, ReuseStatistics& statistics) {
    const uint64_t turnover = std::max<uint64_t>(held, 1024);
    if (now - last_fading_ <= kFadeTurnovers * turnover) return;
    statistics.Fade(kFadeKeeps);
    last_fading_ = now;
  }
  // Of ages that are a good part of all the time seen, few cases are known, and all from the beginning. There least
  // recently used is the better guess. So many times an age has to have passed before what is known of it counts.
  static bool IsStrange(uint64_t now, uint64_t age) { return age > now / kTimesToTrust; }

 private:
  static constexpr uint64_t kLeastBetweenLearning = 512;
  static constexpr uint64_t kFewUses = 8192;
  static constexpr uint64_t kFadeTurnovers = 8;
  static constexpr double kFadeKeeps = 0.8;
  static constexpr uint64_t kTimesToTrust = 2;

  uint64_t next_learning_ = 0;
  uint64_t last_fading_ = 0;
};

}  // namespace mooncake::core

// What has been learnt of how objects are used again, and so which of them are worth their place: the eviction policy hit_density
// in a live master. An object remembers its class (one byte) and when it was used last; everything else is here, and
// bounded. Exists only if the policy was chosen. README.md, "Hit density".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "master/core/eviction/key_memory.h"
#include "master/core/eviction/policy/reuse_statistics.h"
#include "master/core/eviction/reuse_sample.h"
#include "master/core/eviction/use_clock.h"
#include "transfer/base/time.h"

namespace mooncake::core {

// Equal in all processes, so that equal calls give equal answers.
uint64_t ReuseHash(std::string_view tenant, std::string_view key);

class ReuseModel {
 public:
  // Classes: how often an object was used x where it stood in its chain at the last use. A chain is what one batch names, in
  // its order, as an engine asks for the blocks of a prompt; a place is the end of a chain, or else how many
  // keys the store did not have x how often the last one was used that it had.
  static constexpr uint8_t kUses = 4;
  static constexpr uint8_t kTails = 4;
  static constexpr uint8_t kPlaces = kTails * kUses + 1;
  static constexpr uint8_t kEnd = kPlaces - 1;
  static constexpr uint8_t kClasses = kUses * kPlaces;

  ReuseModel();

  // How often a key was used before, if it was seen lately.
  std::optional<uint8_t> UsesOf(uint64_t hash) const { return memory_.Find(hash); }
  // `uses` of the last key before the unknown ones; 0 if there is none.
  static uint8_t PlaceOf(size_t unknown, uint8_t uses);
  // Where the key that is asked for next stands.
  void SetPlace(uint8_t place) { place_ = place; }

  // An object of class `of` was read. Its class from now on.
  uint8_t Used(TimePoint now, uint64_t hash, uint8_t of);
  // A key was asked for in vain; when it is written soon after, it is as if it had been written there and then.
  void Missed(uint64_t hash);
  // A new version was written. Its class.
  uint8_t Written(TimePoint now, uint64_t hash);

  // The hits to expect, per use of anything, from keeping an object that was used last then.
  double Density(uint8_t of, TimePoint used) const {
    return statistics_.Density(of, clock_.Since(used));
  }
  // Is that long ago compared with all that was ever seen? Then little is known of such ages, and least recently used is
  // the better guess.
  bool IsStrange(TimePoint used) const {
    return clock_.Since(used) > clock_.uses() / kTimesToTrust;
  }

  // Makes densities of what was seen, if that is due; up to about a millisecond. `objects`: held now.
  void LearnIfDue(uint64_t objects);

 private:
  static constexpr uint64_t kTimesToTrust = 3;
  // Keys remembered for each object held: reuses later than an eviction are seen up to about so many turnovers.
  static constexpr uint64_t kRemembered = 5;
  static constexpr uint64_t kLeastBetweenLearning = 1024;
  static constexpr uint64_t kFewUses = 8192;
  // What was seen so many turnovers of the cache ago weighs less and less.
  static constexpr uint64_t kFadeTurnovers = 8;
  static constexpr double kFadeKeeps = 0.8;
  static constexpr size_t kMisses = 1 << 14;
  struct Miss {
    uint32_t tag = 0;
    uint8_t place = kEnd;
  };

  uint8_t Record(TimePoint now, uint64_t hash, uint8_t uses, uint8_t place);

  UseClock clock_;
  KeyMemory memory_;
  ReuseSample sample_;
  ReuseStatistics statistics_{kUses, kPlaces};
  std::vector<Miss> misses_;  // by low bits of the hash; a later one takes the place
  uint8_t place_ = kEnd;
  uint64_t next_learning_ = 0;
  uint64_t last_fading_ = 0;
};

}  // namespace mooncake::core

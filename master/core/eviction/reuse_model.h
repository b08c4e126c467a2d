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
#include "master/core/eviction/policy/reuse_class.h"
#include "master/core/eviction/policy/reuse_statistics.h"
#include "master/core/eviction/reuse_sample.h"
#include "master/core/eviction/use_clock.h"
#include "transfer/base/time.h"

namespace mooncake::core {

// Equal in all processes, so that equal calls give equal answers.
uint64_t ReuseHash(std::string_view tenant, std::string_view key);

// Classes and places are those of ReuseClass. A chain is what one batch names, in its order, as an engine asks for the
// blocks of a prompt.
class ReuseModel {
 public:
  ReuseModel();

  // How often a key was used before, if it was seen lately.
  std::optional<uint8_t> UsesOf(uint64_t hash) const { return memory_.Find(hash); }
  // Where the key that is asked for next stands, and how many keys the chain has.
  void SetPlace(uint8_t place, size_t chain) {
    place_ = place;
    share_ = 1.0F / static_cast<float>(chain);
  }

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
  // Is that so long ago that density says little?
  bool IsStrange(TimePoint used) const {
    return LearningPace::IsStrange(clock_.uses(), clock_.Since(used));
  }

  // Makes densities of what was seen, if that is due; up to about a millisecond. `objects`: held now.
  void LearnIfDue(uint64_t objects);

 private:
  // Keys remembered for each object held: reuses later than an eviction are seen up to about so many turnovers.
  static constexpr uint64_t kRemembered = 5;
  static constexpr uint64_t kFewObjects = 1024;
  static constexpr size_t kMisses = 1 << 14;
  struct Miss {
    uint32_t tag = 0;
    uint8_t place = ReuseClass::kEnd;
    float share = 1;
  };

  uint8_t Record(TimePoint now, uint64_t hash, size_t uses, uint8_t place, float share);

  UseClock clock_;
  KeyMemory memory_;
  ReuseSample sample_;
  ReuseStatistics statistics_{ReuseClass::kUses, ReuseClass::kPlaces};
  LearningPace pace_;
  std::vector<Miss> misses_;  // by low bits of the hash; a later one takes the place
  uint8_t place_ = ReuseClass::kEnd;
  float share_ = 1;  // of a request, that one key is
};

}  // namespace mooncake::core

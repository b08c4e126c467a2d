// Victims of the policy hit_density: of some objects drawn at random, the one whose place earns the least. Random draws need
// no order to be kept, and do about as well as looking at all (README.md, "Hit density", has the figures).
#pragma once

#include <cstdint>
#include <vector>

#include "master/core/state.h"

namespace mooncake::core {

class VictimDraw {
 public:
  // From this segment only, or from all of them (kNoSlot). The state must have a reuse model.
  VictimDraw(State& state, uint32_t only_slot);

  // Null when none of the objects drawn passed `may_go(const Object&)`, which says little about the others.
  template <typename F>
  Object* Next(F&& may_go) {
    Best best;
    for (int tries = 0; tries < kTries && best.seen < kDrawn; ++tries) {
      Object* object = Draw();
      if (object != nullptr && may_go(*object)) Consider(object, best);
    }
    return Choose(best);
  }

 private:
  static constexpr int kDrawn = 32;
  static constexpr int kTries = 3 * kDrawn;
  struct Best {
    int seen = 0;
    Object* coldest = nullptr;
    Object* least_dense = nullptr;
    double density = 0;
  };

  Object* Draw();
  void Consider(Object* object, Best& best) const;
  Object* Choose(const Best& best) const;

  State& state_;
  std::vector<uint32_t> slots_;
  std::vector<uint64_t> ends_;  // sums of the segments' block handles
};

}  // namespace mooncake::core

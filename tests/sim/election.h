// Who may be master: a service that is always up, though not always reached. Its word holds for kLeadership from when it was
// asked, so that a master that was frozen or cut off knows that it may have a successor.
#pragma once

#include <cstdint>

#include "tests/sim/world.h"

namespace mooncake::sim {

inline constexpr Duration kLeadership = Seconds(1);

class Election final : public Actor {
 public:
  Election(World& world, int id) : Actor(world, id, "election") {}
  void OnCrash() override {}
  void OnRestart() override {}

  // The candidate's term if it leads, `term` if it led before; 0: another one does.
  uint64_t Campaign(int candidate, uint64_t term) {
    const bool leads = candidate == leader_ && term == term_ && candidate != ousted_;
    const bool vacant = world_.now() > until_ && candidate != ousted_;
    if (!leads && !vacant) return 0;
    if (!leads) {
      ++term_;
      leader_ = candidate;
      ousted_ = 0;
    }
    until_ = world_.now() + kLeadership;
    return term_;
  }

  // Another one takes over at once, while the present leader goes on for up to kLeadership.
  void Oust() {
    if (leader_ == 0) return;
    ousted_ = leader_;
    until_ = world_.now() - Millis(1);
    ++ousts;
  }
  int leader() const { return leader_; }
  // Nobody is kept out any more.
  void Forgive() { ousted_ = 0; }

  uint64_t ousts = 0;

 private:
  uint64_t term_ = 0;
  int leader_ = 0;
  int ousted_ = 0;
  TimePoint until_{};
};

}  // namespace mooncake::sim

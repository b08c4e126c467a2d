// What a run suffers. Each seed picks its own mix, so that some are all about one kind of fault; and some faults hurt only where
// several others meet, so that a few seeds bring them together on purpose.
#pragma once

#include <cstdint>

#include "master/core/options.h"
#include "tests/sim/client_actor.h"
#include "tests/sim/election.h"
#include "tests/sim/master_link.h"
#include "tests/sim/world.h"

namespace mooncake::sim {

enum class Plot : uint8_t {
  kMixed,
  kStalledWriters,  // writers that stop in the middle of a write, and go on when its space is another's
  kLateWrites,      // writes that arrive long after their writer gave up
  kRestarts,        // a master that loses what its slow disk did not have yet, and is back at once
  kTakeovers,       // masters that lose their office while they go on
};
Plot ChoosePlot(Rng& rng);

// Everything that can be hurt.
struct Cast {
  World& world;
  Masters& masters;
  Nodes& nodes;
  std::vector<std::unique_ptr<ClientActor>>& clients;
  Election& election;
};

class Faults {
 public:
  Faults(const Cast& cast, Plot plot) : cast_(cast), world_(cast.world), plot_(plot) {}

  // Draws the mix, and how unkind the network is. `durable`: masters come back with what they knew.
  void Choose(bool durable);
  // One after the other, until Stop.
  void Start();
  void Stop() { stopped_ = true; }

  uint64_t nodes_left() const { return nodes_left_; }

 private:
  struct Mix {
    uint64_t node_crash = 0, node_freeze = 0, node_leave = 0, client_crash = 0, client_freeze = 0,
             master_crash = 0, master_freeze = 0, cut = 0, takeover = 0, late_write = 0;
  };

  void ChooseMixed(bool durable);
  void Next();
  void Inflict();
  void CrashFor(Actor& actor, uint64_t longest_ms);
  void FreezeFor(Actor& actor, int64_t ms);
  void FreezeClient();
  void Cut();
  void CutFor(Actor& a, Actor& b, uint64_t longest_ms);
  void Oust();
  void Leave();
  int64_t FreezeMs();
  MasterActor& AnyMaster() { return *cast_.masters[world_.rng.Below(cast_.masters.size())]; }
  NodeActor& AnyNode() { return *cast_.nodes[world_.rng.Below(cast_.nodes.size())]; }
  ClientActor& AnyClient() { return *cast_.clients[world_.rng.Below(cast_.clients.size())]; }

  const Cast cast_;
  World& world_;
  const Plot plot_;
  Mix mix_;
  Duration gap_{};
  bool stopped_ = false;
  uint64_t nodes_left_ = 0;
};

}  // namespace mooncake::sim

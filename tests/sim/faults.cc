#include "tests/sim/faults.h"

#include <array>

namespace mooncake::sim {
namespace {

constexpr uint64_t kLongestDownMs = 12'000;

}  // namespace

Plot ChoosePlot(Rng& rng) {
  switch (rng.Below(20)) {
    case 0:
      return Plot::kStalledWriters;
    case 1:
      return Plot::kLateWrites;
    case 2:
      return Plot::kRestarts;
    case 3:
      return Plot::kTakeovers;
    default:
      return Plot::kMixed;
  }
}

void Faults::Choose(bool durable) {
  Rng& rng = world_.rng;
  world_.net.max_delay_us = 500;
  world_.net.stray_permille = 60;
  switch (plot_) {
    case Plot::kMixed:
      return ChooseMixed(durable);
    case Plot::kStalledWriters:
      // Nothing but this: a crash of node or master would fence the writers.
      mix_.client_freeze = 1;
      gap_ = Millis(static_cast<int64_t>(rng.Between(200, 1000)));
      return;
    case Plot::kLateWrites:
      mix_.late_write = 1;
      gap_ = Millis(static_cast<int64_t>(rng.Between(300, 1500)));
      return;
    case Plot::kRestarts:
      // Writers that began before the restart and go on after it.
      mix_.master_crash = rng.Between(1, 2);
      mix_.client_freeze = rng.Below(3);
      gap_ = Millis(static_cast<int64_t>(rng.Between(200, 1500)));
      if (rng.Chance(1, 2)) {
        world_.net.repeat_permille = 50;
        world_.net.slow_permille = 20;
        world_.net.slow_us = 3'000'000;
      }
      return;
    case Plot::kTakeovers:
      mix_.takeover = rng.Between(1, 3);
      mix_.master_freeze = rng.Between(1, 3);
      mix_.client_freeze = rng.Below(2);
      gap_ = Millis(static_cast<int64_t>(rng.Between(1500, 5000)));
      return;
  }
}

void Faults::ChooseMixed(bool durable) {
  Rng& rng = world_.rng;
  for (uint64_t* weight : {&mix_.node_crash, &mix_.node_freeze, &mix_.node_leave,
                           &mix_.client_crash, &mix_.client_freeze, &mix_.master_crash,
                           &mix_.master_freeze, &mix_.cut, &mix_.late_write}) {
    *weight = rng.Chance(1, 3) ? rng.Between(1, 10) : 0;
  }
  // What a restart finds is worth to be looked at more often.
  if (durable && mix_.master_crash == 0) mix_.master_crash = rng.Below(4);
  if (cast_.masters.size() > 1) mix_.takeover = rng.Below(5);
  gap_ = Millis(static_cast<int64_t>(rng.Between(50, 3000)));
  NetFaults& net = world_.net;
  if (rng.Chance(1, 2)) net.drop_permille = static_cast<uint32_t>(rng.Between(1, 30));
  if (rng.Chance(1, 2)) net.repeat_permille = static_cast<uint32_t>(rng.Between(1, 50));
  net.max_delay_us = rng.Between(50, 5000);
  if (rng.Chance(1, 2)) {
    net.slow_permille = static_cast<uint32_t>(rng.Between(1, 50));
    net.slow_us = rng.Between(10'000, 12'000'000);
  }
}

void Faults::Start() {
  world_.After(Millis(50), [this] { Next(); });
}

void Faults::Next() {
  if (stopped_) return;
  Inflict();
  world_.After(gap_, [this] { Next(); });
}

void Faults::Inflict() {
  const bool restarts = plot_ == Plot::kRestarts;
  const std::array<std::pair<uint64_t, std::function<void()>>, 10> kinds = {{
      {mix_.node_crash, [this] { CrashFor(AnyNode(), kLongestDownMs); }},
      {mix_.node_freeze, [this] { FreezeFor(AnyNode(), FreezeMs()); }},
      {mix_.node_leave, [this] { Leave(); }},
      {mix_.client_crash, [this] { CrashFor(AnyClient(), kLongestDownMs); }},
      {mix_.client_freeze, [this] { FreezeClient(); }},
      {mix_.master_crash,
       [this, restarts] { CrashFor(AnyMaster(), restarts ? 300 : kLongestDownMs); }},
      {mix_.master_freeze, [this] { FreezeFor(AnyMaster(), FreezeMs()); }},
      {mix_.cut, [this] { Cut(); }},
      {mix_.takeover, [this] { Oust(); }},
      // Longer than a client waits for the answer and for the fence.
      {mix_.late_write,
       [this] {
         AnyClient().DelayNextWrite(Millis(static_cast<int64_t>(world_.rng.Between(7200, 12'000))));
       }},
  }};
  uint64_t total = 0;
  for (const auto& [weight, inflict] : kinds) total += weight;
  if (total == 0) return;
  uint64_t draw = world_.rng.Below(total);
  for (const auto& [weight, inflict] : kinds) {
    if (draw < weight) return inflict();
    draw -= weight;
  }
}

void Faults::CrashFor(Actor& actor, uint64_t longest_ms) {
  world_.Crash(actor);
  world_.After(Millis(static_cast<int64_t>(world_.rng.Between(1, longest_ms))), [this, &actor] {
    if (!stopped_) world_.Restart(actor);
  });
}

void Faults::FreezeFor(Actor& actor, int64_t ms) {
  world_.Freeze(actor);
  world_.After(Millis(ms), [this, &actor] { world_.Resume(actor); });
}

// Mostly short; sometimes past every time-out there is.
int64_t Faults::FreezeMs() {
  static constexpr std::array<uint64_t, 5> kLongest = {2'000, 8'000, 15'000, 30'000, 150'000};
  const uint64_t kinds = plot_ == Plot::kTakeovers ? 2 : kLongest.size();
  return static_cast<int64_t>(world_.rng.Between(1, kLongest[world_.rng.Below(kinds)]));
}

void Faults::FreezeClient() {
  ClientActor& client = AnyClient();
  if (plot_ == Plot::kStalledWriters)
    return client.AmbushNextWrite(Millis(static_cast<int64_t>(world_.rng.Between(1000, 15'000))));
  if (plot_ == Plot::kRestarts)
    return client.AmbushNextWrite(Millis(static_cast<int64_t>(world_.rng.Between(100, 2000))));
  switch (world_.rng.Below(4)) {
    case 0:
      return FreezeFor(client, FreezeMs());
    case 1:
    case 2:
      return client.AmbushNextWrite(Millis(FreezeMs()));
    default:
      return client.AmbushNextRead(Millis(FreezeMs()));
  }
}

// The leader learns of it when it asks next, or, if it cannot ask, when its time is over.
void Faults::Oust() {
  cast_.election.Oust();
  if (world_.rng.Chance(1, 2)) return;
  for (const auto& master : cast_.masters) {
    if (master->id() == cast_.election.leader()) CutFor(*master, cast_.election, 3000);
  }
}

void Faults::Cut() {
  Actor& a = world_.rng.Chance(1, 2) ? static_cast<Actor&>(AnyMaster()) : AnyClient();
  const bool between_masters = cast_.masters.size() > 1 && world_.rng.Chance(1, 3);
  Actor& b = between_masters ? static_cast<Actor&>(cast_.election) : AnyNode();
  CutFor(a, b, 15'000);
}

void Faults::CutFor(Actor& a, Actor& b, uint64_t longest_ms) {
  world_.Cut(a, b);
  ++world_.cut;
  world_.After(Millis(static_cast<int64_t>(world_.rng.Between(10, longest_ms))),
               [this, &a, &b] { world_.Mend(a, b); });
}

void Faults::Leave() {
  NodeActor& node = AnyNode();
  if (!node.up() || node.frozen() || node.leaving()) return;
  ++nodes_left_;
  node.Leave(Millis(static_cast<int64_t>(world_.rng.Between(0, 5000))),
             Millis(static_cast<int64_t>(world_.rng.Between(1, 5000))));
}

}  // namespace mooncake::sim

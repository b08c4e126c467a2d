// One run: builds a world from a seed, hurts it, heals it, and says what broke.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tests/sim/client_actor.h"

namespace mooncake::sim {

struct SimOptions {
  uint64_t seed = 1;
  Canary canary = Canary::kNone;
  std::function<void(const std::string&)> tracer;  // optional
};

struct SimReport {
  std::optional<std::string> violation;
  uint64_t digest = 0;
  uint64_t events = 0;
  Duration simulated{};
  ClientCounts clients;
  uint64_t reads_checked = 0;
  uint64_t dropped = 0, repeated = 0, frozen = 0, crashed = 0, cut = 0;
  uint64_t takeovers = 0;  // of masters that went on meanwhile
  uint64_t restores = 0, versions_restored = 0;
  uint64_t from_snapshots = 0;  // of the restores; the others had the log alone
  uint64_t successions = 0;     // of the restores: beside a predecessor that may go on
  uint64_t nodes_left = 0;      // gracefully
};

// Counts of one run more; violation and digest are of a run alone.
void Add(SimReport& sum, const SimReport& one);

// Equal options, equal report.
SimReport RunSimulation(const SimOptions& options);

// "none", "no-epoch-check", ...; nothing for anything else.
std::optional<Canary> ParseCanary(const std::string& name);

}  // namespace mooncake::sim

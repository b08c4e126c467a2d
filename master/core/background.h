// What falls due by itself.
#pragma once

#include "master/core/metadata_core.h"
#include "master/core/state.h"

namespace mooncake::core {

// See MetadataCore::Tick.
TickResult Tick(State& state, TimePoint now, uint32_t budget);

// A client that is gone takes its segments with it.
void ExpireClients(State& state, TimePoint now, uint32_t& budget);
// Replicas on dead segments, some at a time.
void SweepDeadSegments(State& state, TimePoint now, uint32_t& budget);

}  // namespace mooncake::core

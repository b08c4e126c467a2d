// A trace against the master itself, as engines use a store: ask for a prompt's blocks, then put those that were missing. So it
// shows what the evictor of a master makes of a policy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "master/core/options.h"
#include "tools/bench/trace_reader.h"

namespace mooncake::bench {

// Blocks found. One segment has room for `capacity` blocks; leases are so short that they hold nothing back, and time
// is driven by hand, so equal traces give equal answers.
uint64_t ReplayHitsInMaster(const Trace& trace, size_t capacity, core::EvictionPolicyKind policy);

// "master:lru" names such a replay; nothing for other names.
std::optional<core::EvictionPolicyKind> ParseMasterPolicy(std::string_view name);

}  // namespace mooncake::bench

// Evicts neighbours, so that their space becomes one hole. What plain eviction frees lies here and there;
// an object larger than its victims may still not fit.
#pragma once

#include <cstdint>
#include <span>

#include "master/core/state.h"

namespace mooncake::core {

// Makes a hole of `bytes` in some segment, but not in those of `excluded` (slots): around one of the
// coldest objects, or around the largest hole there is. At most `limit` objects; when that is too few, what was
// evicted leaves a larger hole for the next attempt. True: there is such a hole now. The objects evicted are counted.
bool MakeHole(State& state, uint64_t bytes, std::span<const uint32_t> excluded, uint32_t limit,
              TimePoint now);

}  // namespace mooncake::core

// A trace against a cache of so many blocks: hits of a policy, and the most that any policy could have had. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "master/core/eviction/policy/eviction_policy.h"
#include "tools/bench/trace_reader.h"

namespace mooncake::bench {

// Uses that found their block. Each miss brings the block in; `capacity` must not be 0, the policy must be new.
uint64_t ReplayHits(const Trace& trace, size_t capacity, core::EvictionPolicy& policy);

// Belady's: gives up what is used again last. It knows the future, so nothing that has to bring in each miss does better.
uint64_t BeladyHits(const Trace& trace, size_t capacity);

// How much of the way from LRU to Belady a policy goes; 0 where there is no way to go.
double ShareClosed(uint64_t lru, uint64_t policy, uint64_t belady);

}  // namespace mooncake::bench

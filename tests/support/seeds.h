// Which seeds a randomized test runs.
#pragma once

#include <cstdint>
#include <vector>

namespace mooncake::testing {

// 1..count. The environment may say otherwise: MC_SEED=N that one alone, MC_SEEDS=N as many,
// MC_SEEDS=N% that share of them, at least one.
std::vector<uint64_t> Seeds(uint64_t count);

}  // namespace mooncake::testing

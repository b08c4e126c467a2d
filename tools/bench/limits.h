// What the machine can do without us: the figures beside ours.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tools/bench/race.h"

namespace mooncake::bench {

// Copies of `bytes` out of an area of `area` bytes, another part of it each time: as much in the cache as ours.
Contender MemcpyLimit(uint64_t bytes, uint64_t area);

// A stream that carries `bytes` to a peer and gets one byte back, or the other way round.
enum class Way : uint8_t { kUp, kDown };
Result<Contender> TcpLimit(uint64_t bytes, Way way);

// Samples of one operation shorter than this say more about the clock.
uint64_t BatchFor(uint64_t bytes);

}  // namespace mooncake::bench

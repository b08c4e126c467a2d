// Bytes of heap in use by this process.
#pragma once

#include <malloc.h>

#include <cstdint>

namespace mooncake::bench {

inline uint64_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

}  // namespace mooncake::bench

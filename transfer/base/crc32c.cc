#include "transfer/base/crc32c.h"

#include <algorithm>

#include <isa-l/crc.h>

namespace mooncake {

uint32_t Crc32c(ByteSpan bytes, uint32_t crc) {
  // isa-l takes an int length and leaves both inversions to the caller.
  constexpr size_t kMaxStep = size_t{1} << 30;
  uint32_t state = ~crc;
  while (!bytes.empty()) {
    const size_t step = std::min(bytes.size(), kMaxStep);
    auto* data = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));
    state = crc32_iscsi(data, static_cast<int>(step), state);
    bytes = bytes.subspan(step);
  }
  return ~state;
}

}  // namespace mooncake

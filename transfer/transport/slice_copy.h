// Copies between the buffers of a slice and one contiguous run of memory, in pieces that can be stopped between.
#pragma once

#include <algorithm>
#include <cstring>

#include "transfer/base/status.h"
#include "transfer/transport/transport.h"

namespace mooncake {

// A piece takes some 100 µs at most, which bounds how late a cut or a changed epoch is noticed.
inline constexpr uint64_t kCopyPiece = uint64_t{1} << 20;

// `memory` has the slice's length. `check` (→ Status) is asked before and after each piece; its first error
// ends the copy.
template <typename Memory, typename Check>
Status CopySlice(const Slice& slice, Memory memory, const Check& check) {
  uint64_t done = 0;
  RETURN_IF_ERROR(check());
  for (const MutableByteSpan& buffer : slice.buffers) {
    for (uint64_t at = 0; at < buffer.size();) {
      const uint64_t step = std::min<uint64_t>(buffer.size() - at, kCopyPiece);
      if constexpr (std::is_const_v<typename Memory::element_type>) {
        std::memcpy(buffer.data() + at, memory.data() + done, step);
      } else if (slice.op == SliceOp::kWrite) {
        std::memcpy(memory.data() + done, buffer.data() + at, step);
      } else {
        std::memcpy(buffer.data() + at, memory.data() + done, step);
      }
      at += step;
      done += step;
      if (done % kCopyPiece == 0 || step == kCopyPiece) RETURN_IF_ERROR(check());
    }
  }
  return check();
}

}  // namespace mooncake

// The first page of a region of shared memory that a node hands to clients of its host: what the region is, and the word by
// which the node takes it back. Written by storenode/memory, read by transfer/transport/shm.
//
//   0                      kRegionHeaderBytes                 data_offset + data_size
//   +----------------------+-----------------------------------+
//   | RegionHeader, zeros  | data of the segment               |
//   +----------------------+-----------------------------------+
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

#include "transfer/base/ids.h"

namespace mooncake {

inline constexpr uint64_t kRegionMagic = 0x314e4f4947455243;  // "CREGION1", little endian
inline constexpr uint32_t kRegionVersion = 1;
inline constexpr uint64_t kRegionHeaderBytes = 4096;
inline constexpr uint64_t kRegionClosedEpoch = 0;  // no reader may use the region any more

// Lives in shared memory. All but `epoch` is fixed once the region is handed out.
struct RegionHeader {
  uint64_t magic = kRegionMagic;
  uint32_t version = kRegionVersion;
  uint32_t reserved = 0;
  uint64_t segment_high = 0;
  uint64_t segment_low = 0;
  uint64_t data_offset = kRegionHeaderBytes;  // from the start of the region
  uint64_t data_size = 0;
  // The present access epoch. The node stores it (release) before it tells anybody; a reader loads it (acquire)
  // before it reads and again (after an acquire fence) when it has read: another value means that the bytes are void.
  std::atomic<uint64_t> epoch{kRegionClosedEpoch};

  SegmentId segment() const { return {segment_high, segment_low}; }
};
static_assert(std::atomic<uint64_t>::is_always_lock_free, "the word is shared between processes");
static_assert(sizeof(RegionHeader) <= kRegionHeaderBytes);
static_assert(std::is_standard_layout_v<RegionHeader>);

}  // namespace mooncake

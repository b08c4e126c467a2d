// The 64 bytes behind every extent, written with the data, by which a reader knows whose bytes it got.
// Format: transfer/base/README.md, "Seal"; golden bytes: tests/unit/transfer/base/seal_test.cc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "transfer/base/byte_span.h"
#include "transfer/base/ids.h"
#include "transfer/base/status.h"

namespace mooncake {

// Extents start on this boundary. An extent of n data bytes occupies ExtentFootprint(n) bytes: the data,
// zero to 63 bytes of padding, the seal at SealOffset(n).
inline constexpr uint64_t kExtentAlignment = 64;
inline constexpr uint64_t kSealBytes = 64;
constexpr uint64_t SealOffset(uint64_t data_bytes) {
  return (data_bytes + kExtentAlignment - 1) / kExtentAlignment * kExtentAlignment;
}
constexpr uint64_t ExtentFootprint(uint64_t data_bytes) {
  return SealOffset(data_bytes) + kSealBytes;
}

struct Seal {
  PutId put_id;
  uint64_t length = 0;      // data bytes of this extent
  bool superseded = false;  // set by the node when the version was replaced or removed
  bool has_crc = false;     // then data_crc is the CRC-32C of the data
  uint32_t data_crc = 0;
  friend bool operator==(const Seal&, const Seal&) = default;
};

using SealBytes = std::array<std::byte, kSealBytes>;

SealBytes EncodeSeal(const Seal& seal);

// kReplicaIsGone when the bytes are no seal (bad magic, version or CRC): never written, or overwritten.
Status DecodeSeal(std::span<const std::byte, kSealBytes> bytes, Seal& out);

// OK when `bytes` seal exactly `length` bytes of put `put_id` that are not superseded; kReplicaIsGone
// otherwise, with the operands.
Status CheckSeal(std::span<const std::byte, kSealBytes> bytes, PutId put_id, uint64_t length);

// Offset of the flag byte that a node sets in place to supersede; the seal's CRC does not cover it.
inline constexpr size_t kSealFlagOffset = 28;

}  // namespace mooncake

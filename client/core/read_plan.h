// Turns "these bytes of this object" into reads of runs of segments, each with its share of the proof (the seal) that
// they are bytes of the wanted version. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "master/api/types.h"
#include "transfer/base/result.h"

namespace mooncake {

// Bytes [offset, offset + length) of an object.
struct ByteRange {
  uint64_t offset = 0;
  uint64_t length = 0;
};

// One contiguous read: `length` data bytes, then, if `seal`, `skipped` bytes of no interest and the seal.
struct ReadPiece {
  size_t extent = 0;            // index in the replica
  uint64_t segment_offset = 0;  // where the read starts
  uint64_t object_offset = 0;   // where its data belongs
  uint64_t length = 0;
  uint64_t skipped = 0;  // at most kMaxSkippedBytes
  bool seal = false;
  bool whole =
      false;  // with `seal`: the range covers the extent, so that its checksum can be checked
  friend bool operator==(const ReadPiece&, const ReadPiece&) = default;
};

// A range that ends a little before its extent does reads on to the seal; a longer gap gets a read of its own.
inline constexpr uint64_t kMaxSkippedBytes = 512;

// Every extent that the range touches is covered by exactly one piece with `seal`. Pieces come in the order of the object
// and have at most `max_piece` (> 0) data bytes. The range is within the object (the caller cuts it).
// kInternal: the extents do not add up to `object_size`, so that the replica list is garbage.
Result<std::vector<ReadPiece>> PlanRead(const ReplicaDescriptor& replica, uint64_t object_size,
                                        ByteRange range, uint64_t max_piece);

// The part of `range` that exists in an object of `object_size` bytes.
ByteRange CutRange(ByteRange range, uint64_t object_size);

}  // namespace mooncake

#include "client/core/read_plan.h"

#include <algorithm>

#include "transfer/base/check.h"

namespace mooncake {
namespace {

// The extents add up to the size, and no sum on the way overflows.
Status CheckExtents(const ReplicaDescriptor& replica, uint64_t object_size) {
  uint64_t left = object_size;
  for (const Extent& extent : replica.extents) {
    if (extent.length == 0 || extent.length > left || extent.offset > kMaxSegmentBytes) {
      return Status(ErrorCode::kInternal,
                    "the master's extents do not fit the object: " + std::to_string(extent.length) +
                        " bytes at " + std::to_string(extent.offset) + " of " +
                        std::to_string(object_size) + " bytes");
    }
    left -= extent.length;
  }
  if (left != 0) {
    return Status(ErrorCode::kInternal, "the master's extents lack " + std::to_string(left) +
                                            " of " + std::to_string(object_size) + " bytes");
  }
  return Status::Ok();
}

// Bytes [from, to) of `extent`, which starts at `object_offset`.
void PlanExtent(const Extent& extent, uint64_t object_offset, uint64_t from, uint64_t to,
                uint64_t max_piece, size_t index, std::vector<ReadPiece>& out) {
  const bool whole = from == 0 && to == extent.length;
  while (from < to) {
    const uint64_t length = std::min(to - from, max_piece);
    out.push_back({.extent = index,
                   .segment_offset = extent.offset + from,
                   .object_offset = object_offset + from,
                   .length = length});
    from += length;
  }
  const uint64_t gap = SealOffset(extent.length) - to;
  if (gap <= kMaxSkippedBytes) {
    out.back().skipped = gap;
    out.back().seal = true;
    out.back().whole = whole;
  } else {
    out.push_back({.extent = index,
                   .segment_offset = extent.offset + SealOffset(extent.length),
                   .object_offset = object_offset + to,
                   .seal = true});
  }
}

}  // namespace

Result<std::vector<ReadPiece>> PlanRead(const ReplicaDescriptor& replica, uint64_t object_size,
                                        ByteRange range, uint64_t max_piece) {
  MC_CHECK(max_piece > 0);
  MC_CHECK(range.offset <= object_size && range.length <= object_size - range.offset)
      << range.offset << "+" << range.length << " of " << object_size;
  RETURN_IF_ERROR(CheckExtents(replica, object_size));
  std::vector<ReadPiece> pieces;
  const uint64_t end = range.offset + range.length;
  uint64_t start = 0;  // of the extent, in the object
  for (size_t i = 0; i < replica.extents.size() && start < end; ++i) {
    const Extent& extent = replica.extents[i];
    const uint64_t from = std::max(range.offset, start);
    const uint64_t to = std::min(end, start + extent.length);
    if (from < to) PlanExtent(extent, start, from - start, to - start, max_piece, i, pieces);
    start += extent.length;
  }
  return pieces;
}

ByteRange CutRange(ByteRange range, uint64_t object_size) {
  if (range.offset >= object_size) return {.offset = object_size, .length = 0};
  return {.offset = range.offset, .length = std::min(range.length, object_size - range.offset)};
}

}  // namespace mooncake

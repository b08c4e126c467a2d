#include "client/write_slices.h"

#include <algorithm>
#include <array>

#include "transfer/base/check.h"
#include "transfer/base/crc32c.h"

namespace mooncake::internal {
namespace {

// What lies between the data and its seal. Written, so that no bytes of an earlier object stay.
constexpr std::array<std::byte, kExtentAlignment> kPadding{};

// Transports only read the buffers of a write, but the type of a buffer is that of both directions.
MutableByteSpan ForWriting(ByteSpan bytes) {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

}  // namespace

std::vector<Slice> WriteSlices::Make(const PutWrite& write, std::span<const ByteSpan> parts) {
  const Extent& extent = write.extent;
  std::vector<Slice> slices;
  uint32_t crc = 0;
  uint64_t skip = write.object_offset;
  uint64_t done = 0;  // of the extent
  const auto start_slice = [&](uint64_t offset) -> Slice& {
    slices.push_back({.op = SliceOp::kWrite,
                      .segment = extent.segment,
                      .epoch = extent.epoch,
                      .offset = extent.offset + offset,
                      .grant = grant_});
    return slices.back();
  };
  for (ByteSpan part : parts) {
    if (skip >= part.size()) {
      skip -= part.size();
      continue;
    }
    part = part.subspan(skip);
    skip = 0;
    part = part.first(std::min<uint64_t>(part.size(), extent.length - done));
    if (checksum_) crc = Crc32c(part, crc);
    while (!part.empty()) {
      const uint64_t length = std::min<uint64_t>(part.size(), kMaxWriteSliceBytes);
      start_slice(done).buffers[0] = ForWriting(part.first(length));
      part = part.subspan(length);
      done += length;
    }
    if (done == extent.length) break;
  }
  MC_CHECK(done == extent.length) << done << " of " << extent.length;
  seals_.push_back(EncodeSeal({.put_id = grant_.put_id,
                               .length = extent.length,
                               .has_crc = checksum_,
                               .data_crc = checksum_ ? crc : 0}));
  Slice& last = slices.back();
  last.buffers[1] = ForWriting(ByteSpan(kPadding).first(SealOffset(extent.length) - extent.length));
  last.buffers[2] = seals_.back();
  return slices;
}

}  // namespace mooncake::internal

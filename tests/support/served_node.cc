#include "tests/support/served_node.h"

#include <algorithm>
#include <cstring>

#include "transfer/base/check.h"
#include "transfer/base/rng.h"

namespace mooncake::testing {
namespace {

constexpr int64_t kMasterStartMs = 1'000'000;

}  // namespace

ServedNode::ServedNode(uint64_t bytes, const Clock& clock) {
  master_clock_.Update(kMasterStartMs, clock.Now());
  ShmRegionOptions options;
  options.name = "served-node-test";
  options.segment = kSegment;
  options.data_size = bytes;
  options.epoch = kEpoch;
  auto region = ShmRegion::Create(options);
  MC_CHECK(region.ok()) << region.message();
  region_ = std::move(region).value();
  segments_ = std::make_unique<ServedSegments>(clock, master_clock_);
  MC_CHECK_OK(segments_->Add({.id = kSegment,
                              .epoch = kEpoch,
                              .memory = region_->data(),
                              .keep_alive = region_,
                              .epoch_word = &region_->header().epoch,
                              .region_fd = region_->fd(),
                              .region_bytes = region_->mapped_size()}));
}

ServedNode::~ServedNode() = default;

WriteGrant ServedNode::Grant(PutId put_id) const {
  // The estimate starts at kMasterStartMs and only ever moves on with the clock; a minute beyond any test.
  return {.put_id = put_id, .deadline_ms = kMasterStartMs + 60'000};
}

Slice ServedNode::Read(uint64_t offset, MutableByteSpan buffer) {
  Slice slice;
  slice.op = SliceOp::kRead;
  slice.segment = kSegment;
  slice.epoch = kEpoch;
  slice.offset = offset;
  slice.buffers[0] = buffer;
  return slice;
}

Slice ServedNode::Write(uint64_t offset, MutableByteSpan buffer, PutId put_id) const {
  Slice slice = Read(offset, buffer);
  slice.op = SliceOp::kWrite;
  slice.grant = Grant(put_id);
  return slice;
}

std::vector<std::byte> Pattern(size_t bytes, uint64_t seed) {
  Rng rng(seed);
  std::vector<std::byte> out(bytes);
  for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
    const uint64_t word = rng.Next();
    std::memcpy(out.data() + i, &word, std::min(bytes - i, sizeof(word)));
  }
  return out;
}

}  // namespace mooncake::testing

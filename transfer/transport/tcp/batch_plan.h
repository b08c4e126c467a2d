// Cuts a batch of slices into request frames. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "transfer/transport/tcp/frame.h"
#include "transfer/transport/transport.h"

namespace mooncake::tcp {

// A part of a slice.
struct Chunk {
  uint32_t slice = 0;   // index in the batch
  uint64_t offset = 0;  // within the slice
  uint64_t length = 0;
};

struct PlannedFrame {
  Op op = Op::kRead;
  uint64_t bytes = 0;
  std::vector<Chunk> chunks;
};

struct PlanLimits {
  uint64_t frame_bytes = uint64_t{4} << 20;  // at most kMaxPayload
  size_t frame_entries = kMaxEntries;
};

// Frames for the slices `which`, small ones not split, reads before writes. A slice of length 0 is one empty chunk.
std::vector<PlannedFrame> PlanFrames(std::span<const Slice> slices, std::span<const uint32_t> which,
                                     const PlanLimits& limits);

}  // namespace mooncake::tcp

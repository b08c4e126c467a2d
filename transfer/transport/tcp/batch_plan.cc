#include "transfer/transport/tcp/batch_plan.h"

#include <algorithm>

namespace mooncake::tcp {
namespace {

void PlanOp(std::span<const Slice> slices, std::span<const uint32_t> which, SliceOp op,
            const PlanLimits& limits, std::vector<PlannedFrame>& frames) {
  const Op wire_op = op == SliceOp::kRead ? Op::kRead : Op::kWrite;
  bool open = false;  // frames.back() may take more
  for (const uint32_t index : which) {
    if (slices[index].op != op) continue;
    const uint64_t length = slices[index].length();
    uint64_t done = 0;
    do {
      const uint64_t step = std::min(length - done, limits.frame_bytes);
      // A chunk goes into the open frame whole or starts a new one.
      if (!open || frames.back().bytes + step > limits.frame_bytes ||
          frames.back().chunks.size() == limits.frame_entries) {
        frames.push_back({.op = wire_op, .bytes = 0, .chunks = {}});
        open = true;
      }
      frames.back().chunks.push_back({.slice = index, .offset = done, .length = step});
      frames.back().bytes += step;
      done += step;
    } while (done < length);
  }
}

}  // namespace

std::vector<PlannedFrame> PlanFrames(std::span<const Slice> slices, std::span<const uint32_t> which,
                                     const PlanLimits& limits) {
  std::vector<PlannedFrame> frames;
  PlanOp(slices, which, SliceOp::kRead, limits, frames);
  PlanOp(slices, which, SliceOp::kWrite, limits, frames);
  return frames;
}

}  // namespace mooncake::tcp

// Cuts a slice into one-sided work requests. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "transfer/transport/rdma/message.h"
#include "transfer/transport/transport.h"

namespace mooncake::rdma {

// Local bytes under one local key.
struct LocalRun {
  uint64_t address = 0;
  uint64_t length = 0;
  uint32_t lkey = 0;
};

inline constexpr size_t kMaxRuns = kMaxSliceBuffers;  // scatter entries of a work request

struct WorkRequest {
  SliceOp op = SliceOp::kRead;
  uint32_t slice = 0;  // the caller's number
  uint64_t remote = 0;
  uint32_t rkey = 0;
  uint32_t run_count = 0;
  uint64_t bytes = 0;
  std::array<LocalRun, kMaxRuns> runs{};
};

// Appends the requests that move `local`, in order, from or to `offset` of the segment, which must be inside of it. One is enough
// unless the range crosses a chunk of the segment, is longer than `max_bytes`, or has more than kMaxRuns runs.
void PlanSlice(const SegmentKeys& keys, SliceOp op, uint32_t slice, uint64_t offset,
               std::span<const LocalRun> local, uint64_t max_bytes, std::vector<WorkRequest>& out);

}  // namespace mooncake::rdma

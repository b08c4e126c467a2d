#include "transfer/transport/rdma/work_plan.h"

#include <algorithm>

namespace mooncake::rdma {

void PlanSlice(const SegmentKeys& keys, SliceOp op, uint32_t slice, uint64_t offset,
               std::span<const LocalRun> local, uint64_t max_bytes, std::vector<WorkRequest>& out) {
  WorkRequest request;
  uint64_t room = 0;  // bytes that `request` may still take
  for (LocalRun run : local) {
    while (run.length > 0) {
      if (room == 0 || request.run_count == kMaxRuns) {
        if (request.run_count > 0) out.push_back(request);
        const uint64_t chunk = offset / keys.chunk_bytes;
        request = {
            .op = op, .slice = slice, .remote = keys.base + offset, .rkey = keys.keys[chunk]};
        room = std::min((chunk + 1) * keys.chunk_bytes - offset, max_bytes);
      }
      const uint64_t step = std::min(run.length, room);
      request.runs[request.run_count++] = {run.address, step, run.lkey};
      request.bytes += step;
      run.address += step;
      run.length -= step;
      offset += step;
      room -= step;
    }
  }
  if (request.run_count > 0) out.push_back(request);
}

}  // namespace mooncake::rdma

// The data side of a store node without its network: one segment of shared memory, a gate, a master's clock.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "storenode/memory/shm_region.h"
#include "transfer/base/clock.h"
#include "transfer/transport/served_segments.h"
#include "transfer/transport/transport.h"

namespace mooncake::testing {

class ServedNode {
 public:
  static constexpr SegmentId kSegment{7, 11};
  static constexpr AccessEpoch kEpoch{3};

  explicit ServedNode(uint64_t bytes, const Clock& clock = SystemClock());
  ~ServedNode();

  ServedSegments& segments() { return *segments_; }
  MasterClockEstimate& master_clock() { return master_clock_; }
  MutableByteSpan memory() { return region_->data(); }
  ShmRegion& region() { return *region_; }

  // Good for a minute of the node's clock.
  WriteGrant Grant(PutId put_id) const;
  // A slice over `buffer` at `offset`, right but for what the caller changes.
  static Slice Read(uint64_t offset, MutableByteSpan buffer);
  Slice Write(uint64_t offset, MutableByteSpan buffer, PutId put_id) const;

 private:
  MasterClockEstimate master_clock_;
  std::shared_ptr<ShmRegion> region_;
  std::unique_ptr<ServedSegments> segments_;
};

// Bytes that differ from place to place and from seed to seed.
std::vector<std::byte> Pattern(size_t bytes, uint64_t seed);

}  // namespace mooncake::testing

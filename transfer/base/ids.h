// The names that every transfer carries, shared by the data plane and the metadata service.
#pragma once

#include "transfer/base/strong_id.h"

namespace mooncake {

using SegmentId =
    Uuid<struct SegmentIdTag>;  // an incarnation: new each time a node maps fresh memory
// The version of an object. Never reused in the life of the cluster: the master's term in the high 30
// bits, a counter below. 0 = none.
using PutId = StrongId<struct PutIdTag>;
// Advanced by the node each time it (re)mounts without an unbroken session with its master. Servers refuse
// transfers that name another epoch than the current one.
using AccessEpoch = StrongId<struct AccessEpochTag>;

inline constexpr PutId kNoPut{0};

// Permission to write, checked by the node: it refuses the write once the master's clock (as the node
// knows it from its pings, rounded up) has passed `deadline_ms`.
struct WriteGrant {
  PutId put_id;
  int64_t deadline_ms = 0;
};

}  // namespace mooncake

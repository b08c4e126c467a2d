// Asks a node whether it serves a segment, in the words of the data plane.
#pragma once

#include <memory>

#include "storenode/node/data_server.h"
#include "transfer/base/clock.h"
#include "transfer/transport/transport.h"

namespace mooncake {

// Reads one byte of the segment over `transport`. A node that answers at all for this segment lives, also if it refuses the
// epoch; another process at the same address does not count. `clock` must outlive the probe.
SegmentProbe MakeSegmentProbe(std::shared_ptr<Transport> transport, const Clock& clock);

}  // namespace mooncake

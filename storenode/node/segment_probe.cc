#include "storenode/node/segment_probe.h"

#include <algorithm>
#include <utility>

namespace mooncake {
namespace {

// A live node of the same network answers in milliseconds; a frozen one shall not hold up its successor.
constexpr Duration kPatience = Seconds(1);

}  // namespace

SegmentProbe MakeSegmentProbe(std::shared_ptr<Transport> transport, const Clock& clock) {
  return [transport = std::move(transport), &clock](const SegmentDescriptor& segment,
                                                    TimePoint deadline) {
    deadline = std::min(deadline, clock.Now() + kPatience);
    // Not the local socket: the question is whether the network address is taken.
    const PeerAddress peer{
        .host_id = segment.host_id, .protocol = segment.protocol, .endpoint = segment.endpoint};
    if (!transport->CanReach(peer)) return false;
    const auto connection = transport->Connect(peer, deadline);
    if (!connection.ok()) return false;
    std::byte byte{};
    Slice slice{.op = SliceOp::kRead, .segment = segment.id, .epoch = segment.epoch};
    slice.buffers[0] = {&byte, 1};
    (*connection)->Execute({&slice, 1}, deadline);
    return slice.status.ok() || slice.status.code() == ErrorCode::kInvalidVersion;
  };
}

}  // namespace mooncake

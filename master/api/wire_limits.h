// Limits of the wire beyond those of types.h.
#pragma once

#include <cstddef>

#include "master/api/types.h"
#include "transfer/base/time.h"

namespace mooncake::wire {

// In front of each frame, which is built with room for it.
inline constexpr size_t kLengthBytes = 4;
inline constexpr size_t kMaxFrameBytes = size_t{1} << 26;    // a reply, without its length
inline constexpr size_t kMaxRequestBytes = size_t{1} << 24;  // a request
inline constexpr size_t kMaxNameBytes = 1024;     // names of segments, hosts, groups; addresses
inline constexpr size_t kMaxSegmentNames = 1024;  // preferred or excluded segments of one request
inline constexpr size_t kMaxExtents = kMaxBatch;  // of one replica
inline constexpr size_t kMaxMessageBytes = 512;   // of a status; longer ones are cut
inline constexpr size_t kMaxDelimiterBytes = 16;
inline constexpr Duration kMaxTimeout = Seconds(600);  // a caller that waits longer asks again

}  // namespace mooncake::wire

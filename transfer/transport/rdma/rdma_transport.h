// Transport over RDMA devices: one-sided READs and WRITEs between the caller's memory and the segments of a node.
#pragma once

#include <cstdint>
#include <memory>

#include "transfer/base/clock.h"
#include "transfer/base/result.h"
#include "transfer/transport/transport.h"

namespace mooncake {

struct RdmaTransportOptions {
  size_t max_channels_per_peer = 16;         // queue pairs; who finds them all in use waits
  Duration connect_timeout = Seconds(3);     // of one dial
  uint32_t send_depth = 128;                 // work requests under way on a queue pair
  uint32_t signal_every = 16;                // work requests between two completions
  uint64_t chunk_bytes = uint64_t{1} << 30;  // of a registration of the caller's memory
  uint64_t max_request_bytes = 0;            // of a work request; 0: what the device takes
  // Buffers that are not registered: up to this many bytes they are copied through staging, longer ones are registered for the
  // time of their transfer.
  uint64_t max_staged_bytes = uint64_t{16} << 10;
  size_t staging_bytes = size_t{256} << 10;  // of a queue pair; at least 3 * max_staged_bytes
};

// Since the start.
struct RdmaTransportCounters {
  uint64_t work_requests = 0;  // one-sided, posted
  uint64_t messages =
      0;  // requests to the node's processor: keys, begin and end of writes, control
  uint64_t bytes_copied = 0;   // of buffers that were not registered
  uint64_t registrations = 0;  // during transfers, of buffers that were not registered
  uint64_t dials = 0;
};

// Name "rdma"; reaches peers of protocol "rdma". Thread-safe.
class RdmaTransport : public Transport {
 public:
  // `clock` must outlive it and its connections; connections may outlive it. kNotSupported: no device that can be used; the
  // message says why. kInvalidParams: options that contradict each other.
  static Result<std::unique_ptr<RdmaTransport>> Create(const RdmaTransportOptions& options,
                                                       const Clock& clock);
  virtual RdmaTransportCounters counters() const = 0;
};

}  // namespace mooncake

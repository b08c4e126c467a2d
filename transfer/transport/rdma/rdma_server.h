// The data server of a store node for clients with RDMA: hands out the keys of its segments, admits writes, takes keys and queue pairs
// back.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "transfer/base/clock.h"
#include "transfer/base/result.h"
#include "transfer/transport/served_segments.h"

namespace mooncake {

struct RdmaServerOptions {
  std::string listen;           // HOST:PORT of an RDMA device's network, port 0 for any
  std::string advertised_host;  // in endpoint(); "" = the host of `listen`
  std::string host_id;          // of this machine
  size_t max_channels = 1024;   // queue pairs; then the longest idle one is dropped
  uint64_t chunk_bytes = uint64_t{1} << 30;  // of a registration of segment memory
  // Registered before Create() returns, others when the first client asks for their keys. Takes as long as pinning the memory.
  std::vector<std::pair<SegmentId, AccessEpoch>> prepare;
};

struct RdmaServerStats {
  uint64_t channels = 0;  // open now
  uint64_t exports = 0;   // segments registered with a device now
  uint64_t accepted = 0;
  uint64_t refused = 0;
  uint64_t requests = 0;  // that this processor answered; one-sided transfers are none
  uint64_t bad_messages = 0;
  uint64_t writes_cut = 0;  // queue pairs ended in the middle of a write
};

// Thread-safe.
class RdmaServer {
 public:
  virtual ~RdmaServer() = default;  // as Stop()

  // Serves when it returns. `segments` and `clock` must outlive it. kInvalidParams, kNotSupported (no device, limit of locked memory), kTransferFail
  // (address): the message names cause and cure.
  static Result<std::unique_ptr<RdmaServer>> Create(const RdmaServerOptions& options,
                                                    ServedSegments& segments, const Clock& clock);

  // HOST:PORT with the port that was really bound.
  virtual const std::string& endpoint() const = 0;
  virtual RdmaServerStats stats() const = 0;

  // Cuts all queue pairs, takes all keys back, and returns when none is left. Idempotent.
  virtual void Stop() = 0;
};

}  // namespace mooncake

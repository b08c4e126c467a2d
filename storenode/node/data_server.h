// What a node needs of the thing that serves its segments to others. The adapters are chosen where the process is put together.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "master/api/types.h"
#include "transfer/base/clock.h"
#include "transfer/base/result.h"
#include "transfer/transport/served_segments.h"

namespace mooncake {

// Thread-safe.
class DataServer {
 public:
  virtual ~DataServer() = default;  // as Stop()
  // HOST:PORT for others to connect to, with the port that was really bound.
  virtual const std::string& endpoint() const = 0;
  // Cuts all connections and returns when none is left. Idempotent.
  virtual void Stop() = 0;
};

struct DataServerOptions {
  std::string listen;           // HOST:PORT, port 0 for any
  std::string advertised_host;  // in endpoint(); "" = the host of `listen`
  std::string local_socket;     // "" = none
  std::string host_id;
  // What is served: known to the devices before the server answers, so that what stands against it is an error of the start.
  SegmentId segment;
  AccessEpoch epoch;
};

// Serves when it returns. kInvalidParams, kTransferFail: the message names cause and cure.
using DataServerFactory = std::function<Result<std::unique_ptr<DataServer>>(
    const DataServerOptions& options, ServedSegments& segments, const Clock& clock)>;

// True if a live node serves this very segment at its endpoint. May block until `deadline`.
using SegmentProbe = std::function<bool(const SegmentDescriptor& segment, TimePoint deadline)>;

}  // namespace mooncake

// The data server of a store node: listens on TCP and on a Unix socket, a thread per stream.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "transfer/base/clock.h"
#include "transfer/base/result.h"
#include "transfer/transport/served_segments.h"
#include "transfer/transport/tcp/socket.h"

namespace mooncake {

struct TcpServerOptions {
  std::string listen = "127.0.0.1:0";  // HOST:PORT, port 0 for any; "" = no TCP
  std::string advertised_host;         // in endpoint(); "" = the host of `listen`
  std::string local_socket;   // path or "@name"; "" = none. Serves the same user and root only
  std::string host_id;        // of this machine
  size_t max_streams = 1024;  // then the longest idle one is dropped
  Duration hello_timeout = Seconds(5);
  Duration frame_timeout = Seconds(20);
  Duration send_timeout = Seconds(60);
  tcp::SocketOptions socket;
};

struct TcpServerStats {
  uint64_t streams = 0;  // open now
  uint64_t accepted = 0;
  uint64_t refused = 0;
  uint64_t requests = 0;
  uint64_t bytes_read = 0;     // out of segments
  uint64_t bytes_written = 0;  // into segments
  uint64_t bad_frames = 0;
};

// Thread-safe.
class TcpServer {
 public:
  virtual ~TcpServer() = default;  // as Stop()

  // Serves when it returns. `segments` and `clock` must outlive it. kInvalidParams, kTransferFail: the message
  // names cause and cure.
  static Result<std::unique_ptr<TcpServer>> Create(const TcpServerOptions& options,
                                                   ServedSegments& segments, const Clock& clock);

  // HOST:PORT with the port that was really bound: what goes into PeerAddress and what HELLO tells. Without TCP
  // the name of the Unix socket.
  virtual const std::string& endpoint() const = 0;
  virtual TcpServerStats stats() const = 0;

  // Cuts all streams and returns when none is left. Idempotent.
  virtual void Stop() = 0;
};

}  // namespace mooncake

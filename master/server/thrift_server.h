// Serves a MasterApi over Thrift (framed, binary) on one TCP port. Headers of Thrift are not needed to use it.
#pragma once

#include <functional>
#include <memory>

#include "master/api/master_api.h"
#include "master/server/call_counters.h"
#include "master/server/frame_server.h"

namespace mooncake {

struct ThriftServerOptions {
  HostPort address;  // port 0: any free one; "127.0.0.1" keeps it on this host
  size_t max_connections = 4096;
  Duration idle_timeout = Duration::zero();  // 0 = never
  // Counts here how long calls take, if given; must outlive the server.
  CallLatencies* latencies = nullptr;
};

// Thread-safe. Serves from Start until Stop or destruction; `master` and `clock` must outlive it. `term` gives the term for each reply.
class ThriftServer {
 public:
  static Result<std::unique_ptr<ThriftServer>> Start(const ThriftServerOptions& options,
                                                     MasterApi& master, std::function<Term()> term,
                                                     const Clock& clock);
  ~ThriftServer();

  const HostPort& address() const { return frames_->address(); }
  size_t connections() const { return frames_->connections(); }
  uint64_t refused() const { return frames_->refused(); }
  // See FrameServer::Stop.
  void Stop() { frames_->Stop(); }

 private:
  explicit ThriftServer(std::unique_ptr<FrameServer> frames);
  std::unique_ptr<FrameServer> frames_;
};

}  // namespace mooncake

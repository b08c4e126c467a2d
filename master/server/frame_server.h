// A TCP server of framed requests, one thread per connection. Knows nothing of Thrift. What it guards against, and why it is
// not one of Thrift's own servers: README.md, "Server type and protocol".
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "transfer/base/byte_span.h"
#include "transfer/base/clock.h"
#include "transfer/base/result.h"
#include "transfer/base/units.h"

namespace mooncake {

struct FrameServerOptions {
  HostPort address;                               // port 0: any free one
  size_t max_connections = 4096;                  // the next one is told so and closed
  size_t max_frame_bytes = size_t{16} << 20;      // of a request
  size_t max_buffered_bytes = size_t{512} << 20;  // of all large requests together
  Duration frame_timeout =
      Seconds(30);  // for a whole request once it began, and for a reply to be taken
  Duration idle_timeout =
      Duration::zero();  // connections without a request are closed after this; 0 = never
  Duration stop_grace =
      Seconds(1);  // requests in progress may finish for this long when the server stops
  std::vector<std::byte>
      refusal;  // frame, with four bytes of room, sent to connections beyond the limit
};

// One connection's half of the conversation. Used by one thread at a time.
class FrameSession {
 public:
  struct Reply {
    MutableByteSpan
        frame;  // with four bytes of room in front; valid until the next call; empty: nothing to say
    bool keep_open = true;
  };
  virtual ~FrameSession() = default;
  virtual Reply Handle(ByteSpan request) = 0;
};

// Thread-safe. Serves from Start until Stop or destruction.
class FrameServer {
 public:
  using SessionFactory = std::function<std::unique_ptr<FrameSession>()>;

  // kRpcFail with cause and cure when the address cannot be had. `clock` must outlive the server.
  static Result<std::unique_ptr<FrameServer>> Start(FrameServerOptions options,
                                                    SessionFactory sessions, const Clock& clock);
  ~FrameServer();

  const HostPort& address() const;  // with the real port
  size_t connections() const;
  uint64_t refused() const;  // connections beyond the limit, since start

  // Idle connections are closed at once, requests in progress get `stop_grace` to send their reply. Returns when every thread has
  // ended, so a handler that does not return holds it up. Idempotent.
  void Stop();

 private:
  class Impl;
  explicit FrameServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace mooncake

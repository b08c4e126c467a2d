// One stream to a data server, from the client's side. A stream that failed once is of no more use.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transfer/base/clock.h"
#include "transfer/base/unique_fd.h"
#include "transfer/transport/tcp/frame.h"
#include "transfer/transport/tcp/server_sessions.h"
#include "transfer/transport/tcp/socket.h"
#include "transfer/transport/transport.h"

namespace mooncake::tcp {

// Where a stream goes, and who must answer there.
struct DialTarget {
  bool local = false;   // Unix socket
  std::string address;  // of the socket
  std::string host_id;  // that the peer must tell
  std::string endpoint;
};

// Random; never nil.
SessionId NewSession();

// Thread-compatible.
class ClientStream {
 public:
  // Connects and says HELLO for `session`. kTransferFail: no way, or somebody else answers there. kRpcTimeout.
  static Result<std::unique_ptr<ClientStream>> Dial(const DialTarget& target,
                                                    const SessionId& session,
                                                    const SocketOptions& options,
                                                    const Clock& clock, TimePoint deadline);

  // Settles the slices `which` and removes from it those that are settled. OK: all are. kTransferFail, kRpcTimeout.
  Status Run(std::span<Slice> slices, std::vector<uint32_t>& which, TimePoint deadline);

  // One request of one entry without payload. The status of the stream; that of the request goes to `code`.
  Status Call(Op op, const Entry& entry, TimePoint deadline, ErrorCode& code);

  struct Region {
    UniqueFd fd;
    uint64_t bytes = 0;
  };
  // Asks for the region of a segment. As Call; `region` is set when `code` is kOk.
  Status Map(const SegmentId& segment, TimePoint deadline, ErrorCode& code, Region& region);

  // Says HELLO again: false when nobody answers in time.
  bool Probe(TimePoint deadline);
  bool looks_dead() const { return LooksDead(fd_.get()); }

  const SessionId& session() const { return session_; }
  TimePoint last_used() const { return last_used_; }

 private:
  ClientStream(UniqueFd fd, const DialTarget& target, const SessionId& session, const Clock& clock);
  Status Hello(TimePoint deadline);
  Status SendRequest(Op op, const Entry& entry, TimePoint deadline);
  Status CheckReply(std::span<const std::byte, kHeaderBytes> bytes, Op op,
                    FrameHeader& header) const;

  const UniqueFd fd_;
  const DialTarget target_;
  const SessionId session_;
  const Clock& clock_;
  uint64_t next_request_id_ = 1;
  TimePoint last_used_;
};

}  // namespace mooncake::tcp

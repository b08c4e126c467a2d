// One accepted stream of a data server: reads requests, moves bytes between the socket and segment memory, answers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "transfer/base/clock.h"
#include "transfer/base/unique_fd.h"
#include "transfer/transport/served_segments.h"
#include "transfer/transport/tcp/frame.h"
#include "transfer/transport/tcp/server_sessions.h"
#include "transfer/transport/tcp/socket.h"

namespace mooncake::tcp {

struct ServerCounters {
  std::atomic<uint64_t> accepted{0};
  std::atomic<uint64_t> refused{0};  // untrusted, or no slot
  std::atomic<uint64_t> requests{0};
  std::atomic<uint64_t> bytes_read{0};     // out of segments
  std::atomic<uint64_t> bytes_written{0};  // into segments
  std::atomic<uint64_t> bad_frames{0};
};

// What all streams of a server share; outlives them.
struct ServerContext {
  ServedSegments& segments;
  const Clock& clock;
  Identity identity;
  ServerSessions sessions;
  ServerCounters counters;
  Duration hello_timeout = Seconds(5);
  Duration frame_timeout = Seconds(20);  // from the first byte of a request to its last entry
  Duration send_timeout = Seconds(60);
  Duration takeover_timeout = Seconds(2);
};

// Run() belongs to one thread; Cut() and idle_since() to any.
class ServerStream final : public CutTarget, public std::enable_shared_from_this<ServerStream> {
 public:
  ServerStream(UniqueFd fd, bool local, ServerContext& context);

  // Serves until the stream ends. No access is held afterwards.
  void Run();
  void Cut() override;

  // kNever while a request is being served.
  TimePoint idle_since() const {
    return TimePoint(Duration(idle_since_.load(std::memory_order_relaxed)));
  }

 private:
  // Each returns false when the stream has to end.
  bool ServeOne(bool first);
  bool ReceiveRequest(FrameHeader& header, TimePoint deadline);
  bool Dispatch(const FrameHeader& header);
  bool ServeHello(const FrameHeader& header);
  bool ServeRead(const FrameHeader& header);
  bool ServeWrite(const FrameHeader& header);
  bool ServeFence(const FrameHeader& header);
  bool ServeMap(const FrameHeader& header);

  bool SendCode(const FrameHeader& request, ErrorCode code);
  void BuildReplyHead(const FrameHeader& request, uint64_t payload);

  const UniqueFd fd_;
  const bool local_;
  ServerContext& context_;
  SessionId session_;
  std::atomic<bool> cut_{false};     // asked between receives; orders nothing
  std::atomic<int64_t> idle_since_;  // for the choice of a stream to drop; orders nothing
  std::vector<Entry> entries_;
  std::vector<ErrorCode> codes_;
  std::vector<ServedAccess> accesses_;
  std::vector<std::byte> head_;     // of the request, then of the reply
  std::vector<std::byte> scratch_;  // where refused bytes go
};

}  // namespace mooncake::tcp

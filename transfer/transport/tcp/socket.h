// Stream sockets without surprises: non-blocking descriptors, every wait bounded by a deadline, no SIGPIPE.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "transfer/base/byte_span.h"
#include "transfer/base/clock.h"
#include "transfer/base/result.h"
#include "transfer/base/unique_fd.h"

namespace mooncake::tcp {

struct SocketOptions {
  int buffer_bytes =
      4 << 20;  // SO_SNDBUF and SO_RCVBUF; the kernel caps it. 0: the kernel's own sizing
  Duration user_timeout =
      Seconds(10);  // unacknowledged bytes for this long: the connection is dead
  Duration keepalive_idle = Seconds(15);
};

// HOST:PORT, "[v6]:port", port 0 for any. Tries the addresses of a name in turn. kTransferFail with cause and cure.
Result<UniqueFd> ListenTcp(const std::string& address, const SocketOptions& options);
// A path, or "@name" for an abstract socket. A stale path of a dead server is replaced; a live one is kTransferFail.
Result<UniqueFd> ListenUnix(const std::string& address, const SocketOptions& options);
// HOST:PORT of what `fd` is bound to, host numeric. "" for Unix sockets.
uint16_t BoundPort(int fd);

// Non-blocking stream, options set. kTransferFail: refused, unreachable, no such name. kRpcTimeout.
// Name look-up is the system's and can take longer than the deadline; give addresses where that matters.
Result<UniqueFd> ConnectTcp(const std::string& address, const SocketOptions& options,
                            const Clock& clock, TimePoint deadline);
Result<UniqueFd> ConnectUnix(const std::string& address, const SocketOptions& options,
                             const Clock& clock, TimePoint deadline);
// The next connection of `listener`, options set; an invalid descriptor when there is none.
UniqueFd Accept(int listener, const SocketOptions& options);

// True when the process behind a Unix stream runs under our user id or as root; `peer_uid` for the log.
bool PeerIsTrusted(int fd, uint32_t& peer_uid);

// Waits for `events` (poll). False at the deadline. Spurious trues happen.
bool WaitFor(int fd, short events, const Clock& clock, TimePoint deadline);

// Without a deadline: ends when there is something, or when the stream is shut down.
void WaitForever(int fd, short events);

// A list of buffers with a position. Consume() moves on.
class IoVector {
 public:
  void Clear();
  void Add(MutableByteSpan bytes);
  void Add(ByteSpan bytes);  // for sending only
  void Consume(size_t bytes);
  bool empty() const { return next_ == items_.size(); }
  size_t bytes() const { return bytes_; }
  // At most as many as one system call takes.
  std::span<iovec> front();

 private:
  std::vector<iovec> items_;
  size_t next_ = 0;
  size_t bytes_ = 0;
};

enum class IoOutcome : uint8_t { kProgress, kWouldBlock, kClosed };
struct IoResult {
  IoOutcome outcome = IoOutcome::kClosed;
  int error = 0;  // errno of kClosed; 0: orderly end
};
// One system call; consumes from `io` what was moved.
IoResult SendSome(int fd, IoVector& io);
IoResult ReceiveSome(int fd, IoVector& io);

// All of `io`, or: kRpcTimeout at the deadline, kTransferFail when the stream ended or `*stop` became true (asked before
// each system call: a stream that was shut down still delivers what had arrived).
Status SendAll(int fd, IoVector& io, const Clock& clock, TimePoint deadline);
Status ReceiveAll(int fd, IoVector& io, const Clock& clock, TimePoint deadline,
                  const std::atomic<bool>* stop = nullptr);

// As SendAll/ReceiveAll for a single buffer, with a descriptor beside its first byte. Unix sockets only.
Status SendWithFd(int fd, ByteSpan bytes, int passed, const Clock& clock, TimePoint deadline);
// `passed` stays invalid when none came.
Status ReceiveWithFd(int fd, MutableByteSpan bytes, UniqueFd& passed, const Clock& clock,
                     TimePoint deadline);

// An idle stream that the other side has closed, or that has bytes nobody asked for: not to be used again.
bool LooksDead(int fd);

}  // namespace mooncake::tcp

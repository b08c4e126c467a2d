// One TCP connection that carries frames (4 bytes of length, big endian, then the bytes), with deadlines that hold for the
// whole frame, however slowly the peer drips, and memory that grows only as bytes arrive.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "master/api/wire_budget.h"
#include "transfer/base/byte_span.h"
#include "transfer/base/clock.h"
#include "transfer/base/result.h"
#include "transfer/base/units.h"

namespace mooncake::wire {

// Not thread-safe, but Interrupt-style shutdown(2) on fd() from another thread is fine while the object lives.
class FrameSocket {
 public:
  FrameSocket() = default;
  // Takes over `fd`, a connected blocking stream socket, and sets its options. A wait without a near deadline blocks for
  // `slice` at a time: the grain at which an endless wait looks at its deadline again.
  // `budget`, if any, is charged with buffers of more than 256 KiB, and must outlive the socket.
  explicit FrameSocket(int fd, Duration slice = Seconds(1), ByteBudget* budget = nullptr);
  ~FrameSocket();
  FrameSocket(FrameSocket&& other) noexcept;
  FrameSocket& operator=(FrameSocket&& other) noexcept;

  // Tries each address of the host in turn. kRpcTimeout at the deadline, kRpcFail otherwise. Looking up a host name takes as long
  // as the system's resolver is configured to take, which may be beyond the deadline; numeric addresses are never looked up.
  static Result<FrameSocket> Connect(const HostPort& peer, const Clock& clock, TimePoint deadline);

  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void Close();

  // `frame` includes the four bytes of room for the length in front, which this call fills. kRpcTimeout, or kRpcFail
  // when the connection is broken; either way the stream is then of no more use.
  Status Send(MutableByteSpan frame, const Clock& clock, TimePoint deadline);

  // Waits until `first_byte` for a frame to begin, and from then at most `whole` for all of it. The bytes stay valid until
  // the next call. kRpcTimeout, kRpcFail (closed or broken), kInvalidParams (longer than `limit`), kNoAvailableHandle (the budget is used up).
  Result<ByteSpan> Receive(size_t limit, const Clock& clock, TimePoint first_byte, Duration whole);

  // After a failed Receive: whether any byte of a frame had come.
  bool partly_received() const { return have_ > 0; }

  // True when nothing waits to be read and the peer has not closed, as far as this host knows yet.
  bool LooksIdle() const;

 private:
  Result<size_t> ReceiveSome(const Clock& clock, TimePoint deadline);
  void DropConsumed();
  bool GrowTo(size_t bytes);

  int fd_ = -1;
  Duration slice_{};
  ByteCharge charge_;
  std::vector<std::byte> buffer_;
  size_t have_ = 0;      // bytes in buffer_
  size_t consumed_ = 0;  // of them, the frame handed out last
};

// A listening socket. `address` may be a name, IPv4, IPv6 or "" (all); "::" takes IPv4 too.
struct ListenSocket {
  int fd = -1;
  HostPort bound;  // with the port that was chosen when 0 was asked for
};
// kRpcFail with cause and cure.
Result<ListenSocket> Listen(const HostPort& address);

}  // namespace mooncake::wire

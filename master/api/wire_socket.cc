#include "master/api/wire_socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "master/api/wire_limits.h"

namespace mooncake::wire {
namespace {

constexpr size_t kFirstBuffer = 4096;
constexpr size_t kKeptBuffer = size_t{256} << 10;  // a larger one is given back after its frame
std::string ErrnoText(int error) { return std::strerror(error); }

void SetOption(int fd, int level, int name, int value) {
  // Failure leaves a slower or less watchful connection, not a broken one.
  (void)setsockopt(fd, level, name, &value, sizeof value);
}

void SetOptions(int fd, Duration slice) {
  SetOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  // Finds peers that vanished without a word, in about a minute and a half.
  SetOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPIDLE, 60);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPINTVL, 10);
  SetOption(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  const timeval limit{.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(slice).count(),
                      .tv_usec = 0};
  (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

// Milliseconds for poll(2): rounded up, so that it never spins, and bounded.
int PollTimeout(Duration left) {
  return static_cast<int>(std::clamp<int64_t>((left.count() + 999'999) / 1'000'000, 0, 60'000));
}

// The flags for the recv or send that follows: 0 when it may block, since the socket's own limit of one slice ends before the
// deadline (one system call in the common case); MSG_DONTWAIT when the socket is ready, or broken.
Result<int> AwaitReady(int fd, short events, Duration slice, const Clock& clock,
                       TimePoint deadline) {
  for (;;) {
    const Duration left = deadline == kNever ? slice : deadline - clock.Now();
    if (left >= slice) return 0;
    if (left <= Duration::zero()) return Status(ErrorCode::kRpcTimeout, "the deadline has passed");
    pollfd entry{.fd = fd, .events = events, .revents = 0};
    const int ready = poll(&entry, 1, PollTimeout(left));
    if (ready > 0) return MSG_DONTWAIT;
    if (ready < 0 && errno != EINTR)
      return Status(ErrorCode::kRpcFail, "poll: " + ErrnoText(errno));
  }
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Result<Addresses> Resolve(const HostPort& peer, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const char* host = peer.host.empty() ? nullptr : peer.host.c_str();
  const int error = getaddrinfo(host, std::to_string(peer.port).c_str(), &hints, &list);
  if (error != 0) {
    return Status(ErrorCode::kRpcFail,
                  "cannot resolve '" + peer.host +
                      "': " + (error == EAI_SYSTEM ? ErrnoText(errno) : gai_strerror(error)));
  }
  return Addresses(list);
}

// A connected blocking socket.
Result<int> ConnectOne(const addrinfo& address, const Clock& clock, TimePoint deadline) {
  const int fd = socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                        address.ai_protocol);
  if (fd < 0) return Status(ErrorCode::kRpcFail, "socket: " + ErrnoText(errno));
  const auto fail = [&](ErrorCode code, const std::string& message) {
    close(fd);
    return Status(code, message);
  };
  if (connect(fd, address.ai_addr, address.ai_addrlen) != 0 && errno != EINPROGRESS) {
    return fail(ErrorCode::kRpcFail, "connect: " + ErrnoText(errno));
  }
  for (;;) {
    const Duration left = deadline - clock.Now();
    if (left <= Duration::zero())
      return fail(ErrorCode::kRpcTimeout, "connect: the deadline has passed");
    pollfd entry{.fd = fd, .events = POLLOUT, .revents = 0};
    const int ready = poll(&entry, 1, PollTimeout(left));
    if (ready > 0) break;
    if (ready < 0 && errno != EINTR) return fail(ErrorCode::kRpcFail, "poll: " + ErrnoText(errno));
  }
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  if (error != 0) return fail(ErrorCode::kRpcFail, "connect: " + ErrnoText(error));
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0) {
    return fail(ErrorCode::kRpcFail, "fcntl: " + ErrnoText(errno));
  }
  return fd;
}

uint32_t ReadLength(const std::byte* bytes) {
  uint32_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i)
    length = (length << 8) | std::to_integer<uint32_t>(bytes[i]);
  return length;
}

}  // namespace

FrameSocket::FrameSocket(int fd, Duration slice, ByteBudget* budget)
    : fd_(fd), slice_(slice), charge_(budget) {
  SetOptions(fd, slice);
}
FrameSocket::~FrameSocket() { Close(); }

FrameSocket::FrameSocket(FrameSocket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      slice_(other.slice_),
      charge_(std::move(other.charge_)),
      buffer_(std::move(other.buffer_)),
      have_(std::exchange(other.have_, 0)),
      consumed_(std::exchange(other.consumed_, 0)) {}

FrameSocket& FrameSocket::operator=(FrameSocket&& other) noexcept {
  if (this == &other) return *this;
  Close();
  fd_ = std::exchange(other.fd_, -1);
  slice_ = other.slice_;
  charge_ = std::move(other.charge_);
  buffer_ = std::move(other.buffer_);
  have_ = std::exchange(other.have_, 0);
  consumed_ = std::exchange(other.consumed_, 0);
  return *this;
}

void FrameSocket::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

Result<FrameSocket> FrameSocket::Connect(const HostPort& peer, const Clock& clock,
                                         TimePoint deadline) {
  auto addresses = Resolve(peer, AI_NUMERICHOST);
  if (!addresses.ok()) addresses = Resolve(peer, 0);
  if (!addresses.ok()) return addresses.status();

  int left = 0;
  for (const addrinfo* a = addresses->get(); a != nullptr; a = a->ai_next) ++left;
  Status last(ErrorCode::kRpcFail, "'" + peer.host + "' has no address");
  for (const addrinfo* a = addresses->get(); a != nullptr; a = a->ai_next, --left) {
    const TimePoint now = clock.Now();
    // An address that does not answer must not use up the time of those after it.
    const TimePoint until =
        (deadline == kNever || left == 1) ? deadline : now + (deadline - now) / left;
    auto fd = ConnectOne(*a, clock, until == kNever ? now + Seconds(60) : until);
    if (fd.ok()) return FrameSocket(*fd);
    last = fd.status();
  }
  return last;
}

Status FrameSocket::Send(MutableByteSpan frame, const Clock& clock, TimePoint deadline) {
  const auto length = static_cast<uint32_t>(frame.size() - kLengthBytes);
  for (size_t i = 0; i < kLengthBytes; ++i) {
    frame[i] = static_cast<std::byte>(length >> (8 * (kLengthBytes - 1 - i)));
  }
  while (!frame.empty()) {
    ASSIGN_OR_RETURN(const int flags, AwaitReady(fd_, POLLOUT, slice_, clock, deadline));
    const ssize_t sent = send(fd_, frame.data(), frame.size(), flags | MSG_NOSIGNAL);
    if (sent >= 0) {
      frame = frame.subspan(static_cast<size_t>(sent));
    } else if (errno != EINTR && errno != EAGAIN) {
      return Status(ErrorCode::kRpcFail, "send: " + ErrnoText(errno));
    }
  }
  return Status::Ok();
}

void FrameSocket::DropConsumed() {
  if (consumed_ == 0) return;
  if (have_ > consumed_)
    std::memmove(buffer_.data(), buffer_.data() + consumed_, have_ - consumed_);
  have_ -= consumed_;
  consumed_ = 0;
  if (buffer_.size() > kKeptBuffer && have_ <= kFirstBuffer) {
    buffer_.resize(kFirstBuffer);
    buffer_.shrink_to_fit();
    (void)charge_.Set(0);  // giving back always works
  }
}

bool FrameSocket::GrowTo(size_t bytes) {
  if (bytes > kKeptBuffer && !charge_.Set(bytes)) return false;
  buffer_.resize(bytes);
  return true;
}

Result<size_t> FrameSocket::ReceiveSome(const Clock& clock, TimePoint deadline) {
  for (;;) {
    ASSIGN_OR_RETURN(const int flags, AwaitReady(fd_, POLLIN, slice_, clock, deadline));
    const ssize_t got = recv(fd_, buffer_.data() + have_, buffer_.size() - have_, flags);
    if (got > 0) return static_cast<size_t>(got);
    if (got == 0) return Status(ErrorCode::kRpcFail, "the peer closed the connection");
    if (errno != EINTR && errno != EAGAIN) {
      return Status(ErrorCode::kRpcFail, "recv: " + ErrnoText(errno));
    }
  }
}

Result<ByteSpan> FrameSocket::Receive(size_t limit, const Clock& clock, TimePoint first_byte,
                                      Duration whole) {
  DropConsumed();
  if (buffer_.size() < kFirstBuffer) buffer_.resize(kFirstBuffer);
  TimePoint deadline = have_ > 0 ? SaturatingAdd(clock.Now(), whole) : first_byte;
  for (;;) {
    if (have_ >= kLengthBytes) {
      const size_t length = ReadLength(buffer_.data());
      if (length > limit) {
        return Status(ErrorCode::kInvalidParams, "a frame of " + std::to_string(length) +
                                                     " bytes; the limit is " +
                                                     std::to_string(limit));
      }
      const size_t needed = kLengthBytes + length;
      if (have_ >= needed) {
        consumed_ = needed;
        return ByteSpan(buffer_.data() + kLengthBytes, length);
      }
      // Doubling: never more memory than twice what really arrived.
      if (have_ == buffer_.size() && !GrowTo(std::min(needed, buffer_.size() * 2))) {
        return Status(
            ErrorCode::kNoAvailableHandle,
            "no memory for a frame of " + std::to_string(length) + " bytes: others use the budget");
      }
    }
    const bool first = have_ == 0;
    ASSIGN_OR_RETURN(const size_t got, ReceiveSome(clock, deadline));
    have_ += got;
    if (first) deadline = SaturatingAdd(clock.Now(), whole);
  }
}

bool FrameSocket::LooksIdle() const {
  if (fd_ < 0 || have_ > consumed_) return false;
  char byte = 0;
  const ssize_t got = recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got < 0 && errno == EAGAIN;
}

Result<ListenSocket> Listen(const HostPort& address) {
  const std::string shown =
      HostPort{address.host.empty() ? "*" : address.host, address.port}.ToString();
  const auto fail = [&](const std::string& cause, int error) {
    std::string cure = "check the address: it must belong to this host";
    if (error == EADDRINUSE)
      cure = "stop the program that uses this port, or choose another port (0 takes any free one)";
    if (error == EACCES) cure = "ports below 1024 need privileges; choose a higher one";
    return Status(ErrorCode::kRpcFail, "cannot listen on " + shown + ": " + cause + "; " + cure);
  };
  auto addresses = Resolve(address, AI_PASSIVE);
  if (!addresses.ok()) return fail(addresses.message(), 0);
  const addrinfo& chosen = **addresses;
  const int fd = socket(chosen.ai_family, chosen.ai_socktype | SOCK_CLOEXEC, chosen.ai_protocol);
  if (fd < 0) return fail("socket: " + ErrnoText(errno), errno);
  SetOption(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  if (chosen.ai_family == AF_INET6) SetOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
  sockaddr_storage bound{};
  socklen_t length = sizeof bound;
  if (bind(fd, chosen.ai_addr, chosen.ai_addrlen) != 0 || listen(fd, 1024) != 0 ||
      getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &length) != 0) {
    const int error = errno;
    close(fd);
    return fail(ErrnoText(error), error);
  }
  const in_port_t port = bound.ss_family == AF_INET6
                             ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                             : reinterpret_cast<sockaddr_in*>(&bound)->sin_port;
  return ListenSocket{fd, HostPort{address.host, ntohs(port)}};
}

}  // namespace mooncake::wire

// Moving bytes; setting up is in socket.cc.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string>

#include "transfer/transport/tcp/socket.h"

namespace mooncake::tcp {
namespace {

// Waits are cut into pieces of this length, so that a clock that is not the kernel's (tests) is seen to move.
constexpr Duration kLongestWait = Seconds(1);

msghdr MessageOf(std::span<iovec> pieces) {
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = pieces.size();
  return message;
}

IoResult OutcomeOf(ssize_t moved, IoVector& io) {
  if (moved > 0) {
    io.Consume(static_cast<size_t>(moved));
    return {IoOutcome::kProgress, 0};
  }
  if (moved == 0) return {IoOutcome::kClosed, 0};
  if (errno == EAGAIN || errno == EINTR) return {IoOutcome::kWouldBlock, 0};
  return {IoOutcome::kClosed, errno};
}

Status ClosedStatus(const IoResult& result, const char* doing) {
  return Status(ErrorCode::kTransferFail,
                std::string(doing) + ": " +
                    (result.error == 0 ? "closed by the peer" : std::strerror(result.error)));
}

template <typename Some>
Status MoveAll(int fd, IoVector& io, const Clock& clock, TimePoint deadline, short events,
               const char* doing, const Some& some) {
  while (!io.empty()) {
    // Asked before each call and on progress too: a process that was frozen must not move bytes after the deadline, and a
    // peer that sends one byte at a time must not live for ever.
    const bool late = clock.Now() >= deadline;
    const IoResult result = late ? IoResult{IoOutcome::kWouldBlock, 0} : some(fd, io);
    if (result.outcome == IoOutcome::kClosed) return ClosedStatus(result, doing);
    if (late ||
        (result.outcome == IoOutcome::kWouldBlock && !WaitFor(fd, events, clock, deadline))) {
      return Status(ErrorCode::kRpcTimeout, std::string(doing) + ": " + std::to_string(io.bytes()) +
                                                " bytes left at the deadline");
    }
  }
  return Status::Ok();
}

}  // namespace

bool WaitFor(int fd, short events, const Clock& clock, TimePoint deadline) {
  while (true) {
    const Duration left = deadline - clock.Now();
    if (left <= Duration::zero()) return false;
    pollfd item{.fd = fd, .events = events, .revents = 0};
    const int64_t ms = ToMillis(std::min(left, kLongestWait)) + 1;
    if (::poll(&item, 1, static_cast<int>(ms)) > 0) return true;
  }
}

void WaitForever(int fd, short events) {
  pollfd item{.fd = fd, .events = events, .revents = 0};
  while (::poll(&item, 1, -1) < 0 && errno == EINTR) {
  }
}

void IoVector::Clear() {
  items_.clear();
  next_ = 0;
  bytes_ = 0;
}

void IoVector::Add(MutableByteSpan bytes) {
  if (bytes.empty()) return;
  items_.push_back({bytes.data(), bytes.size()});
  bytes_ += bytes.size();
}

void IoVector::Add(ByteSpan bytes) {
  // iovec has no const form; sendmsg does not write through it.
  Add(MutableByteSpan(const_cast<std::byte*>(bytes.data()), bytes.size()));
}

void IoVector::Consume(size_t bytes) {
  bytes_ -= bytes;
  while (bytes > 0) {
    iovec& item = items_[next_];
    const size_t step = std::min(bytes, item.iov_len);
    item.iov_base = static_cast<std::byte*>(item.iov_base) + step;
    item.iov_len -= step;
    bytes -= step;
    if (item.iov_len == 0) ++next_;
  }
}

std::span<iovec> IoVector::front() {
  return std::span<iovec>(items_).subspan(next_, std::min<size_t>(items_.size() - next_, IOV_MAX));
}

IoResult SendSome(int fd, IoVector& io) {
  const msghdr message = MessageOf(io.front());
  return OutcomeOf(::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT), io);
}

IoResult ReceiveSome(int fd, IoVector& io) {
  msghdr message = MessageOf(io.front());
  return OutcomeOf(::recvmsg(fd, &message, MSG_DONTWAIT), io);
}

Status SendAll(int fd, IoVector& io, const Clock& clock, TimePoint deadline) {
  return MoveAll(fd, io, clock, deadline, POLLOUT, "send", SendSome);
}

Status ReceiveAll(int fd, IoVector& io, const Clock& clock, TimePoint deadline,
                  const std::atomic<bool>* stop) {
  const auto some = [stop](int socket, IoVector& rest) {
    if (stop != nullptr && stop->load(std::memory_order_relaxed))
      return IoResult{IoOutcome::kClosed, ECANCELED};
    return ReceiveSome(socket, rest);
  };
  return MoveAll(fd, io, clock, deadline, POLLIN, "receive", some);
}

Status SendWithFd(int fd, ByteSpan bytes, int passed, const Clock& clock, TimePoint deadline) {
  IoVector io;
  io.Add(bytes);
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  const auto first = [&](int socket, IoVector& rest) {
    msghdr message = MessageOf(rest.front());
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* item = CMSG_FIRSTHDR(&message);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(item), &passed, sizeof(int));
    return OutcomeOf(::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT), rest);
  };
  bool sent_fd = false;
  const auto some = [&](int socket, IoVector& rest) {
    const IoResult result = sent_fd ? SendSome(socket, rest) : first(socket, rest);
    sent_fd |= result.outcome == IoOutcome::kProgress;
    return result;
  };
  return MoveAll(fd, io, clock, deadline, POLLOUT, "send", some);
}

Status ReceiveWithFd(int fd, MutableByteSpan bytes, UniqueFd& passed, const Clock& clock,
                     TimePoint deadline) {
  IoVector io;
  io.Add(bytes);
  const auto some = [&](int socket, IoVector& rest) {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * 4)> control{};
    msghdr message = MessageOf(rest.front());
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const IoResult result =
        OutcomeOf(::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC), rest);
    if (result.outcome != IoOutcome::kProgress) return result;
    for (cmsghdr* item = CMSG_FIRSTHDR(&message); item != nullptr;
         item = CMSG_NXTHDR(&message, item)) {
      if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
      const size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t i = 0; i < count; ++i) {
        int received = -1;
        std::memcpy(&received, CMSG_DATA(item) + i * sizeof(int), sizeof(int));
        passed.Reset(received);  // of several the last stays, none leaks
      }
    }
    return result;
  };
  return MoveAll(fd, io, clock, deadline, POLLIN, "receive", some);
}

bool LooksDead(int fd) {
  char byte = 0;
  const ssize_t got = ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got >= 0 || (errno != EAGAIN && errno != EINTR);
}

}  // namespace mooncake::tcp

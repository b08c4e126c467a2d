#include "transfer/transport/tcp/socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "transfer/base/units.h"

namespace mooncake::tcp {
namespace {

constexpr int kBacklog = 512;

std::string ErrnoText(int error) { return std::strerror(error); }

Status Failed(const std::string& doing, int error) {
  return Status(ErrorCode::kTransferFail, doing + ": " + ErrnoText(error));
}

void SetInt(int fd, int level, int name, int value) {
  (void)::setsockopt(fd, level, name, &value, sizeof(value));
}

// Before connect and listen, because the window scale is agreed upon then.
void SetBuffers(int fd, const SocketOptions& options) {
  if (options.buffer_bytes == 0) return;
  SetInt(fd, SOL_SOCKET, SO_SNDBUF, options.buffer_bytes);
  SetInt(fd, SOL_SOCKET, SO_RCVBUF, options.buffer_bytes);
}

void SetTcpOptions(int fd, const SocketOptions& options) {
  SetInt(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  SetInt(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  SetInt(fd, IPPROTO_TCP, TCP_KEEPIDLE, static_cast<int>(ToMillis(options.keepalive_idle) / 1000));
  SetInt(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  SetInt(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  SetInt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(ToMillis(options.user_timeout)));
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Result<Addresses> Resolve(const HostPort& where, bool passive) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0);
  addrinfo* list = nullptr;
  const int error =
      ::getaddrinfo(where.host.c_str(), std::to_string(where.port).c_str(), &hints, &list);
  if (error != 0) {
    return Status(ErrorCode::kTransferFail,
                  "host '" + EscapeForDisplay(where.host) + "': " + ::gai_strerror(error));
  }
  return Addresses(list);
}

Result<std::pair<sockaddr_un, socklen_t>> UnixAddress(const std::string& address) {
  sockaddr_un out{};
  out.sun_family = AF_UNIX;
  const std::string shown = EscapeForDisplay(address);
  if (address.empty() || address == "@") {
    return Status(ErrorCode::kInvalidParams, "'" + shown + "' is no name for a Unix socket");
  }
  if (address.size() >= sizeof(out.sun_path)) {
    return Status(ErrorCode::kInvalidParams, "Unix socket '" + shown + "' is longer than " +
                                                 std::to_string(sizeof(out.sun_path) - 1) +
                                                 " bytes");
  }
  std::memcpy(out.sun_path, address.data(), address.size());
  if (address[0] == '@') out.sun_path[0] = '\0';
  const size_t tail = address[0] == '@' ? 0 : 1;
  return std::pair(out,
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size() + tail));
}

// Finishes a non-blocking connect.
Status AwaitConnect(int fd, const std::string& what, const Clock& clock, TimePoint deadline) {
  if (!WaitFor(fd, POLLOUT, clock, deadline)) {
    return Status(ErrorCode::kRpcTimeout, what + ": no answer before the deadline");
  }
  int error = 0;
  socklen_t size = sizeof(error);
  (void)::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  return error == 0 ? Status::Ok() : Failed(what, error);
}

// True when a server answers on the socket file, so that it must not be taken away.
bool IsServed(const sockaddr_un& address, socklen_t size) {
  const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0 ||
         errno == EAGAIN;
}

}  // namespace

Result<UniqueFd> ListenTcp(const std::string& address, const SocketOptions& options) {
  ASSIGN_OR_RETURN(const HostPort where, ParseHostPort(address, /*allow_zero_port=*/true));
  ASSIGN_OR_RETURN(const Addresses list, Resolve(where, /*passive=*/true));
  Status last(ErrorCode::kTransferFail, "listen on " + address + ": no address");
  for (const addrinfo* item = list.get(); item != nullptr; item = item->ai_next) {
    UniqueFd fd(::socket(item->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.valid()) {
      last = Failed("socket for " + address, errno);
      continue;
    }
    SetInt(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    if (item->ai_family == AF_INET6) SetInt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
    SetBuffers(fd.get(), options);
    if (::bind(fd.get(), item->ai_addr, item->ai_addrlen) == 0 && ::listen(fd.get(), kBacklog) == 0)
      return fd;
    last =
        Status(ErrorCode::kTransferFail,
               "listen on " + address + ": " + ErrnoText(errno) +
                   (errno == EADDRINUSE ? "; stop the other process or choose another port" : ""));
  }
  return last;
}

Result<UniqueFd> ListenUnix(const std::string& address, const SocketOptions& options) {
  ASSIGN_OR_RETURN(const auto where, UnixAddress(address));
  const auto* raw = reinterpret_cast<const sockaddr*>(&where.first);
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return Failed("socket", errno);
  SetBuffers(fd.get(), options);
  int bound = ::bind(fd.get(), raw, where.second);
  if (bound != 0 && errno == EADDRINUSE && address[0] != '@' &&
      !IsServed(where.first, where.second)) {
    (void)::unlink(address.c_str());
    bound = ::bind(fd.get(), raw, where.second);
  }
  if (bound != 0) return Failed("bind of Unix socket '" + EscapeForDisplay(address) + "'", errno);
  // Who may connect is decided by the credentials of the peer; the file's mode must not exclude root's clients.
  if (::listen(fd.get(), kBacklog) != 0)
    return Failed("listen on '" + EscapeForDisplay(address) + "'", errno);
  return fd;
}

uint16_t BoundPort(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET)
    return ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
  if (address.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port);
  return 0;
}

Result<UniqueFd> ConnectTcp(const std::string& address, const SocketOptions& options,
                            const Clock& clock, TimePoint deadline) {
  ASSIGN_OR_RETURN(const HostPort where, ParseHostPort(address));
  ASSIGN_OR_RETURN(const Addresses list, Resolve(where, /*passive=*/false));
  Status last(ErrorCode::kTransferFail, "connect to " + address + ": no address");
  for (const addrinfo* item = list.get(); item != nullptr; item = item->ai_next) {
    UniqueFd fd(::socket(item->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.valid()) {
      last = Failed("socket for " + address, errno);
      continue;
    }
    SetBuffers(fd.get(), options);
    SetTcpOptions(fd.get(), options);
    if (::connect(fd.get(), item->ai_addr, item->ai_addrlen) == 0) return fd;
    last = errno == EINPROGRESS ? AwaitConnect(fd.get(), "connect to " + address, clock, deadline)
                                : Failed("connect to " + address, errno);
    if (last.ok()) return fd;
    if (last.code() == ErrorCode::kRpcTimeout) break;
  }
  return last;
}

Result<UniqueFd> ConnectUnix(const std::string& address, const SocketOptions& options,
                             const Clock& clock, TimePoint deadline) {
  ASSIGN_OR_RETURN(const auto where, UnixAddress(address));
  const std::string what = "connect to '" + EscapeForDisplay(address) + "'";
  while (true) {
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.valid()) return Failed("socket", errno);
    SetBuffers(fd.get(), options);
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&where.first), where.second) == 0)
      return fd;
    if (errno != EAGAIN) return Failed(what, errno);
    // The server's backlog is full, and a Unix socket has no way to wait for it.
    if (clock.Now() >= deadline)
      return Status(ErrorCode::kRpcTimeout, what + ": the backlog stays full");
    (void)::poll(nullptr, 0, 2);
  }
}

UniqueFd Accept(int listener, const SocketOptions& options) {
  UniqueFd fd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd.valid()) return fd;
  SetBuffers(fd.get(), options);
  if (BoundPort(fd.get()) != 0) SetTcpOptions(fd.get(), options);
  return fd;
}

bool PeerIsTrusted(int fd, uint32_t& peer_uid) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  peer_uid = peer.uid;
  return peer.uid == 0 || peer.uid == ::geteuid();
}

}  // namespace mooncake::tcp

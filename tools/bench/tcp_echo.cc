#include "tools/bench/tcp_echo.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

namespace mooncake::bench {
namespace {

Status SystemError(const char* what) {
  return Status(ErrorCode::kTransferFail,
                std::string(what) + " on loopback: " + std::strerror(errno));
}

bool SendAll(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0 && errno != EINTR) return false;
    if (n > 0) bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return true;
}

bool ReceiveAll(int fd, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::recv(fd, bytes.data(), bytes.size(), MSG_WAITALL);
    if (n == 0 || (n < 0 && errno != EINTR)) return false;
    if (n > 0) bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return true;
}

void NoDelay(int fd) {
  const int on = 1;
  (void)::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

void Answer(int fd, uint64_t up, uint64_t down) {
  std::vector<std::byte> in(up);
  const std::vector<std::byte> out(down);
  while (ReceiveAll(fd, in) && SendAll(fd, out)) continue;
}

}  // namespace

Result<std::unique_ptr<TcpEcho>> TcpEcho::Create(uint64_t up, uint64_t down) {
  UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (!listener.valid() || ::bind(listener.get(), generic, sizeof(address)) != 0 ||
      ::listen(listener.get(), 1) != 0 || ::getsockname(listener.get(), generic, &length) != 0) {
    return SystemError("listen");
  }
  UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!client.valid() || ::connect(client.get(), generic, length) != 0)
    return SystemError("connect");
  UniqueFd server(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!server.valid()) return SystemError("accept");
  NoDelay(client.get());
  NoDelay(server.get());
  return std::unique_ptr<TcpEcho>(new TcpEcho(std::move(client), std::move(server), up, down));
}

TcpEcho::TcpEcho(UniqueFd client, UniqueFd server, uint64_t up, uint64_t down)
    : client_(std::move(client)),
      server_(std::move(server)),
      out_(up),
      in_(down),
      thread_([fd = server_.get(), up, down] { Answer(fd, up, down); }) {}

TcpEcho::~TcpEcho() {
  ::shutdown(client_.get(), SHUT_RDWR);
  thread_.join();
}

Status TcpEcho::Call() {
  if (SendAll(client_.get(), out_) && ReceiveAll(client_.get(), in_)) return Status::Ok();
  return SystemError("round trip");
}

}  // namespace mooncake::bench

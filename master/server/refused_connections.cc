#include "master/server/refused_connections.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace mooncake {
namespace {

constexpr size_t kMaxWaiting = 64;
constexpr Duration kPatience = Seconds(1);
constexpr size_t kLengthBytes = 4;

// True when the peer has closed or the connection is broken.
bool Ended(int fd) {
  std::array<std::byte, 4096> scratch;
  // A few rounds only: a peer that sends without end is cut by its deadline.
  for (int round = 0; round < 16; ++round) {
    const ssize_t got = recv(fd, scratch.data(), scratch.size(), MSG_DONTWAIT);
    if (got == 0) return true;
    if (got < 0) return errno != EAGAIN && errno != EINTR;
  }
  return false;
}

}  // namespace

RefusedConnections::RefusedConnections(std::vector<std::byte> frame) : frame_(std::move(frame)) {
  if (frame_.size() < kLengthBytes) frame_.clear();
  const size_t length = frame_.empty() ? 0 : frame_.size() - kLengthBytes;
  for (size_t i = 0; i < kLengthBytes && !frame_.empty(); ++i) {
    frame_[i] = static_cast<std::byte>(length >> (8 * (kLengthBytes - 1 - i)));
  }
}

RefusedConnections::~RefusedConnections() {
  for (const Waiting& waiting : waiting_) close(waiting.fd);
}

void RefusedConnections::Add(int fd, TimePoint now) {
  // A fresh connection's buffer holds the frame; if not, the peer just sees the end.
  if (!frame_.empty()) (void)!send(fd, frame_.data(), frame_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  shutdown(fd, SHUT_WR);
  if (waiting_.size() >= kMaxWaiting) {
    close(fd);
    return;
  }
  waiting_.push_back({fd, now + kPatience});
}

void RefusedConnections::AppendTo(std::vector<pollfd>& entries) const {
  for (const Waiting& waiting : waiting_)
    entries.push_back({.fd = waiting.fd, .events = POLLIN, .revents = 0});
}

void RefusedConnections::Drain(TimePoint now) {
  std::erase_if(waiting_, [now](const Waiting& waiting) {
    if (!Ended(waiting.fd) && now < waiting.until) return false;
    close(waiting.fd);
    return true;
  });
}

}  // namespace mooncake

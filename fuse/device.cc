#include "fuse/device.h"

#define FUSE_USE_VERSION 314
#include <linux/fuse.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fuse3/fuse_lowlevel.h>

namespace mooncake::fs {
namespace {

// Of protocol 7.39 and 7.40; the headers of Debian 12 end at 7.37.
constexpr uint32_t kInitExtended = 1u << 30;
constexpr uint32_t kDirectMmap2 = 1u << 4;   // FUSE_DIRECT_IO_ALLOW_MMAP, bit 36
constexpr uint32_t kPassthrough2 = 1u << 5;  // FUSE_PASSTHROUGH, bit 37
constexpr uint32_t kMaxStackDepth = 1;       // backing files are never on a stacked file system

struct InitReply {
  uint32_t major;
  uint32_t minor;
  uint32_t max_readahead;
  uint32_t flags;
  uint16_t max_background;
  uint16_t congestion_threshold;
  uint32_t max_write;
  uint32_t time_gran;
  uint16_t max_pages;
  uint16_t map_alignment;
  uint32_t flags2;
  uint32_t max_stack_depth;
  uint32_t unused[6];
};
static_assert(sizeof(InitReply) == 64);

struct BackingMap {
  int32_t fd;
  uint32_t flags;
  uint64_t padding;
};
constexpr unsigned long kBackingOpen = _IOW(229, 1, BackingMap);
constexpr unsigned long kBackingClose = _IOW(229, 2, uint32_t);

// libfuse hands the session's user data to the hooks.
Device& Self(void* userdata) { return *static_cast<DeviceUser*>(userdata)->device; }

ssize_t HookRead(int fd, void* buffer, size_t length, void* userdata) {
  return Self(userdata).Receive(fd, buffer, length);
}
ssize_t HookWritev(int fd, iovec* parts, int count, void* userdata) {
  return Self(userdata).Send(fd, parts, count);
}

}  // namespace

bool Device::Attach(fuse_session* session) {
  fd_ = fuse_session_fd(session);
  const fuse_custom_io hooks{
      .writev = HookWritev, .read = HookRead, .splice_receive = nullptr, .splice_send = nullptr};
  return fuse_session_custom_io(session, &hooks, fd_) == 0;
}

ssize_t Device::Receive(int fd, void* buffer, size_t length) {
  const ssize_t n = read(fd, buffer, length);
  if (n < static_cast<ssize_t>(sizeof(fuse_in_header))) return n;
  fuse_in_header header;
  std::memcpy(&header, buffer, sizeof header);
  if (header.opcode != FUSE_INIT) return n;
  fuse_init_in init{};
  std::memcpy(&init, static_cast<char*>(buffer) + sizeof header,
              std::min(sizeof init, static_cast<size_t>(n) - sizeof header));
  offered_flags2_.store((init.flags & kInitExtended) != 0 ? init.flags2 : 0,
                        std::memory_order_relaxed);
  init_unique_.store(header.unique, std::memory_order_release);
  return n;
}

ssize_t Device::Send(int fd, iovec* parts, int count) {
  const uint64_t init = init_unique_.load(std::memory_order_acquire);
  if (init != 0 && count > 0 && parts[0].iov_len >= sizeof(fuse_out_header)) {
    fuse_out_header header;
    std::memcpy(&header, parts[0].iov_base, sizeof header);
    if (header.unique == init) {
      init_unique_.store(0, std::memory_order_release);
      if (header.error == 0) return SendInit(fd, parts, count);
    }
  }
  return writev(fd, parts, count);
}

ssize_t Device::SendInit(int fd, const iovec* parts, int count) {
  std::vector<char> message;
  for (int i = 0; i < count; ++i) {
    const char* bytes = static_cast<const char*>(parts[i].iov_base);
    message.insert(message.end(), bytes, bytes + parts[i].iov_len);
  }
  const uint32_t offered = offered_flags2_.load(std::memory_order_relaxed);
  if (message.size() == sizeof(fuse_out_header) + sizeof(InitReply) && offered != 0) {
    InitReply reply;
    char* place = message.data() + sizeof(fuse_out_header);
    std::memcpy(&reply, place, sizeof reply);
    reply.flags |= kInitExtended;
    reply.flags2 |= offered & kDirectMmap2;
    if (want_passthrough_ && (offered & kPassthrough2) != 0) {
      reply.flags2 |= kPassthrough2;
      reply.max_stack_depth = kMaxStackDepth;
    }
    std::memcpy(place, &reply, sizeof reply);
    direct_mmap_.store((reply.flags2 & kDirectMmap2) != 0, std::memory_order_release);
    passthrough_.store((reply.flags2 & kPassthrough2) != 0, std::memory_order_release);
  }
  return write(fd, message.data(), message.size());
}

uint32_t Device::Register(int fd) {
  const BackingMap map{.fd = fd, .flags = 0, .padding = 0};
  const int id = ioctl(fd_, kBackingOpen, &map);
  return id > 0 ? static_cast<uint32_t>(id) : 0;
}

void Device::Unregister(uint32_t id) { ioctl(fd_, kBackingClose, &id); }

}  // namespace mooncake::fs

// The line to the kernel, below libfuse: switches on protocol features that libfuse 3.14 does not know, by changing the
// reply to INIT on its way out, and registers files that the kernel serves by itself (passthrough).
// Facts behind it: fuse/README.md, "Below libfuse".
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <atomic>
#include <cstdint>

#include "fuse/fs/backing.h"

struct fuse_session;

namespace mooncake::fs {

class Device;

// The user data of the session has to be one of these, so that libfuse's hooks find the device.
struct DeviceUser {
  Device* device = nullptr;
};

// Thread-safe. Must outlive the session that it is attached to.
class Device final : public BackingFiles {
 public:
  // `passthrough`: ask for it if the kernel offers it.
  explicit Device(bool passthrough) : want_passthrough_(passthrough) {}

  // After fuse_session_mount. False: libfuse refused.
  bool Attach(fuse_session* session);

  // After INIT.
  bool mmap_of_direct_files() const { return direct_mmap_.load(std::memory_order_acquire); }
  bool passthrough() const { return passthrough_.load(std::memory_order_acquire); }

  // BackingFiles. Needs CAP_SYS_ADMIN; 0 and errno otherwise.
  uint32_t Register(int fd) override;
  void Unregister(uint32_t id) override;

  // For the hooks.
  ssize_t Receive(int fd, void* buffer, size_t length);
  ssize_t Send(int fd, iovec* parts, int count);

 private:
  ssize_t SendInit(int fd, const iovec* parts, int count);

  const bool want_passthrough_;
  int fd_ = -1;
  // The INIT request, between its arrival and its reply. One thread handles both.
  std::atomic<uint64_t> init_unique_{0};
  std::atomic<uint32_t> offered_flags2_{0};
  std::atomic<bool> direct_mmap_{false};
  std::atomic<bool> passthrough_{false};
};

}  // namespace mooncake::fs

// Where slabs live: a tmpfs mounted nowhere (so nothing is left behind, whatever happens to the process), memfds where
// that needs rights we do not have, unlinked files for what does not fit in memory.
#include <fcntl.h>
#include <linux/mount.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "fuse/fs/slab.h"
#include "transfer/base/units.h"

namespace mooncake::fs {
namespace {

// From here on huge pages are worth the whole pages they take.
constexpr uint64_t kLargeBytes = 2 * kMiB;

// The C library of Debian 12 has wrappers for these, musl and older ones do not.
int FsOpen(const char* type) { return static_cast<int>(syscall(SYS_fsopen, type, FSOPEN_CLOEXEC)); }
int FsSet(int fs, const char* key, const char* value) {
  return static_cast<int>(syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, key, value, 0));
}

// A directory of a new tmpfs that is attached to no path; -1 without the privilege.
int OpenPrivateTmpfs(bool huge_pages) {
  const int fs = FsOpen("tmpfs");
  if (fs < 0) return -1;
  // The budget is kept by SlabPool, which can move a slab to disk; the kernel would just fail a write.
  bool ok = FsSet(fs, "size", "100%") == 0 && FsSet(fs, "mode", "0700") == 0;
  if (huge_pages && FsSet(fs, "huge", "within_size") != 0) huge_pages = false;
  ok = ok && syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0;
  const int mount = ok ? static_cast<int>(syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, 0)) : -1;
  close(fs);
  return mount;
}

}  // namespace

Result<std::unique_ptr<SlabPool>> SlabPool::Create(const SlabPoolOptions& options) {
  if (access(options.spill_dir.c_str(), W_OK | X_OK) != 0) {
    return Status(ErrorCode::kInvalidParams, "spill_dir " + options.spill_dir + ": " +
                                                 std::strerror(errno) +
                                                 "; name a writable directory with -o spill_dir=");
  }
  std::unique_ptr<SlabPool> pool(new SlabPool(options));
  pool->tmpfs_fd_ = OpenPrivateTmpfs(options.huge_pages);
  return pool;
}

SlabPool::~SlabPool() {
  if (tmpfs_fd_ >= 0) close(tmpfs_fd_);
}

std::string SlabPool::Describe() const {
  return std::string(tmpfs_fd_ >= 0 ? "private tmpfs" : "memfd") + ", " +
         FormatSize(options_.memory_bytes) + " in memory, the rest in " + options_.spill_dir;
}

bool SlabPool::Charge(uint64_t bytes) {
  while (!TryCharge(bytes)) {
    if (bytes > options_.memory_bytes || !reclaimer_ || !reclaimer_(bytes)) return false;
  }
  return true;
}

bool SlabPool::TryCharge(uint64_t bytes) {
  uint64_t used = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > options_.memory_bytes || used > options_.memory_bytes - bytes) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

void SlabPool::Release(uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

int SlabPool::MakeMemoryFile(bool large) {
  if (tmpfs_fd_ >= 0 && large) {
    const int fd = openat(tmpfs_fd_, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
  }
  return memfd_create("mooncake-slab", MFD_CLOEXEC);
}

int SlabPool::MakeDiskFile() {
  const int fd = open(options_.spill_dir.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return fd;
  std::string name =
      options_.spill_dir + "/.mooncake-slab-XXXXXX";  // for file systems without O_TMPFILE
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

std::shared_ptr<Slab> SlabPool::MakeInMemory(uint64_t bytes) {
  const int fd = MakeMemoryFile(bytes >= kLargeBytes);
  if (fd < 0) return nullptr;
  std::shared_ptr<Slab> slab(new Slab(*this, fd, true));
  const int pinned = slab->Pin();  // so that it fails rather than move to disk
  (void)pinned;
  const Errno sized = slab->Resize(bytes);
  slab->Unpin();
  return sized.ok() ? slab : nullptr;
}

ErrnoOr<std::shared_ptr<Slab>> SlabPool::Make(uint64_t expected_bytes) {
  bool fits = expected_bytes <= options_.memory_bytes;
  while (fits && used_bytes() > options_.memory_bytes - expected_bytes)
    fits = reclaimer_ && reclaimer_(expected_bytes);
  const int fd =
      fits ? MakeMemoryFile(expected_bytes >= kLargeBytes || expected_bytes == 0) : MakeDiskFile();
  if (fd < 0) return Errno{errno};
  return std::shared_ptr<Slab>(new Slab(*this, fd, fits));
}

}  // namespace mooncake::fs

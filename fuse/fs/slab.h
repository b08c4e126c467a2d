// A slab is an unlinked file of exactly one value's bytes: what writers write into, what publishing reads from, and
// what the kernel can serve by itself. Slabs begin in memory; one that outgrows the memory budget moves to disk.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "fuse/fs/errno_or.h"
#include "transfer/base/byte_span.h"
#include "transfer/base/mutex.h"
#include "transfer/base/result.h"

namespace mooncake::fs {

struct SlabPoolOptions {
  uint64_t memory_bytes = 0;           // of slabs in memory, by length
  std::string spill_dir = "/var/tmp";  // where slabs go that do not fit
  bool huge_pages = true;  // where the kernel has them; silently smaller pages elsewhere
};

class SlabPool;

// Thread-safe. Reads and writes of one range at the same time interleave as in any file.
class Slab {
 public:
  ~Slab();
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  // Bytes read; fewer than asked only at the end.
  ErrnoOr<size_t> ReadAt(uint64_t offset, MutableByteSpan buffer) const;
  // All of `bytes` or an error. May move the slab to disk.
  Errno WriteAt(uint64_t offset, ByteSpan bytes);
  // At the end as it is when the write takes place; the offset it got.
  ErrnoOr<uint64_t> Append(ByteSpan bytes);
  // Longer: the new bytes are zero.
  Errno Resize(uint64_t size);
  // Makes zeros of a range without changing the size.
  Errno PunchHole(uint64_t offset, uint64_t length);

  uint64_t size() const;
  // Grows with every change of the bytes, however it was made through this class.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  bool in_memory() const;

  // Read access to the whole value while the mapping lives. The bytes are stable only if nobody writes.
  class Mapping {
   public:
    Mapping() = default;
    Mapping(void* address, size_t length) : address_(address), length_(length) {}
    Mapping(Mapping&& other) noexcept { *this = std::move(other); }
    Mapping& operator=(Mapping&& other) noexcept;
    ~Mapping();
    ByteSpan bytes() const { return {static_cast<const std::byte*>(address_), length_}; }
    MutableByteSpan writable() { return {static_cast<std::byte*>(address_), length_}; }

   private:
    void* address_ = nullptr;
    size_t length_ = 0;
  };
  ErrnoOr<Mapping> Map() const;
  ErrnoOr<Mapping> MapForFill();

  // The file, for the kernel. Until Unpin the slab cannot move to disk.
  int Pin();
  void Unpin();

 private:
  friend class SlabPool;
  Slab(SlabPool& pool, int fd, bool in_memory) : pool_(pool), fd_(fd), in_memory_(in_memory) {}

  ErrnoOr<Mapping> MapWith(int protection) const;
  Errno GrowTo(uint64_t size) MC_REQUIRES(grow_mutex_);
  Errno ResizeLocked(uint64_t size) MC_REQUIRES(grow_mutex_);
  Errno WriteBytes(uint64_t offset, ByteSpan bytes);
  Errno MoveToDisk() MC_REQUIRES(grow_mutex_);

  SlabPool& pool_;
  Mutex grow_mutex_;                // size changes; taken before file_mutex_
  mutable SharedMutex file_mutex_;  // exclusive only while the file is exchanged
  int fd_ MC_GUARDED_BY(file_mutex_);
  bool in_memory_ MC_GUARDED_BY(file_mutex_);
  int pins_ MC_GUARDED_BY(grow_mutex_) = 0;
  uint64_t charged_ MC_GUARDED_BY(grow_mutex_) = 0;  // bytes of the pool's memory budget
  std::atomic<uint64_t> size_{0};
  std::atomic<uint64_t> generation_{0};
};

// Thread-safe; must outlive its slabs.
class SlabPool {
 public:
  // Never fails for want of privileges: without a private tmpfs slabs are memfds.
  static Result<std::unique_ptr<SlabPool>> Create(const SlabPoolOptions& options);
  ~SlabPool();
  SlabPool(const SlabPool&) = delete;
  SlabPool& operator=(const SlabPool&) = delete;

  // An empty slab. A slab that is known to be larger than what is left of the budget starts on disk.
  ErrnoOr<std::shared_ptr<Slab>> Make(uint64_t expected_bytes = 0);

  // In memory or not at all: null when the budget does not allow it.
  std::shared_ptr<Slab> MakeInMemory(uint64_t bytes);

  // Called when the budget is used up, with the bytes wanted; true if it gave some back. Before the first slab is made.
  void SetReclaimer(std::function<bool(uint64_t)> reclaimer) { reclaimer_ = std::move(reclaimer); }

  uint64_t used_bytes() const { return used_.load(std::memory_order_relaxed); }
  uint64_t memory_bytes() const { return options_.memory_bytes; }
  // How slabs are backed, for the log.
  std::string Describe() const;

 private:
  friend class Slab;
  explicit SlabPool(SlabPoolOptions options) : options_(std::move(options)) {}

  bool Charge(uint64_t bytes);
  bool TryCharge(uint64_t bytes);
  void Release(uint64_t bytes);
  int MakeMemoryFile(bool large);
  int MakeDiskFile();

  const SlabPoolOptions options_;
  int tmpfs_fd_ = -1;
  std::function<bool(uint64_t)> reclaimer_;
  std::atomic<uint64_t> used_{0};
};

}  // namespace mooncake::fs

#include "fuse/fs/slab.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace mooncake::fs {
namespace {

constexpr size_t kCopyBytes = size_t{1} << 20;

ErrnoOr<size_t> ReadAll(int fd, uint64_t offset, MutableByteSpan buffer) {
  size_t done = 0;
  while (done < buffer.size()) {
    const ssize_t n =
        pread(fd, buffer.data() + done, buffer.size() - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Errno{errno};
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  return done;
}

Errno WriteAll(int fd, uint64_t offset, ByteSpan bytes) {
  while (!bytes.empty()) {
    const ssize_t n = pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Errno{n < 0 ? errno : EIO};
    offset += static_cast<uint64_t>(n);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return kSuccess;
}

// Data only; holes stay holes.
Errno CopyFile(int from, int to, uint64_t size) {
  std::vector<std::byte> buffer(kCopyBytes);
  off_t data = 0;
  while (static_cast<uint64_t>(data) < size) {
    data = lseek(from, data, SEEK_DATA);
    if (data < 0) return errno == ENXIO ? kSuccess : Errno{errno};
    const off_t hole = lseek(from, data, SEEK_HOLE);
    if (hole < 0) return Errno{errno};
    while (data < hole) {
      const size_t want = std::min<size_t>(kCopyBytes, static_cast<size_t>(hole - data));
      const auto got =
          ReadAll(from, static_cast<uint64_t>(data), MutableByteSpan(buffer).first(want));
      if (!got.ok()) return got.error();
      if (*got == 0) return kSuccess;
      const Errno written = WriteAll(to, static_cast<uint64_t>(data), ByteSpan(buffer).first(*got));
      if (!written.ok()) return written;
      data += static_cast<off_t>(*got);
    }
  }
  return kSuccess;
}

}  // namespace

Slab::Mapping& Slab::Mapping::operator=(Mapping&& other) noexcept {
  std::swap(address_, other.address_);
  std::swap(length_, other.length_);
  return *this;
}

Slab::Mapping::~Mapping() {
  if (address_ != nullptr) munmap(address_, length_);
}

Slab::~Slab() {
  pool_.Release(charged_);
  close(fd_);
}

uint64_t Slab::size() const { return size_.load(std::memory_order_acquire); }

bool Slab::in_memory() const {
  ReaderLock lock(file_mutex_);
  return in_memory_;
}

ErrnoOr<size_t> Slab::ReadAt(uint64_t offset, MutableByteSpan buffer) const {
  const uint64_t end = size();
  if (offset >= end) return size_t{0};
  ReaderLock lock(file_mutex_);
  return ReadAll(
      fd_, offset,
      buffer.first(static_cast<size_t>(std::min<uint64_t>(buffer.size(), end - offset))));
}

Errno Slab::WriteAt(uint64_t offset, ByteSpan bytes) {
  if (bytes.empty()) return kSuccess;
  if (offset + bytes.size() > size()) {
    MutexLock lock(grow_mutex_);
    const Errno grown = GrowTo(offset + bytes.size());
    if (!grown.ok()) return grown;
    return WriteBytes(offset, bytes);
  }
  return WriteBytes(offset, bytes);
}

ErrnoOr<uint64_t> Slab::Append(ByteSpan bytes) {
  MutexLock lock(grow_mutex_);
  const uint64_t offset = size();
  const Errno grown = GrowTo(offset + bytes.size());
  if (!grown.ok()) return grown;
  const Errno written = WriteBytes(offset, bytes);
  if (!written.ok()) return written;
  return offset;
}

Errno Slab::WriteBytes(uint64_t offset, ByteSpan bytes) {
  generation_.fetch_add(1, std::memory_order_acq_rel);
  ReaderLock lock(file_mutex_);
  return WriteAll(fd_, offset, bytes);
}

Errno Slab::GrowTo(uint64_t size) {
  if (size <= size_.load(std::memory_order_relaxed)) return kSuccess;
  return ResizeLocked(size);
}

Errno Slab::Resize(uint64_t size) {
  MutexLock lock(grow_mutex_);
  return ResizeLocked(size);
}

Errno Slab::ResizeLocked(uint64_t size) {
  generation_.fetch_add(1, std::memory_order_acq_rel);
  bool memory;
  {
    ReaderLock lock(file_mutex_);
    memory = in_memory_;
  }
  if (memory && size > charged_) {
    if (pool_.Charge(size - charged_)) {
      charged_ = size;
    } else {
      if (pins_ > 0) return Errno{ENOSPC};
      const Errno moved = MoveToDisk();
      if (!moved.ok()) return moved;
      memory = false;
    }
  }
  ReaderLock lock(file_mutex_);
  if (ftruncate(fd_, static_cast<off_t>(size)) != 0) return Errno{errno};
  size_.store(size, std::memory_order_release);
  if (memory && size < charged_) {
    pool_.Release(charged_ - size);
    charged_ = size;
  }
  return kSuccess;
}

Errno Slab::PunchHole(uint64_t offset, uint64_t length) {
  generation_.fetch_add(1, std::memory_order_acq_rel);
  ReaderLock lock(file_mutex_);
  const int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  return fallocate(fd_, mode, static_cast<off_t>(offset), static_cast<off_t>(length)) == 0
             ? kSuccess
             : Errno{errno};
}

Errno Slab::MoveToDisk() {
  const int disk = pool_.MakeDiskFile();
  if (disk < 0) return Errno{errno};
  WriterLock lock(file_mutex_);
  const Errno copied = CopyFile(fd_, disk, size());
  if (!copied.ok()) {
    close(disk);
    return copied;
  }
  close(fd_);
  fd_ = disk;
  in_memory_ = false;
  pool_.Release(charged_);
  charged_ = 0;
  return kSuccess;
}

ErrnoOr<Slab::Mapping> Slab::MapWith(int protection) const {
  const size_t length = static_cast<size_t>(size());
  if (length == 0) return Mapping();
  ReaderLock lock(file_mutex_);
  void* address = mmap(nullptr, length, protection, MAP_SHARED, fd_, 0);
  if (address == MAP_FAILED) return Errno{errno};
  return Mapping(address, length);
}

ErrnoOr<Slab::Mapping> Slab::Map() const { return MapWith(PROT_READ); }
ErrnoOr<Slab::Mapping> Slab::MapForFill() { return MapWith(PROT_READ | PROT_WRITE); }

int Slab::Pin() {
  MutexLock lock(grow_mutex_);
  ++pins_;
  ReaderLock file_lock(file_mutex_);
  return fd_;
}

void Slab::Unpin() {
  MutexLock lock(grow_mutex_);
  --pins_;
}

}  // namespace mooncake::fs

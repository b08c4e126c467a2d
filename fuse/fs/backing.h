// Files that the kernel reads by itself (FUSE passthrough), and the port through which it is told of them.
#pragma once

#include <cstdint>
#include <memory>

#include "fuse/fs/slab.h"

namespace mooncake::fs {

// Thread-safe.
class BackingFiles {
 public:
  virtual ~BackingFiles() = default;
  // An id for `fd`, which may be closed afterwards; 0: the kernel refused.
  virtual uint32_t Register(int fd) = 0;
  virtual void Unregister(uint32_t id) = 0;
};

// A slab known to the kernel. All open files of one inode have to share one of these.
class BackedSlab {
 public:
  // Null if the kernel refuses.
  static std::shared_ptr<BackedSlab> Make(BackingFiles& files, std::shared_ptr<Slab> slab) {
    const uint32_t id = files.Register(slab->Pin());
    if (id == 0) {
      slab->Unpin();
      return nullptr;
    }
    return std::shared_ptr<BackedSlab>(new BackedSlab(files, std::move(slab), id));
  }
  ~BackedSlab() {
    files_.Unregister(id_);
    slab_->Unpin();
  }
  BackedSlab(const BackedSlab&) = delete;
  BackedSlab& operator=(const BackedSlab&) = delete;

  uint32_t id() const { return id_; }
  const std::shared_ptr<Slab>& slab() const { return slab_; }

 private:
  BackedSlab(BackingFiles& files, std::shared_ptr<Slab> slab, uint32_t id)
      : files_(files), slab_(std::move(slab)), id_(id) {}

  BackingFiles& files_;
  const std::shared_ptr<Slab> slab_;
  const uint32_t id_;
};

}  // namespace mooncake::fs

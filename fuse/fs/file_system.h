// The mount without libfuse: everything its callbacks need, in one object.
#pragma once

#include <memory>

#include "fuse/fs/dir_stream.h"
#include "fuse/fs/files.h"
#include "fuse/fs/fs_state.h"
#include "fuse/fs/names.h"
#include "fuse/fs/publisher.h"

namespace mooncake::fs {

struct Capacity {
  uint64_t total_bytes = 0;
  uint64_t free_bytes = 0;
  uint64_t objects = 0;
};

struct FileSystemParts {
  Client& client;  // outlives the file system
  std::unique_ptr<SlabPool> slabs;
  std::unique_ptr<ProcessProbe> probe;
  FsOptions options;
  uint64_t cache_bytes = 0;  // of slabs that are kept for reading
  size_t cache_files = 1024;
  bool views_in_place =
      false;  // the store is in this process: what a view shows cannot be reused behind its back
};

// Thread-safe.
class FileSystem {
 public:
  FileSystem(FileSystemParts parts, const Clock& clock);

  Names& names() { return names_; }
  Files& files() { return files_; }
  Publisher& publisher() { return publisher_; }
  FsState& state() { return state_; }
  std::unique_ptr<DirStream> OpenDirectory(const InodePtr& directory) {
    return std::make_unique<DirStream>(state_, names_, directory);
  }

  // Of the cluster. Asks the master at most once a second; an unreachable master gives the last answer, or an error if
  // there never was one.
  ErrnoOr<Capacity> GetCapacity();

  // From now on the kernel may serve files by itself. Null: not any more.
  void SetBacking(BackingFiles* backing) {
    state_.backing.store(backing, std::memory_order_release);
  }
  void SetKernelCache(KernelCache* cache) { state_.kernel_cache = cache; }

 private:
  const std::unique_ptr<SlabPool> slabs_;
  const std::unique_ptr<ProcessProbe> probe_;
  SlabCache cache_;
  FsState state_;
  Names names_;
  Publisher publisher_;
  Files files_;

  Mutex capacity_mutex_;
  std::optional<Capacity> capacity_ MC_GUARDED_BY(capacity_mutex_);
  TimePoint capacity_until_ MC_GUARDED_BY(capacity_mutex_){};
};

}  // namespace mooncake::fs

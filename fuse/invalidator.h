// Tells the kernel, from a thread of its own, that what it remembers of an inode is no longer true. Never from a request:
// the kernel may hold the lock that the request came under.
#pragma once

#include <deque>
#include <thread>

#include "fuse/fs/fs_state.h"

struct fuse_session;

namespace mooncake::fs {

class Invalidator final : public KernelCache {
 public:
  explicit Invalidator(fuse_session* session);
  ~Invalidator() override;

  // Beyond a bound of waiting ones it is dropped: the attribute timeout does the rest.
  void InvalidateAttributes(InodeId id) override;

 private:
  void Loop();

  fuse_session* const session_;
  Mutex mutex_;
  CondVar changed_;
  std::deque<InodeId> waiting_ MC_GUARDED_BY(mutex_);
  bool stopping_ MC_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace mooncake::fs

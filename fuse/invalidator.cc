#include "fuse/invalidator.h"

#include "fuse/ops/operations.h"

namespace mooncake::fs {
namespace {

constexpr size_t kMostWaiting = 4096;
constexpr off_t kAttributesOnly = -1;

}  // namespace

Invalidator::Invalidator(fuse_session* session) : session_(session), thread_([this] { Loop(); }) {}

Invalidator::~Invalidator() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  thread_.join();
}

void Invalidator::InvalidateAttributes(InodeId id) {
  MutexLock lock(mutex_);
  if (waiting_.size() >= kMostWaiting) return;
  waiting_.push_back(id);
  changed_.NotifyAll();
}

void Invalidator::Loop() {
  for (;;) {
    InodeId id;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && !stopping_) changed_.Wait(mutex_);
      if (stopping_) return;
      id = waiting_.front();
      waiting_.pop_front();
    }
    fuse_lowlevel_notify_inval_inode(session_, id, kAttributesOnly,
                                     0);  // unknown to the kernel by now: fine
  }
}

}  // namespace mooncake::fs

#include "fuse/fs/publisher.h"

#include <glog/logging.h>

#include "fuse/fs/errno_map.h"
#include "transfer/base/units.h"

namespace mooncake::fs {

void Publisher::NoteOutcome(const InodePtr& inode, FlushOutcome outcome) {
  MutexLock lock(state_.mutex);
  inode->last_flush = outcome;
}

// Deferring never loses data: the last release publishes. It only keeps a value from being shown too early.
bool Publisher::IsExpectedToCloseAgain(Handle& handle, const Caller& caller) {
  if (caller.pid == 0 || handle.opener == 0) return false;
  const pid_t process = state_.probe.ProcessOf(caller.pid);
  bool opener_flushed;
  bool empty;
  {
    MutexLock lock(state_.mutex);
    if (process == handle.opener) handle.opener_flushed = true;
    opener_flushed = handle.opener_flushed;
    empty = handle.inode->slab && handle.inode->slab->size() == 0;
  }
  if (!opener_flushed && state_.probe.IsAlive(handle.opener)) return true;
  return empty && state_.probe.HoldsInode(process, handle.inode->id);
}

Errno Publisher::Flush(Handle& handle, const Caller& caller) {
  const InodePtr& inode = handle.inode;
  if (!handle.write) return kSuccess;
  {
    MutexLock lock(state_.mutex);
    if (!inode->changed() || inode->removed) return kSuccess;
    if (inode->write_errno != 0) {
      inode->last_flush = FlushOutcome::kFailed;
      return Errno{inode->write_errno};
    }
  }
  if (caller.pid != 0 && state_.probe.DiesOfSignal(caller.pid)) {
    NoteOutcome(inode, FlushOutcome::kKilled);
    return kSuccess;
  }
  if (IsExpectedToCloseAgain(handle, caller)) {
    NoteOutcome(inode, FlushOutcome::kDeferred);
    return kSuccess;
  }
  const Errno published = Publish(inode);
  NoteOutcome(inode, published.ok() ? FlushOutcome::kDone : FlushOutcome::kFailed);
  return published;
}

Errno Publisher::Publish(const InodePtr& inode) {
  uint64_t size;
  {
    MutexLock lock(state_.mutex);
    if (!inode->changed() || inode->removed) return kSuccess;
    size = inode->slab->size();
  }
  const Duration timeout = state_.TransferTimeout(size);
  const TimePoint deadline = state_.clock.Now() + timeout;
  SharedPass tree(state_.tree_gate, state_.clock, deadline);
  if (!tree.entered()) return Errno{ETIMEDOUT};
  ExclusivePass io(inode->io, state_.clock, deadline);
  if (!io.entered()) return Errno{ETIMEDOUT};

  std::string key;
  std::shared_ptr<Slab> slab;
  FileAttributes attributes;
  PutOptions options{.mode = WriteMode::kReplace, .timeout = timeout};
  {
    MutexLock lock(state_.mutex);
    if (!inode->changed() || inode->removed) return kSuccess;
    if (inode->write_errno != 0) return Errno{inode->write_errno};
    key = inode->key;
    slab = inode->slab;
    attributes = inode->attributes;
    if (inode->create_exclusively) options.mode = WriteMode::kCreate;
  }
  const uint64_t generation = slab->generation();
  const auto mapping = slab->Map();
  if (!mapping.ok()) return mapping.error();
  attributes.size = mapping->bytes().size();
  options.attributes = ToStored(attributes);
  const auto put = state_.client.Put(key, mapping->bytes(), options);
  if (!put.ok()) {
    LOG(WARNING) << "publish failed key=" << EscapeForDisplay(key) << " bytes=" << attributes.size
                 << " " << put.status();
    return ErrnoOf(put.code());
  }
  std::vector<std::shared_ptr<Slab>> freed;
  MutexLock lock(state_.mutex);
  freed = state_.TakeValues(inode->key);
  inode->version = put->version;
  inode->published_generation = generation;
  inode->must_publish = false;
  inode->create_exclusively = false;
  inode->attributes.size = attributes.size;
  inode->committed_attributes = attributes;
  state_.table.NoteSettled(inode);
  state_.table.DetachCommitted(inode->key);  // the version beside it has no name any more
  state_.Stamp(inode);
  return kSuccess;
}

void Publisher::Finish(const InodePtr& inode) {
  bool publish;
  FlushOutcome last;
  {
    MutexLock lock(state_.mutex);
    last = inode->last_flush;
    const bool refused = last == FlushOutcome::kKilled || last == FlushOutcome::kFailed;
    publish = inode->changed() && !inode->removed && inode->write_errno == 0 && !refused;
  }
  if (publish) {
    const Errno published = Publish(inode);
    if (!published.ok())
      LOG(ERROR) << "data written before the last close was lost errno=" << published.value;
  }
  MutexLock lock(state_.mutex);
  if (last == FlushOutcome::kKilled && inode->changed() && !inode->removed) {
    LOG(INFO) << "not published, its writer was killed key=" << EscapeForDisplay(inode->key);
  }
  Settle(inode);
}

void Publisher::Settle(const InodePtr& inode) {
  const bool discarded = inode->changed();
  // What was published and not touched since is the value of that version, and already in memory.
  const uint64_t size = inode->slab->size();
  const bool keep = !discarded && inode->version != kNoPut && size >= state_.options.fetch_least;
  if (keep && state_.backing.load(std::memory_order_acquire) != nullptr &&
      inode->slab->in_memory()) {
    state_.cache.Put(inode->version, inode->slab);
  }
  inode->working = false;
  inode->slab.reset();
  inode->must_publish = false;
  inode->create_exclusively = false;
  inode->write_errno = 0;
  inode->last_flush = FlushOutcome::kNone;
  state_.table.NoteSettled(inode);
  state_.Stamp(inode);
  if (inode->version == kNoPut) {
    inode->removed = true;
    if (inode->linked) state_.table.Detach(inode);
  } else if (discarded) {
    inode->attributes = inode->committed_attributes;
  }
  if (discarded && state_.kernel_cache != nullptr)
    state_.kernel_cache->InvalidateAttributes(inode->id);
}

}  // namespace mooncake::fs

#include "fuse/fs/fs_state.h"

namespace mooncake::fs {
namespace {

// Threads that were steered and never came back (killed meanwhile) are forgotten beyond this number.
constexpr size_t kMaxSteered = 1024;

}  // namespace

Duration FsState::TransferTimeout(uint64_t bytes) const {
  return options.timeout + TimeToMove(bytes);
}

std::vector<std::shared_ptr<Slab>> FsState::TakeValues(std::string_view key) {
  std::vector<std::shared_ptr<Slab>> taken;
  for (const InodePtr& inode : {table.FileAt(key), table.CommittedAt(key)}) {
    if (inode && inode->version != kNoPut) taken.push_back(cache.Forget(inode->version));
  }
  return taken;
}

Errno FsState::Steer(const Caller& caller, const InodePtr& inode, Steering wanted) {
  MutexLock lock(mutex);
  if (steered_.size() >= kMaxSteered && !steered_.contains(caller.pid))
    steered_.erase(steered_.begin());
  steered_[caller.pid] = {inode->key, wanted};
  return Errno{ESTALE};
}

std::optional<Steering> FsState::SteeringOf(const Caller& caller, std::string_view key) {
  const auto it = steered_.find(caller.pid);
  if (it == steered_.end() || it->second.key != key) return std::nullopt;
  return it->second.wanted;
}

bool FsState::EndSteering(const Caller& caller) {
  MutexLock lock(mutex);
  return steered_.erase(caller.pid) > 0;
}

}  // namespace mooncake::fs

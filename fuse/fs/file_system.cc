#include "fuse/fs/file_system.h"

#include <sys/stat.h>

#include "fuse/fs/errno_map.h"
#include "master/api/master_api.h"

namespace mooncake::fs {
namespace {

constexpr Duration kCapacityLife = Seconds(1);

}  // namespace

FileSystem::FileSystem(FileSystemParts parts, const Clock& clock)
    : slabs_(std::move(parts.slabs)),
      probe_(std::move(parts.probe)),
      cache_(parts.cache_bytes, parts.cache_files, clock),
      state_(parts.client, *slabs_, cache_, clock, *probe_, std::move(parts.options)),
      names_(state_),
      publisher_(state_),
      files_(state_, names_, publisher_, parts.views_in_place) {
  slabs_->SetReclaimer([this](uint64_t bytes) { return cache_.Reclaim(bytes); });
  MutexLock lock(state_.mutex);
  state_.table.root()->attributes = DirectoryFromStored(std::nullopt, state_.options.defaults);
}

ErrnoOr<Capacity> FileSystem::GetCapacity() {
  {
    MutexLock lock(capacity_mutex_);
    if (capacity_ && state_.clock.Now() < capacity_until_) return *capacity_;
  }
  const auto space = state_.client.Space(state_.options.timeout);
  MutexLock lock(capacity_mutex_);
  capacity_until_ = state_.clock.Now() + kCapacityLife;
  if (space.ok()) {
    const uint64_t free = space->total - std::min(space->total, space->used);
    capacity_ =
        Capacity{.total_bytes = space->total, .free_bytes = free, .objects = space->objects};
  }
  if (!capacity_) return ErrnoOf(space.code());
  return *capacity_;
}

}  // namespace mooncake::fs

#include "fuse/fs/slab_cache.h"

#include <vector>

namespace mooncake::fs {

std::shared_ptr<Slab> SlabCache::Find(PutId version) {
  const auto it = by_version_.find(version);
  if (it == by_version_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, it->second);
  return it->second->slab;
}

std::shared_ptr<Slab> SlabCache::Get(PutId version) {
  MutexLock lock(mutex_);
  return Find(version);
}

std::shared_ptr<Slab> SlabCache::Take(PutId version) {
  MutexLock lock(mutex_);
  const auto it = by_version_.find(version);
  if (it == by_version_.end() || it->second->slab.use_count() > 1) return nullptr;
  return Remove(it);
}

std::shared_ptr<Slab> SlabCache::Forget(PutId version) {
  MutexLock lock(mutex_);
  const auto it = by_version_.find(version);
  return it == by_version_.end() ? nullptr : Remove(it);
}

std::shared_ptr<Slab> SlabCache::Remove(ByVersion::iterator it) {
  std::shared_ptr<Slab> slab = std::move(it->second->slab);
  bytes_ -= it->second->bytes;
  entries_.erase(it->second);
  by_version_.erase(it);
  return slab;
}

// Oldest first, until so many bytes and slabs more fit. What is dropped is freed by the caller, without the lock.
void SlabCache::Evict(uint64_t bytes, size_t slabs, std::vector<std::shared_ptr<Slab>>& dropped) {
  for (auto it = entries_.end(); it != entries_.begin();) {
    if (bytes_ + bytes <= most_bytes_ && entries_.size() + slabs <= most_slabs_) return;
    --it;
    if (it->slab.use_count() > 1) continue;
    bytes_ -= it->bytes;
    by_version_.erase(it->version);
    dropped.push_back(std::move(it->slab));
    it = entries_.erase(it);
  }
}

void SlabCache::Put(PutId version, std::shared_ptr<Slab> slab) {
  const uint64_t bytes = slab->size();
  std::vector<std::shared_ptr<Slab>> dropped;
  MutexLock lock(mutex_);
  if (bytes > most_bytes_ || by_version_.contains(version)) return;
  Evict(bytes, 1, dropped);
  if (bytes_ + bytes > most_bytes_ || entries_.size() + 1 > most_slabs_)
    return;  // all others are in use
  entries_.push_front({version, std::move(slab), bytes});
  by_version_[version] = entries_.begin();
  bytes_ += bytes;
}

std::shared_ptr<Slab> SlabCache::GetOrFetch(PutId version, TimePoint deadline,
                                            const FetchFunction& fetch) {
  {
    MutexLock lock(mutex_);
    for (;;) {
      if (auto slab = Find(version)) return slab;
      if (fetching_.insert(version).second) break;
      const TimePoint now = clock_.Now();
      if (now >= deadline) return nullptr;
      fetched_.WaitFor(mutex_, deadline - now);
    }
  }
  std::shared_ptr<Slab> slab = fetch();
  if (slab) Put(version, slab);
  MutexLock lock(mutex_);
  fetching_.erase(version);
  fetched_.NotifyAll();
  return slab;
}

bool SlabCache::Reclaim(uint64_t bytes) {
  std::vector<std::shared_ptr<Slab>> dropped;
  uint64_t freed = 0;
  {
    MutexLock lock(mutex_);
    for (auto it = entries_.end(); it != entries_.begin() && freed < bytes;) {
      --it;
      if (it->slab.use_count() > 1) continue;
      freed += it->bytes;
      bytes_ -= it->bytes;
      by_version_.erase(it->version);
      dropped.push_back(std::move(it->slab));
      it = entries_.erase(it);
    }
  }
  return freed > 0;
}

uint64_t SlabCache::bytes() const {
  MutexLock lock(mutex_);
  return bytes_;
}

}  // namespace mooncake::fs

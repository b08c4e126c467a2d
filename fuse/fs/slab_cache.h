// Whole values in slabs, by version: what was read or written lately, so that the kernel can serve it by itself.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "fuse/fs/slab.h"
#include "transfer/base/clock.h"
#include "transfer/base/ids.h"
#include "transfer/base/mutex.h"

namespace mooncake::fs {

// Thread-safe. A slab in the cache is never written to. Slabs that are in use elsewhere count, but are not evicted.
class SlabCache {
 public:
  // At most so many bytes and slabs (each is an open file).
  SlabCache(uint64_t most_bytes, size_t most_slabs, const Clock& clock)
      : most_bytes_(most_bytes), most_slabs_(most_slabs), clock_(clock) {}

  // Null: not here.
  std::shared_ptr<Slab> Get(PutId version);
  // The slab for writing, if nobody else has it: it leaves the cache.
  std::shared_ptr<Slab> Take(PutId version);
  void Put(PutId version, std::shared_ptr<Slab> slab);
  // Nobody will ask for this version again. What was there, for the caller to free where nobody waits; others who have it keep it.
  std::shared_ptr<Slab> Forget(PutId version);

  // Get, or what `fetch` makes, which is kept. Of several callers for one version one fetches and the others wait, until
  // `deadline` at most. Null: not here, and not to be had.
  using FetchFunction = std::function<std::shared_ptr<Slab>()>;
  std::shared_ptr<Slab> GetOrFetch(PutId version, TimePoint deadline, const FetchFunction& fetch);

  // Evicts until `bytes` were given back, oldest first. False if nothing could be.
  bool Reclaim(uint64_t bytes);

  uint64_t bytes() const;
  uint64_t most_bytes() const { return most_bytes_; }

 private:
  struct Entry {
    PutId version;
    std::shared_ptr<Slab> slab;
    uint64_t bytes = 0;
  };
  using Entries = std::list<Entry>;
  using ByVersion = std::unordered_map<PutId, Entries::iterator>;

  std::shared_ptr<Slab> Find(PutId version) MC_REQUIRES(mutex_);
  std::shared_ptr<Slab> Remove(ByVersion::iterator it) MC_REQUIRES(mutex_);
  void Evict(uint64_t bytes, size_t slabs, std::vector<std::shared_ptr<Slab>>& dropped)
      MC_REQUIRES(mutex_);

  const uint64_t most_bytes_;
  const size_t most_slabs_;
  const Clock& clock_;
  mutable Mutex mutex_;
  CondVar fetched_;
  Entries entries_ MC_GUARDED_BY(mutex_);  // newest first
  ByVersion by_version_ MC_GUARDED_BY(mutex_);
  std::unordered_set<PutId> fetching_ MC_GUARDED_BY(mutex_);
  uint64_t bytes_ MC_GUARDED_BY(mutex_) = 0;
};

}  // namespace mooncake::fs

// What all parts of the file system share: the store, the options, the inodes and the locks.
#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/store_client.h"
#include "fuse/fs/attributes.h"
#include "fuse/fs/gate.h"
#include "fuse/fs/inode_table.h"
#include "fuse/fs/process_probe.h"
#include "fuse/fs/slab.h"
#include "fuse/fs/slab_cache.h"
#include "transfer/base/clock.h"
#include "transfer/base/mutex.h"
#include "transfer/base/units.h"

namespace mooncake::fs {

struct FsOptions {
  Duration timeout = Seconds(30);       // of one operation; moving bytes adds to it by their number
  Duration entry_timeout = Seconds(1);  // how long the kernel may use a name without asking
  Duration attr_timeout = Seconds(1);
  DefaultAttributes defaults;
  bool read_only = false;
  // Values of these sizes are fetched whole when they are opened, for the kernel to serve; larger ones only if they are
  // in the cache already, smaller ones gain nothing.
  uint64_t fetch_least = 128 * kKiB;
  uint64_t fetch_most = 128 * kMiB;
};

// Which of two inodes of one name a repeated look-up is to find. See FsState::Steer.
enum class Steering : uint8_t { kReader, kWriter };

// Called when what the kernel remembers of an inode is no longer true. Must not block.
class KernelCache {
 public:
  virtual ~KernelCache() = default;
  virtual void InvalidateAttributes(InodeId id) = 0;
};

struct FsState {
  FsState(Client& client_in, SlabPool& slabs_in, SlabCache& cache_in, const Clock& clock_in,
          const ProcessProbe& probe_in, FsOptions options_in)
      : client(client_in),
        slabs(slabs_in),
        cache(cache_in),
        clock(clock_in),
        probe(probe_in),
        options(std::move(options_in)) {}

  Client& client;
  SlabPool& slabs;
  SlabCache& cache;
  const Clock& clock;
  const ProcessProbe& probe;
  const FsOptions options;
  KernelCache* kernel_cache = nullptr;  // may stay null
  // Null: the kernel serves no files by itself. Set once it has said that it can, cleared if it refuses after all.
  std::atomic<BackingFiles*> backing{nullptr};

  Gate tree_gate;  // shared: everything that uses a key; exclusive: renaming a directory.
  mutable Mutex mutex;
  InodeTable table MC_GUARDED_BY(mutex);
  // Counts changes of names and versions through this mount, so that an answer of the master that was under way
  // meanwhile is not taken for news.
  uint64_t changes MC_GUARDED_BY(mutex) = 0;

  TimePoint Deadline() const { return clock.Now() + options.timeout; }
  // For an operation that moves `bytes`: not even a slow link makes a file fail by its size.
  Duration TransferTimeout(uint64_t bytes) const;
  int64_t NowNs() const { return clock.WallNow().ns; }

  void Stamp(const InodePtr& inode) MC_REQUIRES(mutex) { inode->stamp = ++changes; }

  // The values that the name leads to go out of the cache, since it will not any more. For the caller to free without the lock.
  std::vector<std::shared_ptr<Slab>> TakeValues(std::string_view key) MC_REQUIRES(mutex);

  // ESTALE makes the kernel look a name up again and retry once. Two inodes can share a name: a version that readers
  // hold open, and the copy that a writer works on. Steer() notes which of them this thread is to find.
  Errno Steer(const Caller& caller, const InodePtr& inode, Steering wanted) MC_EXCLUDES(mutex);
  std::optional<Steering> SteeringOf(const Caller& caller, std::string_view key) MC_REQUIRES(mutex);
  // The thread has opened something. True if it had been steered.
  bool EndSteering(const Caller& caller) MC_EXCLUDES(mutex);

 private:
  struct Steered {
    std::string key;
    Steering wanted;
  };
  std::map<pid_t, Steered> steered_ MC_GUARDED_BY(mutex);
};

}  // namespace mooncake::fs

// Turns the slab of a file being written into a version of its key, and decides when a flush does so.
#pragma once

#include "fuse/fs/fs_state.h"

namespace mooncake::fs {

// One open file description, as open(2) made it: shared by dup and fork.
struct Handle {
  InodePtr inode;
  bool write = false;
  bool append = false;
  pid_t opener = 0;             // process, 0 unknown
  bool opener_flushed = false;  // FsState::mutex
  bool direct = false;          // counted in Inode::direct
  // Where reads come from; fixed at open.
  std::shared_ptr<ObjectReader> reader;
  std::unique_ptr<ObjectView> view;
  std::shared_ptr<Slab> slab;
  std::shared_ptr<BackedSlab>
      backed;  // then the kernel reads by itself, and `slab` answers what it asks all the same
};

// Thread-safe.
class Publisher {
 public:
  explicit Publisher(FsState& state) : state_(state) {}

  // A descriptor of the handle was closed. Publishes, unless the flusher is dying of a signal, or is a child that only
  // inherited the descriptor, or the file is empty and the flusher has it open a second time (as a shell redirection).
  Errno Flush(Handle& handle, const Caller& caller);

  // Publishes what changed since the last time. No change, or a removed file: success. The file keeps its old value
  // after an error, and stays changed.
  Errno Publish(const InodePtr& inode);

  // The last handle for writing was closed: publishes what a flush deferred; an error can only be logged then.
  void Finish(const InodePtr& inode);

 private:
  bool IsExpectedToCloseAgain(Handle& handle, const Caller& caller);
  void Settle(const InodePtr& inode) MC_REQUIRES(state_.mutex);
  void NoteOutcome(const InodePtr& inode, FlushOutcome outcome);

  FsState& state_;
};

}  // namespace mooncake::fs

// One inode of the mount: a directory, or one version of one key (a file or symbolic link), or a file being written.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "client/store_client.h"
#include "fuse/fs/attributes.h"
#include "fuse/fs/backing.h"
#include "fuse/fs/gate.h"
#include "fuse/fs/key_path.h"
#include "fuse/fs/slab.h"

namespace mooncake::fs {

using InodeId = uint64_t;
inline constexpr InodeId kRootId = 1;

// What the last flush of a file being written decided; its last release acts on it.
enum class FlushOutcome : uint8_t {
  kNone,      // nothing flushed since it was opened for writing
  kDone,      // published, or nothing to publish
  kDeferred,  // another holder of the same open file is still expected to close it
  kKilled,    // the flusher dies of a signal: what it wrote may be cut short
  kFailed,    // the program was told that its data was not stored
};

// Two kinds of file inode, changed into each other only under `opens` (exclusive):
//   committed: shows `version`, which never changes while a handle is open on it;
//   working:   has writers and a slab; `version` is what was last published of it, kNoPut if nothing.
// Everything but the gates and what is const is guarded by FsState::mutex. Lock order: opens, FsState::tree_gate, io,
// FsState::mutex. Gates may be held while calling out, the mutex never.
struct Inode {
  Inode(InodeId id_in, ObjectKind kind_in) : id(id_in), kind(kind_in) {}

  const InodeId id;
  const ObjectKind kind;
  Gate opens;  // shared: opening for reading; exclusive: opening and closing for writing
  Gate io;     // shared: writes; exclusive: truncation, publishing, and moves of its name

  std::string key;       // of a file; a directory has `point`
  bool linked = false;   // the name leads here
  bool removed = false;  // unlinked by this mount: st_nlink is 0
  uint64_t lookups = 0;  // of the kernel
  uint64_t stamp = 0;    // FsState::changes when this mount last changed its name or version
  FileAttributes attributes;

  // Directories.
  DirectoryPoint point;
  bool has_marker = false;  // known to exist as an object of its own
  int64_t touched_ns = 0;   // last change of its entries through this mount

  // Files and symbolic links.
  PutId version = kNoPut;
  bool working = false;
  uint32_t readers = 0;  // open handles of each kind
  uint32_t writers = 0;
  std::string link_target;  // symbolic links, once read
  // What the kernel serves for the open files of this inode. One way for all of them: while some are open without it,
  // none is opened with it.
  std::weak_ptr<BackedSlab> backed;
  uint32_t direct = 0;  // open handles whose requests all come here

  // Of a working inode.
  std::shared_ptr<Slab> slab;
  uint64_t published_generation = 0;  // of the slab, when last published
  bool must_publish = false;          // changed in a way that the slab's generation does not show
  bool create_exclusively = false;    // O_EXCL, until first published
  bool covers_stored =
      false;  // never published, renamed over a name that may have an older value stored
  FlushOutcome last_flush = FlushOutcome::kNone;
  int write_errno = 0;                  // a write failed: nothing more is accepted or published
  FileAttributes committed_attributes;  // of `version`

  bool is_directory() const { return kind == ObjectKind::kDirectory; }
  bool changed() const {
    return working && (must_publish || slab->generation() != published_generation);
  }
  bool in_use() const { return readers + writers > 0 || working; }
};

using InodePtr = std::shared_ptr<Inode>;

}  // namespace mooncake::fs

#include "fuse/fs/files.h"

#include <fcntl.h>

#include <algorithm>

#include <glog/logging.h>

#include "fuse/fs/errno_map.h"
#include "transfer/base/units.h"

namespace mooncake::fs {
namespace {

// Only what the store itself remembers; access times live in memory.
bool ChangesStored(const AttributeChange& change) {
  return change.mode || change.uid || change.gid || change.mtime_ns;
}

void Apply(const AttributeChange& change, int64_t now, FileAttributes& attributes) {
  if (change.mode) attributes.mode = *change.mode & 07777;
  if (change.uid) attributes.uid = *change.uid;
  if (change.gid) attributes.gid = *change.gid;
  if (change.mtime_ns) attributes.mtime_ns = *change.mtime_ns;
  if (change.atime_ns) attributes.atime_ns = *change.atime_ns;
  attributes.ctime_ns = now;
}

}  // namespace

ErrnoOr<ByteSpan> Files::Read(const Handle& handle, uint64_t offset, size_t size,
                              std::vector<std::byte>& scratch) {
  if (handle.view && handle.view->Valid()) {
    const ByteSpan all = handle.view->bytes();
    if (offset >= all.size()) return ByteSpan();
    return all.subspan(offset, std::min<uint64_t>(size, all.size() - offset));
  }
  if (scratch.size() < size) scratch.resize(size);
  const MutableByteSpan buffer = MutableByteSpan(scratch).first(size);
  if (handle.slab) {
    const auto got = handle.slab->ReadAt(offset, buffer);
    if (!got.ok()) return got.error();
    return ByteSpan(buffer.first(*got));
  }
  const auto got = handle.reader->Read(offset, buffer, state_.options.timeout);
  if (!got.ok()) {
    LOG(WARNING) << "read failed inode=" << handle.inode->id << " offset=" << offset << " "
                 << got.status();
    return got.code() == ErrorCode::kObjectNotFound ? Errno{ESTALE} : ErrnoOf(got.code());
  }
  return ByteSpan(buffer.first(*got));
}

void Files::NoteWrite(const InodePtr& inode) {
  const int64_t now = state_.NowNs();
  MutexLock lock(state_.mutex);
  inode->attributes.mtime_ns = inode->attributes.ctime_ns = now;
}

ErrnoOr<size_t> Files::Write(Handle& handle, uint64_t offset, ByteSpan bytes) {
  const InodePtr& inode = handle.inode;
  if (!handle.write) return Errno{EBADF};
  const uint64_t end = (handle.append ? handle.slab->size() : offset) + bytes.size();
  if (end > kMaxObjectBytes) return Errno{EFBIG};
  // A publication in progress reads the slab; it is bounded by the time that its bytes take.
  SharedPass io(inode->io, state_.clock,
                state_.clock.Now() + state_.TransferTimeout(handle.slab->size()));
  if (!io.entered()) return Errno{ETIMEDOUT};
  {
    MutexLock lock(state_.mutex);
    if (inode->write_errno != 0) return Errno{inode->write_errno};
  }
  Errno written = kSuccess;
  if (handle.append) {
    const auto at = handle.slab->Append(bytes);
    if (!at.ok()) written = at.error();
  } else {
    written = handle.slab->WriteAt(offset, bytes);
  }
  if (!written.ok()) {
    // What follows would be published with a hole where this should be.
    MutexLock lock(state_.mutex);
    inode->write_errno = written.value;
    return written;
  }
  NoteWrite(inode);
  return bytes.size();
}

Errno Files::Allocate(Handle& handle, int mode, uint64_t offset, uint64_t length) {
  if (!handle.write) return Errno{EBADF};
  if (offset > kMaxObjectBytes || length > kMaxObjectBytes - offset) return Errno{EFBIG};
  const bool keep_size = (mode & FALLOC_FL_KEEP_SIZE) != 0;
  const bool punch = (mode & FALLOC_FL_PUNCH_HOLE) != 0;
  if ((mode & ~(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE)) != 0) return Errno{EOPNOTSUPP};
  if (punch) {
    const uint64_t size = handle.slab->size();
    if (offset >= size) return kSuccess;
    SharedPass io(handle.inode->io, state_.clock, state_.Deadline());
    if (!io.entered()) return Errno{ETIMEDOUT};
    const Errno punched = handle.slab->PunchHole(offset, std::min(length, size - offset));
    if (punched.ok()) NoteWrite(handle.inode);
    return punched;
  }
  if (keep_size || offset + length <= handle.slab->size()) return kSuccess;
  return Resize(handle.inode, offset + length);
}

Errno Files::Resize(const InodePtr& inode, uint64_t size) {
  ExclusivePass io(inode->io, state_.clock, state_.clock.Now() + state_.TransferTimeout(size));
  if (!io.entered()) return Errno{ETIMEDOUT};
  std::shared_ptr<Slab> slab;
  {
    MutexLock lock(state_.mutex);
    slab = inode->slab;
  }
  if (!slab) return Errno{ESTALE};
  const Errno resized = slab->Resize(size);
  if (resized.ok()) NoteWrite(inode);
  return resized;
}

Errno Files::Truncate(const InodePtr& inode, uint64_t size, Handle* handle, const Caller& caller) {
  if (size > kMaxObjectBytes) return Errno{EFBIG};
  if (state_.options.read_only) return Errno{EROFS};
  if (handle != nullptr && handle->write) return Resize(inode, size);
  {
    MutexLock lock(state_.mutex);
    if (!inode->working && inode->linked && inode->attributes.size == size) return kSuccess;
  }
  auto opened = OpenForWriting(inode, {.write = true, .truncate = size == 0}, caller);
  if (!opened.ok()) return opened.error();
  Errno done = size == 0 ? kSuccess : Resize(inode, size);
  bool alone;
  {
    MutexLock lock(state_.mutex);
    alone = inode->writers == 1;
  }
  if (done.ok() && alone) {
    done = publisher_.Publish(inode);
    MutexLock lock(state_.mutex);
    if (!done.ok()) inode->last_flush = FlushOutcome::kFailed;
  }
  Release(std::move(*opened));
  return done;
}

ErrnoOr<Entry> Files::SetAttributes(const InodePtr& inode, const AttributeChange& change,
                                    Handle* handle, const Caller& caller) {
  if (change.size) {
    if (inode->is_directory()) return Errno{EISDIR};
    const Errno cut = Truncate(inode, *change.size, handle, caller);
    if (!cut.ok()) return cut;
  }
  if (ChangesStored(change))
    return inode->is_directory() ? SetDirectory(inode, change) : SetStored(inode, change);
  MutexLock lock(state_.mutex);
  names_.AssertLocked();
  if (change.atime_ns) inode->attributes.atime_ns = *change.atime_ns;
  return names_.EntryOf(inode);
}

ErrnoOr<Entry> Files::SetStored(const InodePtr& inode, const AttributeChange& change) {
  if (state_.options.read_only) return Errno{EROFS};
  SharedPass tree(state_.tree_gate, state_.clock, state_.Deadline());
  if (!tree.entered()) return Errno{ETIMEDOUT};
  const int64_t now = state_.NowNs();
  std::string key;
  PutId version;
  FileAttributes attributes;
  {
    MutexLock lock(state_.mutex);
    names_.AssertLocked();
    attributes = inode->attributes;
    Apply(change, now, attributes);
    key = inode->key;
    version = inode->version;
    // Goes out with the data, or can only be remembered for those who have the file open.
    if (inode->changed() || inode->removed || (!inode->linked && inode->in_use())) {
      inode->attributes = attributes;
      return names_.EntryOf(inode);
    }
  }
  const Status set =
      state_.client.SetAttributes(key, version, ToStored(attributes), state_.options.timeout);
  if (set.code() == ErrorCode::kObjectNotFound) return Errno{ESTALE};
  if (!set.ok()) return ErrnoOf(set);
  MutexLock lock(state_.mutex);
  names_.AssertLocked();
  Apply(change, now, inode->attributes);
  inode->committed_attributes = inode->attributes;
  state_.Stamp(inode);
  return names_.EntryOf(inode);
}

ErrnoOr<Entry> Files::SetDirectory(const InodePtr& inode, const AttributeChange& change) {
  if (state_.options.read_only) return Errno{EROFS};
  const Errno kept = names_.KeepDirectory(inode);
  if (!kept.ok()) return kept;
  SharedPass tree(state_.tree_gate, state_.clock, state_.Deadline());
  if (!tree.entered()) return Errno{ETIMEDOUT};
  const int64_t now = state_.NowNs();
  std::string prefix;
  FileAttributes attributes;
  bool stored;
  {
    MutexLock lock(state_.mutex);
    names_.AssertLocked();
    attributes = names_.EntryOf(inode).attributes;
    Apply(change, now, attributes);
    prefix = inode->point.prefix;
    stored = inode->has_marker && !inode->removed;
  }
  if (stored) {
    const Status set =
        state_.client.SetAttributes(prefix, kNoPut, ToStored(attributes), state_.options.timeout);
    if (set.code() == ErrorCode::kObjectNotFound) return Errno{ESTALE};
    if (!set.ok()) return ErrnoOf(set);
  }
  MutexLock lock(state_.mutex);
  names_.AssertLocked();
  inode->attributes = attributes;
  if (change.mtime_ns)
    inode->touched_ns = 0;  // set by hand: earlier changes of its entries do not show through
  return names_.EntryOf(inode);
}

}  // namespace mooncake::fs

// The part of Files that opens and closes.
#include <fcntl.h>

#include <algorithm>

#include <glog/logging.h>

#include "fuse/fs/errno_map.h"
#include "fuse/fs/files.h"
#include "transfer/base/units.h"

namespace mooncake::fs {
namespace {

constexpr size_t kCopyBytes = 4 * kMiB;

// The version is gone or replaced: the kernel shall look the name up again.
Errno OpenErrno(ErrorCode code) {
  const bool gone = code == ErrorCode::kObjectNotFound || code == ErrorCode::kReplicaIsNotReady;
  return gone ? Errno{ESTALE} : ErrnoOf(code);
}

}  // namespace

OpenFlags FlagsOf(int open_flags) {
  const int mode = open_flags & O_ACCMODE;
  return {.write = mode == O_WRONLY || mode == O_RDWR || (open_flags & O_TRUNC) != 0,
          .append = (open_flags & O_APPEND) != 0,
          .truncate = (open_flags & O_TRUNC) != 0,
          .exclusive = (open_flags & O_EXCL) != 0};
}

void Files::CountDirect(Handle& handle) {
  handle.direct = true;
  ++handle.inode->direct;
}

ErrnoOr<HandlePtr> Files::Open(const InodePtr& inode, const OpenFlags& flags,
                               const Caller& caller) {
  if (inode->is_directory()) return Errno{EISDIR};
  return flags.write ? OpenForWriting(inode, flags, caller) : OpenForReading(inode, caller);
}

ErrnoOr<HandlePtr> Files::OpenForReading(const InodePtr& inode, const Caller& caller) {
  const bool steered = state_.EndSteering(caller);
  SharedPass opening(inode->opens, state_.clock, state_.Deadline());
  if (!opening.entered()) return Errno{ETIMEDOUT};
  auto handle = std::make_unique<Handle>();
  handle->inode = inode;
  bool look_again = false;
  {
    MutexLock lock(state_.mutex);
    if (inode->working && (inode->version == kNoPut || inode->removed)) {
      // Never published, so there is no other value that this one could be mixed with: shown as it grows.
      handle->slab = inode->slab;
      ++inode->readers;
      CountDirect(*handle);
      return handle;
    }
    // What is being changed is not shown; its committed version has, or gets, an inode of its own.
    look_again = inode->working;
    if (!look_again) ++inode->readers;
  }
  if (look_again) return steered ? Errno{ESTALE} : state_.Steer(caller, inode, Steering::kReader);
  auto opened = OpenCommitted(inode, std::move(handle), caller, steered);
  if (!opened.ok()) {
    MutexLock lock(state_.mutex);
    --inode->readers;
    state_.table.Reap(inode);
  }
  return opened;
}

ErrnoOr<HandlePtr> Files::OpenCommitted(const InodePtr& inode, HandlePtr handle,
                                        const Caller& caller, bool steered) {
  std::string key;
  PutId version;
  {
    MutexLock lock(state_.mutex);
    if (inode->removed || inode->version == kNoPut) return Errno{ESTALE};
    key = inode->key;
    version = inode->version;
  }
  auto reader = state_.client.Open(key, state_.options.timeout);
  if (!reader.ok()) return OpenErrno(reader.code());
  const ReplicaList& info = (*reader)->info();
  if (info.put_id != version) {
    if (!steered) return state_.Steer(caller, inode, Steering::kReader);
    // Replaced again between look-up and open. The kernel does not try a third time.
    if (!Rebind(inode, info)) return Errno{ESTALE};
  }
  handle->reader = std::move(*reader);
  if (TryPassthrough(*handle)) {
    handle->reader.reset();  // the bytes are here: no lease has to be kept
    return handle;
  }
  if (views_in_place_ && info.size > 0) {
    auto view = handle->reader->View();
    if (view.ok()) handle->view = std::move(*view);
  }
  return handle;
}

bool Files::TryPassthrough(Handle& handle) {
  const InodePtr& inode = handle.inode;
  std::shared_ptr<BackedSlab> made;
  BackingFiles* const backing = state_.backing.load(std::memory_order_acquire);
  bool wanted = backing != nullptr && handle.reader->info().size > 0;
  if (wanted) {
    MutexLock lock(state_.mutex);
    wanted = inode->direct == 0 && inode->backed.expired();
  }
  if (wanted) made = MakeBacked(*backing, *handle.reader);
  MutexLock lock(state_.mutex);
  handle.backed = inode->backed.lock();
  if (!handle.backed && made && inode->direct == 0) inode->backed = handle.backed = std::move(made);
  if (!handle.backed) {
    CountDirect(handle);
    return false;
  }
  handle.slab = handle.backed->slab();
  return true;
}

std::shared_ptr<BackedSlab> Files::MakeBacked(BackingFiles& backing, ObjectReader& reader) {
  std::shared_ptr<Slab> slab = SlabOf(reader);
  if (!slab) return nullptr;
  std::shared_ptr<BackedSlab> made = BackedSlab::Make(backing, std::move(slab));
  if (!made) {
    LOG(WARNING) << "the kernel refuses passthrough from now on errno=" << errno;
    state_.backing.store(nullptr, std::memory_order_release);
  }
  return made;
}

std::shared_ptr<Slab> Files::SlabOf(ObjectReader& reader) {
  const ReplicaList& info = reader.info();
  if (info.size < state_.options.fetch_least || info.size > state_.options.fetch_most) {
    return state_.cache.Get(info.put_id);
  }
  const TimePoint deadline = state_.clock.Now() + state_.TransferTimeout(info.size);
  return state_.cache.GetOrFetch(info.put_id, deadline, [&] { return Fetch(reader); });
}

std::shared_ptr<Slab> Files::Fetch(ObjectReader& reader) {
  const uint64_t size = reader.info().size;
  std::shared_ptr<Slab> slab = state_.slabs.MakeInMemory(size);
  if (!slab) return nullptr;
  auto mapping = slab->MapForFill();
  if (!mapping.ok()) return nullptr;
  const auto got = reader.Read(0, mapping->writable(), state_.TransferTimeout(size));
  if (got.ok() && *got == size) return slab;
  LOG(WARNING) << "fetch failed bytes=" << size << " " << got.status();
  return nullptr;  // a read of the file will say what is wrong
}

// Lets an inode that only this open uses stand for the version that was found.
bool Files::Rebind(const InodePtr& inode, const ReplicaList& info) {
  MutexLock lock(state_.mutex);
  if (inode->readers != 1 || inode->working || inode->removed) return false;
  inode->version = info.put_id;
  inode->attributes =
      FromStored(info.attributes, info.size, info.created_ms, state_.options.defaults);
  state_.Stamp(inode);
  if (state_.kernel_cache != nullptr) state_.kernel_cache->InvalidateAttributes(inode->id);
  return true;
}

ErrnoOr<std::shared_ptr<Slab>> Files::CopyOf(const std::string& key, PutId version) {
  const auto reader = state_.client.Open(key, state_.options.timeout);
  if (!reader.ok()) return OpenErrno(reader.code());
  const ReplicaList& info = (*reader)->info();
  if (info.put_id != version) return Errno{ESTALE};
  if (std::shared_ptr<Slab> ours = state_.cache.Take(version)) return ours;
  auto slab = state_.slabs.Make(info.size);
  if (!slab.ok()) return slab.error();
  std::vector<std::byte> buffer(std::min<uint64_t>(kCopyBytes, info.size));
  for (uint64_t offset = 0; offset < info.size;) {
    const auto got = (*reader)->Read(offset, buffer, state_.options.timeout);
    if (!got.ok()) return OpenErrno(got.code());
    if (*got == 0) return Errno{EIO};
    const Errno written = (*slab)->WriteAt(offset, ByteSpan(buffer).first(*got));
    if (!written.ok()) return written;
    offset += *got;
  }
  return std::move(*slab);
}

void Files::MakeWorking(const InodePtr& inode, std::shared_ptr<Slab> slab, bool truncated) {
  inode->working = true;
  inode->slab = std::move(slab);
  inode->published_generation = inode->slab->generation();
  inode->must_publish = truncated;
  inode->last_flush = FlushOutcome::kNone;
  inode->write_errno = 0;
  inode->committed_attributes = inode->attributes;
  if (truncated) {
    inode->attributes.size = 0;
    inode->attributes.mtime_ns = inode->attributes.ctime_ns = state_.NowNs();
  }
}

ErrnoOr<HandlePtr> Files::OpenForWriting(const InodePtr& inode, const OpenFlags& flags,
                                         const Caller& caller) {
  if (state_.options.read_only) return Errno{EROFS};
  const bool steered = state_.EndSteering(caller);
  ExclusivePass opening(inode->opens, state_.clock, state_.Deadline());
  if (!opening.entered()) return Errno{ETIMEDOUT};
  std::string key;
  PutId version;
  bool working;
  bool look_again;
  {
    MutexLock lock(state_.mutex);
    working = inode->working;
    key = inode->key;
    version = inode->version;
    // Readers keep the version they opened: the writer works on an inode of its own.
    look_again =
        !working && (inode->readers > 0 || !inode->linked || state_.table.FileAt(key) != inode);
  }
  if (look_again) return steered ? Errno{ESTALE} : state_.Steer(caller, inode, Steering::kWriter);
  if (!working) {
    auto slab = flags.truncate ? state_.slabs.Make() : CopyOf(key, version);
    if (!slab.ok()) return slab.error();
    MutexLock lock(state_.mutex);
    MakeWorking(inode, std::move(*slab), flags.truncate);
    state_.Stamp(inode);
  } else if (flags.truncate) {
    const Errno cut = Resize(inode, 0);
    if (!cut.ok()) return cut;
  }
  auto handle = std::make_unique<Handle>();
  handle->inode = inode;
  handle->write = true;
  handle->append = flags.append;
  handle->opener = caller.pid == 0 ? 0 : state_.probe.ProcessOf(caller.pid);
  MutexLock lock(state_.mutex);
  handle->slab = inode->slab;
  ++inode->writers;
  CountDirect(*handle);
  return handle;
}

ErrnoOr<Files::Created> Files::Create(const InodePtr& parent, std::string_view name, uint32_t mode,
                                      const OpenFlags& flags, const Caller& caller) {
  if (state_.options.read_only) return Errno{EROFS};
  const auto key = names_.KeyForCreation(parent, name, false);
  if (!key.ok()) return key.error();
  const FileAttributes attributes = names_.NewAttributes(parent, ObjectKind::kFile, mode, caller);
  auto slab = state_.slabs.Make();
  if (!slab.ok()) return slab.error();
  auto handle = std::make_unique<Handle>();
  handle->write = true;
  handle->append = flags.append;
  handle->opener = caller.pid == 0 ? 0 : state_.probe.ProcessOf(caller.pid);
  InodePtr existing;
  {
    // The kernel has just been told that the name is free; only this mount can have changed that.
    MutexLock lock(state_.mutex);
    existing = state_.table.FileAt(*key);
    if (existing && flags.exclusive) return Errno{EEXIST};
    if (!existing) {
      const InodePtr inode = state_.table.AddFile(*key, ObjectKind::kFile, 0);
      inode->attributes = attributes;
      MakeWorking(inode, *slab, false);
      inode->must_publish = true;
      inode->create_exclusively = flags.exclusive;
      inode->lookups = 1;
      inode->writers = 1;
      state_.table.NoteUnpublished(inode);
      state_.Stamp(inode);
      handle->inode = inode;
      handle->slab = *slab;
      CountDirect(*handle);
    }
  }
  if (existing) {
    auto opened = Open(existing, flags, caller);
    if (!opened.ok()) return opened.error();
    handle = std::move(*opened);
    MutexLock lock(state_.mutex);
    names_.AssertLocked();
    ++existing->lookups;
    return Created{names_.EntryOf(existing), std::move(handle)};
  }
  names_.Touch(parent);
  MutexLock lock(state_.mutex);
  names_.AssertLocked();
  return Created{names_.EntryOf(handle->inode), std::move(handle)};
}

void Files::Release(HandlePtr handle) {
  const InodePtr inode = handle->inode;
  if (!handle->write) {
    const bool direct = handle->direct;
    handle.reset();  // the view and the lease go before the inode may
    MutexLock lock(state_.mutex);
    if (direct) --inode->direct;
    --inode->readers;
    state_.table.Reap(inode);
    return;
  }
  // Whoever holds the gate is bounded; if it should not come free, closing goes on all the same.
  ExclusivePass closing(inode->opens, state_.clock,
                        SaturatingAdd(state_.Deadline(), state_.options.timeout));
  bool last;
  {
    MutexLock lock(state_.mutex);
    last = inode->writers == 1;
  }
  if (last) publisher_.Finish(inode);
  handle.reset();
  MutexLock lock(state_.mutex);
  --inode->direct;
  --inode->writers;
  state_.table.Reap(inode);
}

}  // namespace mooncake::fs

// Files: opening, reading, writing, and changing attributes.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "fuse/fs/names.h"
#include "fuse/fs/publisher.h"

namespace mooncake::fs {

using HandlePtr = std::unique_ptr<Handle>;

struct OpenFlags {
  bool write = false;
  bool append = false;
  bool truncate = false;
  bool exclusive = false;
};
OpenFlags FlagsOf(int open_flags);

// What setattr changes; absent fields stay.
struct AttributeChange {
  std::optional<uint32_t> mode;
  std::optional<uint32_t> uid;
  std::optional<uint32_t> gid;
  std::optional<uint64_t> size;
  std::optional<int64_t> mtime_ns;
  std::optional<int64_t> atime_ns;
};

// Thread-safe; the calls on one handle too.
class Files {
 public:
  Files(FsState& state, Names& names, Publisher& publisher, bool views_in_place)
      : state_(state), names_(names), publisher_(publisher), views_in_place_(views_in_place) {}

  // ESTALE makes the kernel look the name up again, once.
  ErrnoOr<HandlePtr> Open(const InodePtr& inode, const OpenFlags& flags, const Caller& caller);
  struct Created {
    Entry entry;
    HandlePtr handle;
  };
  ErrnoOr<Created> Create(const InodePtr& parent, std::string_view name, uint32_t mode,
                          const OpenFlags& flags, const Caller& caller);
  void Release(HandlePtr handle);

  // Bytes from `offset`, fewer than `size` only at the end: in place, or in `scratch`, which grows as needed.
  // ESTALE: the version that was opened is gone from the store.
  ErrnoOr<ByteSpan> Read(const Handle& handle, uint64_t offset, size_t size,
                         std::vector<std::byte>& scratch);
  // EBADF, EFBIG; after an error nothing of the file is published any more.
  ErrnoOr<size_t> Write(Handle& handle, uint64_t offset, ByteSpan bytes);
  // fallocate(2): a hint, but for the size. EOPNOTSUPP for modes that move data.
  Errno Allocate(Handle& handle, int mode, uint64_t offset, uint64_t length);
  Errno Sync(const Handle& handle) {
    return handle.write ? publisher_.Publish(handle.inode) : kSuccess;
  }

  // `handle` may be null. A change of size by name is published at once, unless a writer has the file open.
  ErrnoOr<Entry> SetAttributes(const InodePtr& inode, const AttributeChange& change, Handle* handle,
                               const Caller& caller);

 private:
  ErrnoOr<HandlePtr> OpenForReading(const InodePtr& inode, const Caller& caller);
  ErrnoOr<HandlePtr> OpenCommitted(const InodePtr& inode, HandlePtr handle, const Caller& caller,
                                   bool steered);
  ErrnoOr<HandlePtr> OpenForWriting(const InodePtr& inode, const OpenFlags& flags,
                                    const Caller& caller);
  ErrnoOr<std::shared_ptr<Slab>> CopyOf(const std::string& key, PutId version);
  // Lets the kernel serve the handle, if it can and that is worth it. Waits for the fetch.
  bool TryPassthrough(Handle& handle);
  std::shared_ptr<BackedSlab> MakeBacked(BackingFiles& backing, ObjectReader& reader);
  void CountDirect(Handle& handle) MC_REQUIRES(state_.mutex);
  std::shared_ptr<Slab> SlabOf(ObjectReader& reader);
  std::shared_ptr<Slab> Fetch(ObjectReader& reader);
  bool Rebind(const InodePtr& inode, const ReplicaList& info);
  void MakeWorking(const InodePtr& inode, std::shared_ptr<Slab> slab, bool truncated)
      MC_REQUIRES(state_.mutex);
  void NoteWrite(const InodePtr& inode);
  Errno Resize(const InodePtr& inode, uint64_t size);
  Errno Truncate(const InodePtr& inode, uint64_t size, Handle* handle, const Caller& caller);
  ErrnoOr<Entry> SetStored(const InodePtr& inode, const AttributeChange& change);
  ErrnoOr<Entry> SetDirectory(const InodePtr& inode, const AttributeChange& change);

  FsState& state_;
  Names& names_;
  Publisher& publisher_;
  const bool views_in_place_;
};

}  // namespace mooncake::fs

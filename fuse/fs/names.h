// Names: look-up, creation and removal of directories, symbolic links, and removal and renaming of everything.
#pragma once

#include <string>
#include <string_view>

#include "fuse/fs/fs_state.h"

namespace mooncake::fs {

// What the kernel learns about an inode.
struct Entry {
  InodePtr inode;
  FileAttributes attributes;
  uint32_t links = 1;
  Duration entry_timeout{};
  Duration attr_timeout{};
};

// Thread-safe. Every call is bounded by FsOptions::timeout per request to the master. Entries that are returned count
// as one look-up of the kernel. Directories are given as inodes that the kernel holds.
class Names {
 public:
  explicit Names(FsState& state) : state_(state) {}

  // ENOENT also for names that no key can have.
  ErrnoOr<Entry> Lookup(const InodePtr& parent, std::string_view name, const Caller& caller);
  void Forget(InodeId id, uint64_t count);
  InodePtr ById(InodeId id) const;

  // EEXIST, EINVAL (a name that is reserved and not canonical), ENAMETOOLONG.
  ErrnoOr<Entry> MakeDirectory(const InodePtr& parent, std::string_view name, uint32_t mode,
                               const Caller& caller);
  ErrnoOr<Entry> MakeSymlink(const InodePtr& parent, std::string_view name, std::string_view target,
                             const Caller& caller);
  ErrnoOr<std::string> ReadSymlink(const InodePtr& inode);
  // ENOTEMPTY.
  Errno RemoveDirectory(const InodePtr& parent, std::string_view name);
  // Open handles keep what they read, and a file that is being written is not published any more.
  Errno Unlink(const InodePtr& parent, std::string_view name);
  // EEXIST (no_replace), EISDIR, ENOTDIR, ENOTEMPTY, EINVAL (part directories).
  Errno Rename(const InodePtr& from_parent, std::string_view from, const InodePtr& to_parent,
               std::string_view to, bool no_replace);

  // As stat(2) sees it now. ESTALE: the name shows another version by now.
  ErrnoOr<Entry> GetAttributes(const InodePtr& inode);

  // For the lock analysis: whoever shares our FsState holds its mutex by another name.
  void AssertLocked() const MC_ASSERT_CAPABILITY(state_.mutex) {}
  // Makes the attributes of what the master said about a key, and the inode for it; counts a look-up.
  Entry BindFile(std::string_view key, const ObjectStat& stat, std::optional<Steering> steering)
      MC_REQUIRES(state_.mutex);
  Entry BindDirectory(const DirectoryPoint& point, const std::optional<ObjectStat>& marker)
      MC_REQUIRES(state_.mutex);
  Entry EntryOf(const InodePtr& inode) const MC_REQUIRES(state_.mutex);

  // The key that `name` has or would have in `parent`. EINVAL, ENAMETOOLONG.
  ErrnoOr<std::string> KeyForCreation(const InodePtr& parent, std::string_view name,
                                      bool directory);
  // Attributes of something new in `parent`: owner, and group by the set-group-id rule.
  FileAttributes NewAttributes(const InodePtr& parent, ObjectKind kind, uint32_t mode,
                               const Caller& caller);
  // The directory was changed through this mount.
  void Touch(const InodePtr& directory);
  // A directory that exists only through its keys gets an object of its own before its last key goes.
  Errno KeepDirectory(const InodePtr& directory);

 private:
  struct Found {
    std::optional<ObjectStat> file;
    bool directory = false;
  };
  ErrnoOr<DecodedName> Decode(const InodePtr& parent, std::string_view name, int error);
  ErrnoOr<Found> Ask(const std::string& key);
  ErrnoOr<Entry> LookupDirectory(const DirectoryPoint& point);
  ErrnoOr<ObjectStat> StatMarker(const std::string& prefix);
  ErrnoOr<Entry> GetDirectoryAttributes(const InodePtr& inode);
  Errno PutMarker(const std::string& prefix, const FileAttributes& attributes, WriteMode mode);
  // True if nothing but the marker is below.
  ErrnoOr<bool> IsEmpty(const std::string& prefix);
  Errno RenameFile(const std::string& from, const std::string& to, bool no_replace);
  Errno RenameDirectory(const std::string& from, const std::string& to, bool no_replace);

  FsState& state_;
};

}  // namespace mooncake::fs

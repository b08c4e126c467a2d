// All inodes that the kernel or an open handle knows, by number and by name. Not thread-safe: FsState::mutex.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "fuse/fs/inode.h"

namespace mooncake::fs {

class InodeTable {
 public:
  InodeTable();

  InodePtr root() const { return root_; }
  InodePtr ById(InodeId id) const;
  // What the name shows: the file being written if there is one, else the newest version known. Null: nothing known.
  InodePtr FileAt(std::string_view key) const;
  // The committed version beside a file being written or opened for writing, if it has an inode of its own.
  InodePtr CommittedAt(std::string_view key) const;
  InodePtr DirectoryAt(const DirectoryPoint& point) const;

  // A new inode that the name shows from now on. What it showed before is detached, or with `keep_old` stays as
  // CommittedAt. `wanted` is taken as number if it is not 0 and free.
  InodePtr AddFile(std::string_view key, ObjectKind kind, InodeId wanted, bool keep_old = false);
  // A new committed inode beside the one that the name shows.
  InodePtr AddCommitted(std::string_view key, ObjectKind kind, InodeId wanted);
  InodePtr AddDirectory(const DirectoryPoint& point);
  // The number that AddDirectory would give.
  InodeId NumberFor(const DirectoryPoint& point) const;

  // The name no longer leads to the inode, which lives on while it is in use.
  void Detach(const InodePtr& inode);
  // Whatever the name shows is detached and marked as removed.
  void RemoveName(std::string_view key);
  void DetachCommitted(std::string_view key);
  // What `from` showed is shown by `to`; what `to` showed is removed.
  void MoveFile(std::string_view from, std::string_view to);
  // The same for all names that start with `from`, directories included.
  void MoveTree(std::string_view from, std::string_view to);
  void DetachDirectory(const InodePtr& inode);

  void Forget(InodeId id, uint64_t count);
  // Drops the inode if neither kernel nor handle needs it.
  void Reap(const InodePtr& inode);

  // To be told when a file is created and when it is first published or given up.
  void NoteUnpublished(const InodePtr& inode) { unpublished_.insert(inode); }
  void NoteSettled(const InodePtr& inode) { unpublished_.erase(inode); }
  // Files directly in a directory that are being written and were never published.
  std::vector<InodePtr> UnpublishedIn(const DirectoryPoint& point) const;
  bool HasUnpublishedBelow(std::string_view prefix) const;

  size_t size() const { return by_id_.size(); }

 private:
  struct Name {
    InodePtr shown;
    InodePtr committed;
  };

  InodePtr Make(InodeId wanted, ObjectKind kind);
  void Drop(const InodePtr& inode, bool removed);
  static std::string DirectoryKey(const DirectoryPoint& point);

  InodePtr root_;
  std::unordered_map<InodeId, InodePtr> by_id_;
  std::map<std::string, Name, std::less<>> files_;
  std::map<std::string, InodePtr, std::less<>> directories_;  // by DirectoryKey
  std::unordered_set<InodePtr> unpublished_;                  // few: only while they are open
  uint64_t next_local_ = 0;
};

}  // namespace mooncake::fs

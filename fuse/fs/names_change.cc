// The part of Names that changes the name space.
#include <sys/stat.h>

#include <algorithm>

#include "fuse/fs/errno_map.h"
#include "fuse/fs/names.h"

namespace mooncake::fs {

ErrnoOr<std::string> Names::KeyForCreation(const InodePtr& parent, std::string_view name,
                                           bool directory) {
  auto decoded = Decode(parent, name, EINVAL);
  if (!decoded.ok()) return decoded.error();
  if (decoded->kind == NameKind::kPart) return Errno{EEXIST};  // they are always there
  if (decoded->kind == NameKind::kBesideDirectory) return Errno{EINVAL};
  if (decoded->key.size() + (directory ? 1 : 0) > kMaxKeyBytes) return Errno{ENAMETOOLONG};
  if (decoded->key.empty() && !directory) return Errno{EINVAL};
  return std::move(decoded->key);
}

Errno Names::PutMarker(const std::string& prefix, const FileAttributes& attributes,
                       WriteMode mode) {
  const PutOptions options{
      .mode = mode, .attributes = ToStored(attributes), .timeout = state_.options.timeout};
  return ErrnoOf(state_.client.Put(prefix, {}, options).code());
}

ErrnoOr<Entry> Names::MakeDirectory(const InodePtr& parent, std::string_view name, uint32_t mode,
                                    const Caller& caller) {
  const auto key = KeyForCreation(parent, name, true);
  if (!key.ok()) return key.error();
  SharedPass tree(state_.tree_gate, state_.clock, state_.Deadline());
  if (!tree.entered()) return Errno{ETIMEDOUT};
  const FileAttributes attributes = NewAttributes(parent, ObjectKind::kDirectory, mode, caller);
  const Errno put = PutMarker(*key + "/", attributes, WriteMode::kCreate);
  if (!put.ok()) return put;
  Touch(parent);
  MutexLock lock(state_.mutex);
  Entry entry =
      BindDirectory(PointOfDirectory(*key), ObjectStat{.attributes = ToStored(attributes)});
  state_.Stamp(entry.inode);
  return entry;
}

ErrnoOr<Entry> Names::MakeSymlink(const InodePtr& parent, std::string_view name,
                                  std::string_view target, const Caller& caller) {
  const auto key = KeyForCreation(parent, name, false);
  if (!key.ok()) return key.error();
  SharedPass tree(state_.tree_gate, state_.clock, state_.Deadline());
  if (!tree.entered()) return Errno{ETIMEDOUT};
  {
    MutexLock lock(state_.mutex);
    const InodePtr shown = state_.table.FileAt(*key);
    if (shown && shown->working) return Errno{EEXIST};
  }
  const FileAttributes attributes = NewAttributes(parent, ObjectKind::kSymlink, 0777, caller);
  const PutOptions options{.attributes = ToStored(attributes), .timeout = state_.options.timeout};
  const auto put = state_.client.Put(*key, AsBytes(target), options);
  if (!put.ok()) return ErrnoOf(put.code());
  Touch(parent);
  ObjectStat stat{
      .put_id = put->version, .size = target.size(), .attributes = ToStored(attributes)};
  stat.created_ms = attributes.mtime_ns / 1'000'000;
  MutexLock lock(state_.mutex);
  Entry entry = BindFile(*key, stat, std::nullopt);
  entry.inode->link_target = target;
  state_.Stamp(entry.inode);
  return entry;
}

ErrnoOr<std::string> Names::ReadSymlink(const InodePtr& inode) {
  std::string key;
  {
    MutexLock lock(state_.mutex);
    if (!inode->link_target.empty()) return inode->link_target;
    key = inode->key;
  }
  std::string target;
  const Status got = state_.client.Get(key, &target, state_.options.timeout);
  if (got.code() == ErrorCode::kObjectNotFound) return Errno{ESTALE};
  if (!got.ok()) return ErrnoOf(got);
  MutexLock lock(state_.mutex);
  inode->link_target = target;
  return target;
}

ErrnoOr<bool> Names::IsEmpty(const std::string& prefix) {
  {
    MutexLock lock(state_.mutex);
    if (state_.table.HasUnpublishedBelow(prefix)) return false;
  }
  const auto page = state_.client.List({.prefix = prefix, .limit = 2}, state_.options.timeout);
  if (!page.ok()) return ErrnoOf(page.code());
  return std::all_of(page->entries.begin(), page->entries.end(), [&](const ListEntry& entry) {
    return entry.key == prefix && entry.stat.attributes &&
           entry.stat.attributes->kind == ObjectKind::kDirectory;
  });
}

Errno Names::RemoveDirectory(const InodePtr& parent, std::string_view name) {
  const auto decoded = Decode(parent, name, ENOENT);
  if (!decoded.ok()) return decoded.error();
  if (decoded->kind == NameKind::kBesideDirectory) return Errno{ENOTDIR};
  if (decoded->kind == NameKind::kPart) return Errno{EINVAL};
  SharedPass tree(state_.tree_gate, state_.clock, state_.Deadline());
  if (!tree.entered()) return Errno{ETIMEDOUT};
  const DirectoryPoint point = PointOfDirectory(decoded->key);
  const auto empty = IsEmpty(point.prefix);
  if (!empty.ok()) return empty.error();
  if (!*empty) return Errno{ENOTEMPTY};
  const Errno kept = KeepDirectory(parent);
  if (!kept.ok()) return kept;
  // A directory without a marker went with its last key.
  const Status removed = state_.client.Remove(point.prefix, /*force=*/true, state_.options.timeout);
  if (!removed.ok() && removed.code() != ErrorCode::kObjectNotFound) return ErrnoOf(removed);
  Touch(parent);
  MutexLock lock(state_.mutex);
  if (const InodePtr inode = state_.table.DirectoryAt(point)) state_.table.DetachDirectory(inode);
  return kSuccess;
}

Errno Names::KeepDirectory(const InodePtr& directory) {
  std::string prefix;
  FileAttributes attributes;
  {
    MutexLock lock(state_.mutex);
    const bool needs_none =
        directory == state_.table.root() || directory->point.is_part() || directory->removed;
    if (needs_none || directory->has_marker) return kSuccess;
    prefix = directory->point.prefix;
    attributes = EntryOf(directory).attributes;
  }
  if (prefix.size() > kMaxKeyBytes) return kSuccess;
  const Errno put = PutMarker(prefix, attributes, WriteMode::kCreate);
  if (!put.ok() && put != Errno{EEXIST}) return put;
  MutexLock lock(state_.mutex);
  directory->has_marker = true;
  return kSuccess;
}

Errno Names::Unlink(const InodePtr& parent, std::string_view name) {
  const auto decoded = Decode(parent, name, ENOENT);
  if (!decoded.ok()) return decoded.error();
  if (decoded->kind == NameKind::kPart) return Errno{EISDIR};
  const std::string& key = decoded->key;
  SharedPass tree(state_.tree_gate, state_.clock, state_.Deadline());
  if (!tree.entered()) return Errno{ETIMEDOUT};
  InodePtr inode;
  bool stored = true;
  {
    MutexLock lock(state_.mutex);
    inode = state_.table.FileAt(key);
    if (inode && inode->working && inode->version == kNoPut) stored = false;
  }
  std::optional<ExclusivePass> io;  // not while it is being published
  if (inode) {
    io.emplace(inode->io, state_.clock, state_.Deadline());
    if (!io->entered()) return Errno{ETIMEDOUT};
    MutexLock lock(state_.mutex);
    stored = stored || inode->version != kNoPut;
  }
  const Errno kept = KeepDirectory(parent);
  if (!kept.ok()) return kept;
  // Never-published files are removed too: an older value may hide behind one that was renamed over it.
  const Status removed = state_.client.Remove(key, /*force=*/true, state_.options.timeout);
  if (removed.code() == ErrorCode::kObjectNotFound && stored && !(inode && inode->working)) {
    MutexLock lock(state_.mutex);
    state_.table.RemoveName(key);
    return Errno{ENOENT};
  }
  if (!removed.ok() && removed.code() != ErrorCode::kObjectNotFound) return ErrnoOf(removed);
  Touch(parent);
  std::vector<std::shared_ptr<Slab>> freed;
  MutexLock lock(state_.mutex);
  if (inode) state_.Stamp(inode);
  freed = state_.TakeValues(key);
  state_.table.RemoveName(key);
  return kSuccess;
}

Errno Names::Rename(const InodePtr& from_parent, std::string_view from, const InodePtr& to_parent,
                    std::string_view to, bool no_replace) {
  const auto source = Decode(from_parent, from, ENOENT);
  if (!source.ok()) return source.error();
  const auto target = Decode(to_parent, to, EINVAL);
  if (!target.ok()) return target.error();
  if (source->kind == NameKind::kPart || target->kind == NameKind::kPart) return Errno{EINVAL};
  if (source->key == target->key) return kSuccess;
  if (target->key.empty() || target->key.size() >= kMaxKeyBytes) return Errno{ENAMETOOLONG};
  bool directory = false;
  if (source->kind == NameKind::kPlain) {
    MutexLock lock(state_.mutex);
    directory = state_.table.DirectoryAt(PointOfDirectory(source->key)) != nullptr;
  }
  if (target->kind == NameKind::kBesideDirectory) return Errno{EINVAL};
  const Errno kept = KeepDirectory(from_parent);
  if (!kept.ok()) return kept;
  const Errno renamed = directory ? RenameDirectory(source->key, target->key, no_replace)
                                  : RenameFile(source->key, target->key, no_replace);
  if (!renamed.ok()) return renamed;
  Touch(from_parent);
  Touch(to_parent);
  return kSuccess;
}

Errno Names::RenameFile(const std::string& from, const std::string& to, bool no_replace) {
  const TimePoint deadline = state_.Deadline();
  SharedPass tree(state_.tree_gate, state_.clock, deadline);
  if (!tree.entered()) return Errno{ETIMEDOUT};
  InodePtr inodes[2];
  {
    MutexLock lock(state_.mutex);
    inodes[0] = state_.table.FileAt(from);
    inodes[1] = state_.table.FileAt(to);
    if (inodes[1] && inodes[1]->working && no_replace) return Errno{EEXIST};
  }
  // Neither is being published meanwhile; by number, so that two renames cannot wait for each other.
  std::optional<ExclusivePass> passes[2];
  const bool swap = inodes[0] && inodes[1] && inodes[1]->id < inodes[0]->id;
  for (const int i : {swap ? 1 : 0, swap ? 0 : 1}) {
    if (!inodes[i]) continue;
    passes[i].emplace(inodes[i]->io, state_.clock, deadline);
    if (!passes[i]->entered()) return Errno{EBUSY};
  }
  bool stored = true;
  bool covers = false;
  {
    MutexLock lock(state_.mutex);
    stored = !inodes[0] || !inodes[0]->working || inodes[0]->version != kNoPut;
    covers = !stored && inodes[0]->covers_stored;
  }
  if (covers) {
    // What it was renamed over must not come back when it leaves.
    const Status removed = state_.client.Remove(from, /*force=*/true, state_.options.timeout);
    if (!removed.ok() && removed.code() != ErrorCode::kObjectNotFound) return ErrnoOf(removed);
  }
  if (stored) {
    const Status renamed = state_.client.Rename(from, to, no_replace, state_.options.timeout);
    const bool gone = renamed.code() == ErrorCode::kObjectNotFound;
    // The committed version was removed elsewhere: the file being written still has the name.
    if (!renamed.ok() && !(gone && inodes[0] && inodes[0]->working)) return ErrnoOf(renamed);
  }
  // What was never published replaces the target when it is: until then the store keeps the old value.
  std::vector<std::shared_ptr<Slab>> freed;
  MutexLock lock(state_.mutex);
  freed = state_.TakeValues(to);
  state_.table.MoveFile(from, to);
  if (inodes[0]) {
    inodes[0]->covers_stored = !stored;
    inodes[0]->create_exclusively = false;  // the new name may be taken; rename replaces
    state_.Stamp(inodes[0]);
  }
  return kSuccess;
}

Errno Names::RenameDirectory(const std::string& from, const std::string& to, bool no_replace) {
  ExclusivePass tree(state_.tree_gate, state_.clock, state_.Deadline());
  if (!tree.entered()) return Errno{EBUSY};
  const auto target = Ask(to);
  if (!target.ok()) return target.error();
  if (target->file && !target->directory) return Errno{no_replace ? EEXIST : ENOTDIR};
  const std::string from_prefix = from + "/";
  const std::string to_prefix = to + "/";
  if (to_prefix.starts_with(from_prefix)) return Errno{EINVAL};
  if (target->directory) {
    if (no_replace) return Errno{EEXIST};
    const auto empty = IsEmpty(to_prefix);
    if (!empty.ok()) return empty.error();
    if (!*empty) return Errno{ENOTEMPTY};
    const Status removed = state_.client.Remove(to_prefix, true, state_.options.timeout);
    if (!removed.ok() && removed.code() != ErrorCode::kObjectNotFound) return ErrnoOf(removed);
  }
  // kObjectReplicaBusy: somebody else writes below it. None of ours is being published now.
  const auto moved = state_.client.RenamePrefix(from_prefix, to_prefix, state_.options.timeout);
  if (!moved.ok() && moved.code() != ErrorCode::kObjectNotFound) return ErrnoOf(moved.code());
  MutexLock lock(state_.mutex);
  state_.table.MoveTree(from_prefix, to_prefix);
  if (const InodePtr inode = state_.table.DirectoryAt(PointOfDirectory(to))) state_.Stamp(inode);
  return kSuccess;
}

}  // namespace mooncake::fs

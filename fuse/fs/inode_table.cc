#include "fuse/fs/inode_table.h"

#include <algorithm>
#include <utility>

namespace mooncake::fs {
namespace {

// Numbers of files that have no version yet. Put ids reach this range in the year 2067.
constexpr InodeId kFirstLocalId = InodeId{3} << 62;

InodeId HashOf(
    std::string_view text) {  // FNV-1a: the same number for the same directory after a remount
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

bool StartsWith(std::string_view text, std::string_view prefix) { return text.starts_with(prefix); }

}  // namespace

InodeTable::InodeTable() {
  root_ = std::make_shared<Inode>(kRootId, ObjectKind::kDirectory);
  root_->linked = true;
  root_->lookups = 1;
  by_id_[kRootId] = root_;
  directories_[DirectoryKey(root_->point)] = root_;
}

// Prefixes of part directories never end in '/', all others do or are empty; a prefix is cut in parts in one way only.
std::string InodeTable::DirectoryKey(const DirectoryPoint& point) { return point.prefix; }

InodePtr InodeTable::ById(InodeId id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : it->second;
}

InodePtr InodeTable::FileAt(std::string_view key) const {
  const auto it = files_.find(key);
  return it == files_.end() ? nullptr : it->second.shown;
}

InodePtr InodeTable::CommittedAt(std::string_view key) const {
  const auto it = files_.find(key);
  return it == files_.end() ? nullptr : it->second.committed;
}

InodePtr InodeTable::DirectoryAt(const DirectoryPoint& point) const {
  const auto it = directories_.find(DirectoryKey(point));
  return it == directories_.end() ? nullptr : it->second;
}

InodePtr InodeTable::Make(InodeId wanted, ObjectKind kind) {
  InodeId id = wanted;
  while (id <= kRootId || by_id_.contains(id)) id = kFirstLocalId + ++next_local_;
  auto inode = std::make_shared<Inode>(id, kind);
  inode->attributes.kind = kind;
  inode->linked = true;
  by_id_[id] = inode;
  return inode;
}

InodePtr InodeTable::AddFile(std::string_view key, ObjectKind kind, InodeId wanted, bool keep_old) {
  InodePtr inode = Make(wanted, kind);
  inode->key = key;
  Name& name = files_[std::string(key)];
  const InodePtr old = name.shown;
  const InodePtr older = name.committed;
  name.shown = inode;
  name.committed = keep_old ? old : nullptr;
  if (old && !keep_old) Drop(old, false);
  if (older) Drop(older, false);
  return inode;
}

InodePtr InodeTable::AddCommitted(std::string_view key, ObjectKind kind, InodeId wanted) {
  InodePtr inode = Make(wanted, kind);
  inode->key = key;
  Name& name = files_[std::string(key)];
  const InodePtr old = name.committed;
  name.committed = inode;
  if (old) Drop(old, false);
  return inode;
}

InodeId InodeTable::NumberFor(const DirectoryPoint& point) const {
  if (const InodePtr known = DirectoryAt(point)) return known->id;
  InodeId id = HashOf(DirectoryKey(point));
  while (id <= kRootId || by_id_.contains(id)) ++id;
  return id;
}

InodePtr InodeTable::AddDirectory(const DirectoryPoint& point) {
  const InodeId id = NumberFor(point);
  InodePtr inode = Make(id, ObjectKind::kDirectory);
  inode->point = point;
  directories_[DirectoryKey(point)] = inode;
  return inode;
}

void InodeTable::Drop(const InodePtr& inode, bool removed) {
  inode->linked = false;
  inode->removed = inode->removed || removed;
  Reap(inode);
}

void InodeTable::Detach(const InodePtr& inode) {
  const auto it = files_.find(inode->key);
  if (it != files_.end()) {
    if (it->second.shown == inode) it->second.shown = std::exchange(it->second.committed, nullptr);
    if (it->second.committed == inode) it->second.committed = nullptr;
    if (!it->second.shown) files_.erase(it);
  }
  Drop(inode, false);
}

void InodeTable::DetachCommitted(std::string_view key) {
  const auto it = files_.find(key);
  if (it == files_.end() || !it->second.committed) return;
  Drop(std::exchange(it->second.committed, nullptr), false);
}

void InodeTable::RemoveName(std::string_view key) {
  const auto it = files_.find(key);
  if (it == files_.end()) return;
  const Name name = it->second;
  files_.erase(it);
  if (name.shown) Drop(name.shown, true);
  if (name.committed) Drop(name.committed, true);
}

void InodeTable::MoveFile(std::string_view from, std::string_view to) {
  RemoveName(to);
  const auto it = files_.find(from);
  if (it == files_.end()) return;
  const Name name = it->second;
  files_.erase(it);
  if (name.shown) name.shown->key = to;
  if (name.committed) name.committed->key = to;
  files_[std::string(to)] = name;
}

void InodeTable::MoveTree(std::string_view from, std::string_view to) {
  const auto moved_name = [&](std::string_view name) {
    return std::string(to) + std::string(name.substr(from.size()));
  };
  std::vector<std::string> keys;
  for (auto it = files_.lower_bound(from); it != files_.end() && StartsWith(it->first, from);
       ++it) {
    keys.push_back(it->first);
  }
  for (const std::string& key : keys) MoveFile(key, moved_name(key));
  std::vector<InodePtr> moved;
  for (auto it = directories_.lower_bound(from);
       it != directories_.end() && StartsWith(it->first, from);) {
    moved.push_back(it->second);
    it = directories_.erase(it);
  }
  for (const InodePtr& directory : moved) {
    directory->point.prefix = moved_name(directory->point.prefix);
    InodePtr& place = directories_[DirectoryKey(directory->point)];
    if (place) Drop(std::exchange(place, nullptr), true);
    place = directory;
  }
}

void InodeTable::DetachDirectory(const InodePtr& inode) {
  const auto it = directories_.find(DirectoryKey(inode->point));
  if (it != directories_.end() && it->second == inode) directories_.erase(it);
  Drop(inode, true);
}

void InodeTable::Forget(InodeId id, uint64_t count) {
  const InodePtr inode = ById(id);
  if (!inode || id == kRootId) return;
  inode->lookups -= std::min(inode->lookups, count);
  Reap(inode);
}

void InodeTable::Reap(const InodePtr& inode) {
  if (inode->lookups > 0 || inode->in_use() || inode->id == kRootId) return;
  if (by_id_.erase(inode->id) == 0) return;
  if (!inode->linked) return;
  if (inode->is_directory()) {
    directories_.erase(DirectoryKey(inode->point));
  } else {
    const auto it = files_.find(inode->key);
    if (it == files_.end()) return;
    if (it->second.shown == inode) it->second.shown = std::exchange(it->second.committed, nullptr);
    if (it->second.committed == inode) it->second.committed = nullptr;
    if (!it->second.shown) files_.erase(it);
  }
  inode->linked = false;
}

std::vector<InodePtr> InodeTable::UnpublishedIn(const DirectoryPoint& point) const {
  std::vector<InodePtr> found;
  for (const InodePtr& inode : unpublished_) {
    const bool below = inode->linked && StartsWith(inode->key, point.prefix);
    if (below && inode->key.find('/', point.prefix.size()) == std::string::npos)
      found.push_back(inode);
  }
  return found;
}

bool InodeTable::HasUnpublishedBelow(std::string_view prefix) const {
  return std::any_of(unpublished_.begin(), unpublished_.end(), [&](const InodePtr& inode) {
    return inode->linked && StartsWith(inode->key, prefix);
  });
}

}  // namespace mooncake::fs

#include "fuse/fs/names.h"

#include <sys/stat.h>

#include <algorithm>

#include "fuse/fs/errno_map.h"

namespace mooncake::fs {
namespace {

// Enough to see a key and its directory in one page, unless many keys begin with the same characters.
constexpr uint32_t kLookupPage = 16;

}  // namespace

InodePtr Names::ById(InodeId id) const {
  MutexLock lock(state_.mutex);
  return state_.table.ById(id);
}

void Names::Forget(InodeId id, uint64_t count) {
  MutexLock lock(state_.mutex);
  state_.table.Forget(id, count);
}

ErrnoOr<DecodedName> Names::Decode(const InodePtr& parent, std::string_view name, int error) {
  if (name.size() > kMaxNameBytes) return Errno{ENAMETOOLONG};
  DirectoryPoint point;
  {
    MutexLock lock(state_.mutex);
    point = parent->point;
  }
  auto decoded = DecodeName(point, name);
  if (!decoded) return Errno{error};
  return std::move(*decoded);
}

// One listing answers whether `key` is an object and whether it is a directory.
ErrnoOr<Names::Found> Names::Ask(const std::string& key) {
  Found found;
  const std::string as_directory = key + "/";
  ListArgs args{.prefix = key, .delimiter = "/", .limit = kLookupPage};
  if (!key.empty()) {
    const auto page = state_.client.List(args, state_.options.timeout);
    if (!page.ok()) return ErrnoOf(page.code());
    for (const ListEntry& entry : page->entries) {
      if (!entry.is_prefix && entry.key == key) found.file = entry.stat;
      if (entry.is_prefix && entry.key == as_directory) found.directory = true;
    }
    if (found.directory || !page->truncated || page->entries.back().key > as_directory)
      return found;
  }
  args = {.prefix = as_directory, .limit = 1};
  const auto below = state_.client.List(args, state_.options.timeout);
  if (!below.ok()) return ErrnoOf(below.code());
  found.directory = !below->entries.empty();
  return found;
}

ErrnoOr<Entry> Names::Lookup(const InodePtr& parent, std::string_view name, const Caller& caller) {
  auto decoded = Decode(parent, name, ENOENT);
  if (!decoded.ok()) return decoded.error();
  if (decoded->kind == NameKind::kPart) return LookupDirectory(decoded->part);
  const std::string& key = decoded->key;
  if (key.size() > kMaxKeyBytes) return Errno{ENAMETOOLONG};
  uint64_t asked_at;
  std::optional<Steering> steering;
  {
    MutexLock lock(state_.mutex);
    asked_at = state_.changes;
    steering = state_.SteeringOf(caller, key);
    const InodePtr shown = key.empty() ? nullptr : state_.table.FileAt(key);
    if (shown && shown->working && steering != Steering::kReader) {
      ++shown->lookups;
      return EntryOf(shown);
    }
  }
  auto found = Ask(key);
  if (!found.ok()) return found.error();
  // The marker of a directory is the directory, not a file with an empty name in it.
  const bool is_marker = key.ends_with('/') && found->file && found->file->attributes &&
                         found->file->attributes->kind == ObjectKind::kDirectory;
  if (is_marker) found->file.reset();
  if (found->directory && decoded->kind == NameKind::kPlain)
    return LookupDirectory(PointOfDirectory(key));
  if (decoded->kind == NameKind::kBesideDirectory && !found->directory) found->file.reset();
  MutexLock lock(state_.mutex);
  if (decoded->kind == NameKind::kPlain) {
    const InodePtr directory = state_.table.DirectoryAt(PointOfDirectory(key));
    if (directory && directory->stamp <= asked_at) state_.table.DetachDirectory(directory);
  }
  const InodePtr shown = state_.table.FileAt(key);
  const bool changed_meanwhile = shown && shown->stamp > asked_at;
  if (changed_meanwhile || (shown && shown->working && !found->file)) {
    ++shown->lookups;
    return EntryOf(shown);
  }
  if (found->file) return BindFile(key, *found->file, steering);
  if (shown) state_.table.Detach(shown);
  return Errno{ENOENT};
}

ErrnoOr<ObjectStat> Names::StatMarker(const std::string& prefix) {
  auto stat = state_.client.Stat(prefix, state_.options.timeout);
  if (!stat.ok()) return ErrnoOf(stat.code());
  // An object of another kind under such a key is a file with an empty name, not the directory.
  const bool is_marker = stat->attributes && stat->attributes->kind == ObjectKind::kDirectory;
  if (!is_marker) return Errno{ENOENT};
  return std::move(*stat);
}

ErrnoOr<Entry> Names::LookupDirectory(const DirectoryPoint& point) {
  std::optional<ObjectStat> marker;
  if (!point.is_part() && point.prefix.size() <= kMaxKeyBytes) {
    auto stat = StatMarker(point.prefix);
    if (stat.ok()) {
      marker = *stat;
    } else if (stat.error() != Errno{ENOENT}) {
      return stat.error();
    }
  }
  MutexLock lock(state_.mutex);
  return BindDirectory(point, marker);
}

Entry Names::BindDirectory(const DirectoryPoint& point, const std::optional<ObjectStat>& marker) {
  InodePtr inode = state_.table.DirectoryAt(point);
  if (!inode) inode = state_.table.AddDirectory(point);
  inode->has_marker = marker.has_value();
  const auto stored = marker ? marker->attributes : std::nullopt;
  inode->attributes = DirectoryFromStored(stored, state_.options.defaults);
  ++inode->lookups;
  return EntryOf(inode);
}

Entry Names::BindFile(std::string_view key, const ObjectStat& stat,
                      std::optional<Steering> steering) {
  InodeTable& table = state_.table;
  const FileAttributes attributes =
      FromStored(stat.attributes, stat.size, stat.created_ms, state_.options.defaults);
  const InodeId wanted = stat.put_id.value;
  InodePtr shown = table.FileAt(key);
  InodePtr found;
  if (shown && shown->working) {
    if (steering != Steering::kReader) {
      found = shown;
    } else {
      found = table.CommittedAt(key);
      if (!found || found->version != stat.put_id)
        found = table.AddCommitted(key, attributes.kind, wanted);
    }
  } else if (shown && shown->version == stat.put_id && shown->kind == attributes.kind) {
    const bool busy = steering == Steering::kWriter && shown->readers > 0;
    found = busy ? table.AddFile(key, attributes.kind, 0, /*keep_old=*/true) : shown;
  } else if (InodePtr known = table.ById(wanted); known && known->version == stat.put_id &&
                                                  !known->working && !known->is_directory() &&
                                                  known->kind == attributes.kind) {
    // The same version under another name: it was renamed elsewhere.
    if (known->linked) table.MoveFile(std::string(known->key), key);
    found = known->linked ? known : table.AddFile(key, attributes.kind, 0);
  } else {
    found = table.AddFile(key, attributes.kind, wanted);
  }
  if (!found->working) {
    found->version = stat.put_id;
    const int64_t atime = found->attributes.atime_ns;
    found->attributes = attributes;
    found->attributes.atime_ns = std::max(atime, attributes.atime_ns);
  }
  ++found->lookups;
  return EntryOf(found);
}

Entry Names::EntryOf(const InodePtr& inode) const {
  Entry entry{.inode = inode, .attributes = inode->attributes};
  if (inode->is_directory()) {
    entry.attributes.mtime_ns = std::max(entry.attributes.mtime_ns, inode->touched_ns);
    entry.attributes.ctime_ns = std::max(entry.attributes.ctime_ns, inode->touched_ns);
    entry.links = 2;
  }
  if (inode->removed) entry.links = 0;
  if (inode->working) {
    entry.attributes.size = inode->slab->size();
  } else if (!inode->removed && !state_.table.CommittedAt(inode->key)) {
    entry.entry_timeout = state_.options.entry_timeout;
    entry.attr_timeout = state_.options.attr_timeout;
  }
  return entry;
}

ErrnoOr<Entry> Names::GetDirectoryAttributes(const InodePtr& inode) {
  std::string prefix;
  {
    MutexLock lock(state_.mutex);
    prefix = inode->point.prefix;
    if (inode == state_.table.root() || inode->point.is_part() || inode->removed ||
        prefix.size() > kMaxKeyBytes) {
      return EntryOf(inode);
    }
  }
  const auto marker = StatMarker(prefix);
  if (!marker.ok() && marker.error() != Errno{ENOENT}) return marker.error();
  MutexLock lock(state_.mutex);
  inode->has_marker = marker.ok();
  if (marker.ok())
    inode->attributes = DirectoryFromStored(marker->attributes, state_.options.defaults);
  return EntryOf(inode);
}

ErrnoOr<Entry> Names::GetAttributes(const InodePtr& inode) {
  if (inode->is_directory()) return GetDirectoryAttributes(inode);
  std::string key;
  uint64_t asked_at;
  {
    MutexLock lock(state_.mutex);
    asked_at = state_.changes;
    if (inode->working || !inode->linked) return EntryOf(inode);
    key = inode->key;
  }
  const auto stat = state_.client.Stat(key, state_.options.timeout);
  if (!stat.ok() && stat.code() != ErrorCode::kObjectNotFound) return ErrnoOf(stat.code());
  MutexLock lock(state_.mutex);
  const bool news = !inode->working && inode->stamp <= asked_at;
  if (news && stat.ok() && stat->put_id == inode->version) {
    const int64_t atime = inode->attributes.atime_ns;
    inode->attributes =
        FromStored(stat->attributes, stat->size, stat->created_ms, state_.options.defaults);
    inode->attributes.atime_ns = std::max(atime, inode->attributes.atime_ns);
  } else if (news && inode->readers == 0) {
    return Errno{ESTALE};
  }
  return EntryOf(inode);
}

FileAttributes Names::NewAttributes(const InodePtr& parent, ObjectKind kind, uint32_t mode,
                                    const Caller& caller) {
  const int64_t now = state_.NowNs();
  FileAttributes out{.kind = kind, .mode = mode & 07777, .uid = caller.uid, .gid = caller.gid};
  out.mtime_ns = out.ctime_ns = out.atime_ns = now;
  MutexLock lock(state_.mutex);
  if ((parent->attributes.mode & S_ISGID) != 0) {
    out.gid = parent->attributes.gid;
    if (kind == ObjectKind::kDirectory) out.mode |= S_ISGID;
  }
  return out;
}

void Names::Touch(const InodePtr& directory) {
  const int64_t now = state_.NowNs();
  MutexLock lock(state_.mutex);
  directory->touched_ns = now;
}

}  // namespace mooncake::fs

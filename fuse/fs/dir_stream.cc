#include "fuse/fs/dir_stream.h"

#include <algorithm>

#include "fuse/fs/errno_map.h"

namespace mooncake::fs {
namespace {

constexpr uint32_t kPageEntries = 1000;

bool IsMarker(const ListEntry& entry) {
  return entry.key.ends_with('/') && entry.stat.attributes &&
         entry.stat.attributes->kind == ObjectKind::kDirectory;
}

}  // namespace

DirStream::DirStream(FsState& state, Names& names, InodePtr directory)
    : state_(state), names_(names), directory_(std::move(directory)) {}

void DirStream::Begin() {
  {
    MutexLock lock(state_.mutex);
    point_ = directory_->point;
  }
  began_ = true;
  at_end_ = false;
  page_.clear();
  markers_.clear();
  page_offset_ = 0;
  start_after_.clear();
  last_part_.clear();
  marks_.assign(1, Mark{});
  AddLocal();
}

void DirStream::Push(DirItem item) {
  item.next = page_offset_ + page_.size() + 1;
  page_.push_back(std::move(item));
}

// Files that are being written and were never published are known only here.
void DirStream::AddLocal() {
  local_.clear();
  MutexLock lock(state_.mutex);
  for (const InodePtr& inode : state_.table.UnpublishedIn(point_)) {
    const auto listed =
        NameInDirectory(point_, std::string_view(inode->key).substr(point_.prefix.size()));
    if (!listed || listed->is_part) continue;
    local_.insert(inode->key);
    Push({.name = listed->name, .ino = inode->id, .kind = inode->kind, .key = inode->key});
  }
}

ErrnoOr<const DirItem*> DirStream::At(uint64_t offset) {
  if (!began_ || offset == 0) Begin();
  if (offset < page_offset_) {
    // Back to a page that was dropped: its first key is remembered, its entries are read again.
    while (marks_.size() > 1 && marks_.back().offset > offset) marks_.pop_back();
    const Mark mark = marks_.back();
    if (mark.offset == 0) {
      Begin();
    } else {
      page_.clear();
      markers_.clear();
      at_end_ = false;
      page_offset_ = mark.offset;
      start_after_ = mark.start_after;
      last_part_ = mark.last_part;
      marks_.pop_back();
    }
  }
  while (offset >= page_offset_ + page_.size()) {
    if (at_end_) return static_cast<const DirItem*>(nullptr);
    const Errno loaded = LoadPage();
    if (!loaded.ok()) return loaded;
  }
  return static_cast<const DirItem*>(&page_[offset - page_offset_]);
}

Errno DirStream::LoadPage() {
  page_offset_ += page_.size();
  page_.clear();
  markers_.clear();
  if (page_offset_ > 0) marks_.push_back({page_offset_, start_after_, last_part_});
  const ListArgs args{.prefix = point_.prefix,
                      .delimiter = "/",
                      .start_after = start_after_,
                      .limit = kPageEntries};
  const auto page = state_.client.List(args, state_.options.timeout);
  if (!page.ok()) return ErrnoOf(page.code());
  for (size_t i = 0; i < page->entries.size(); ++i) {
    const Errno added = AddEntry(*page, i);
    if (!added.ok()) return added;
  }
  if (!page->entries.empty()) start_after_ = page->entries.back().key;
  at_end_ = !page->truncated || page->entries.empty();
  return kSuccess;
}

// Whether "key/" is a directory. Entries come in byte order, so only a key that the page's last entry begins with can
// have its directory behind the page.
ErrnoOr<bool> DirStream::HasDirectoryBeside(const ListReply& page, const std::string& key) {
  const std::string as_directory = key + "/";
  const auto less = [](const ListEntry& entry, const std::string& wanted) {
    return entry.key < wanted;
  };
  const auto it = std::lower_bound(page.entries.begin(), page.entries.end(), as_directory, less);
  if (it != page.entries.end()) return it->key == as_directory;
  if (!page.truncated) return false;
  const auto below =
      state_.client.List({.prefix = as_directory, .limit = 1}, state_.options.timeout);
  if (!below.ok()) return ErrnoOf(below.code());
  return !below->entries.empty();
}

Errno DirStream::AddEntry(const ListReply& page, size_t index) {
  const ListEntry& entry = page.entries[index];
  if (!entry.is_prefix && (IsMarker(entry) || local_.contains(entry.key))) return kSuccess;
  bool beside_directory = false;
  if (!entry.is_prefix) {
    const auto beside = HasDirectoryBeside(page, entry.key);
    if (!beside.ok()) return beside.error();
    beside_directory = *beside;
  }
  std::string_view rest = std::string_view(entry.key).substr(point_.prefix.size());
  if (entry.is_prefix) rest.remove_suffix(1);
  auto listed = NameInDirectory(point_, rest, beside_directory);
  if (!listed) return kSuccess;
  DirItem item{.name = std::move(listed->name)};
  MutexLock lock(state_.mutex);
  if (listed->is_part) {
    if (item.name == last_part_) return kSuccess;
    last_part_ = item.name;
    item.point = DecodeName(point_, item.name).value_or(DecodedName{}).part;
    item.kind = ObjectKind::kDirectory;
    item.ino = state_.table.NumberFor(item.point);
  } else if (entry.is_prefix) {
    item.point = PointOfDirectory(std::string_view(entry.key).substr(0, entry.key.size() - 1));
    item.kind = ObjectKind::kDirectory;
    item.ino = state_.table.NumberFor(item.point);
  } else {
    const InodePtr shown = state_.table.FileAt(entry.key);
    const bool known = shown && (shown->working || shown->version == entry.stat.put_id);
    const bool link = entry.stat.attributes && entry.stat.attributes->kind == ObjectKind::kSymlink;
    item.key = entry.key;
    item.kind = link ? ObjectKind::kSymlink : ObjectKind::kFile;
    item.ino = known ? shown->id : entry.stat.put_id.value;
    item.stat = entry.stat;
    item.published = true;
  }
  Push(std::move(item));
  return kSuccess;
}

// Attributes of all directories of the page in one request.
Errno DirStream::LoadMarkers() {
  if (!markers_.empty()) return kSuccess;
  std::vector<std::string> prefixes;
  std::vector<size_t> places;
  for (size_t i = 0; i < page_.size(); ++i) {
    if (page_[i].kind != ObjectKind::kDirectory || page_[i].point.is_part()) continue;
    prefixes.push_back(page_[i].point.prefix);
    places.push_back(i);
  }
  markers_.resize(page_.size());
  if (prefixes.empty()) return kSuccess;
  const auto stats = state_.client.BatchStat(prefixes, state_.options.timeout);
  for (size_t i = 0; i < stats.size(); ++i) {
    const bool missing =
        stats[i].code() == ErrorCode::kObjectNotFound || stats[i].code() == ErrorCode::kInvalidKey;
    if (!stats[i].ok() && !missing) {
      markers_.clear();
      return ErrnoOf(stats[i].code());
    }
    const bool is_marker = stats[i].ok() && stats[i]->attributes &&
                           stats[i]->attributes->kind == ObjectKind::kDirectory;
    if (is_marker) markers_[places[i]] = *stats[i];
  }
  return kSuccess;
}

ErrnoOr<std::optional<Entry>> DirStream::Enter(const DirItem& item) {
  if (item.kind == ObjectKind::kDirectory) {
    const Errno loaded = LoadMarkers();
    if (!loaded.ok()) return loaded;
    const auto& marker = markers_[static_cast<size_t>(item.next - 1 - page_offset_)];
    MutexLock lock(state_.mutex);
    names_.AssertLocked();
    return std::optional<Entry>(names_.BindDirectory(item.point, marker));
  }
  MutexLock lock(state_.mutex);
  names_.AssertLocked();
  const InodePtr shown = state_.table.FileAt(item.key);
  if (shown && (shown->working || !item.published || shown->version > item.stat.put_id)) {
    ++shown->lookups;
    return std::optional<Entry>(names_.EntryOf(shown));
  }
  if (!item.published) return std::optional<Entry>();
  return std::optional<Entry>(names_.BindFile(item.key, item.stat, std::nullopt));
}

}  // namespace mooncake::fs

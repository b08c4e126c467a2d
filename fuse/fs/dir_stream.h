// Reads a directory of any size, page by page, in bounded memory.
#pragma once

#include <deque>
#include <set>
#include <string>
#include <vector>

#include "fuse/fs/names.h"

namespace mooncake::fs {

struct DirItem {
  std::string name;
  InodeId ino = 0;  // as stat(2) will show it
  ObjectKind kind = ObjectKind::kFile;
  uint64_t next = 0;  // offset behind it
  // What Enter() needs.
  std::string key;       // of a file
  DirectoryPoint point;  // of a directory
  ObjectStat stat;       // of a published file
  bool published = false;
};

// One open directory. Offsets count entries: any that was handed out can be returned to. Entries created or removed
// while it is read may or may not show; all others show once. Not thread-safe: the kernel reads one at a time, and the
// caller locks.
class DirStream {
 public:
  DirStream(FsState& state, Names& names, InodePtr directory);

  // The entry at `offset`, 0 at first, then DirItem::next of the one before. Null at the end. Valid until the next call.
  ErrnoOr<const DirItem*> At(uint64_t offset);

  // Makes the entry known to the kernel, as a look-up of its name would. nullopt: gone meanwhile.
  ErrnoOr<std::optional<Entry>> Enter(const DirItem& item);

  const InodePtr& directory() const { return directory_; }

 private:
  // Where a page begins, so that a reader can go back.
  struct Mark {
    uint64_t offset = 0;
    std::string start_after;
    std::string last_part;
  };

  void Begin();
  Errno LoadPage();
  Errno AddEntry(const ListReply& page, size_t index);
  void AddLocal();
  ErrnoOr<bool> HasDirectoryBeside(const ListReply& page, const std::string& key);
  void Push(DirItem item);
  Errno LoadMarkers();

  FsState& state_;
  Names& names_;
  const InodePtr directory_;
  DirectoryPoint point_;
  std::vector<Mark> marks_;
  std::vector<DirItem> page_;
  std::vector<std::optional<ObjectStat>>
      markers_;               // of the directories in page_, loaded together on first use
  uint64_t page_offset_ = 0;  // of page_.front()
  std::string start_after_;
  std::string last_part_;                     // the %mc+ name shown last: many keys share one
  std::set<std::string, std::less<>> local_;  // keys shown from this mount's own knowledge
  bool at_end_ = false;
  bool began_ = false;
};

}  // namespace mooncake::fs

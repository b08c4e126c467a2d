#include <sys/stat.h>

#include "fuse/ops/operations.h"

namespace mooncake::fs::ops {
namespace {

// Offsets: 0 and 1 are "." and "..", the stream follows.
constexpr uint64_t kDots = 2;

struct OpenDirectory {
  explicit OpenDirectory(std::unique_ptr<DirStream> stream_in) : stream(std::move(stream_in)) {}
  Mutex mutex;
  std::unique_ptr<DirStream> stream MC_PT_GUARDED_BY(mutex);
};

OpenDirectory& DirectoryOf(const fuse_file_info* fi) {
  return *reinterpret_cast<OpenDirectory*>(fi->fh);
}

mode_t TypeOf(ObjectKind kind) { return ToStat(0, {.kind = kind}, 1).st_mode; }

void Opendir(fuse_req_t req, fuse_ino_t ino, fuse_file_info* fi) {
  const InodePtr inode = InodeOrReply(req, ino);
  if (!inode) return;
  auto directory = std::make_unique<OpenDirectory>(FsOf(req).OpenDirectory(inode));
  fi->fh = reinterpret_cast<uint64_t>(directory.get());
  if (fuse_reply_open(req, fi) == 0) (void)directory.release();
}

void Releasedir(fuse_req_t req, fuse_ino_t, fuse_file_info* fi) {
  const std::unique_ptr<OpenDirectory> directory(&DirectoryOf(fi));
  Reply(req, kSuccess);
}

// One reply's worth of entries.
class Filler {
 public:
  Filler(fuse_req_t req, size_t size, bool plus) : req_(req), plus_(plus), buffer_(size) {}

  // False: no room.
  bool AddDot(const char* name, InodeId ino, uint64_t next) {
    fuse_entry_param param{};
    param.attr.st_ino = ino;
    param.attr.st_mode = S_IFDIR;
    return Add(name, param, next);
  }
  bool Add(const char* name, const fuse_entry_param& param, uint64_t next) {
    char* place = buffer_.data() + used_;
    const size_t room = buffer_.size() - used_;
    const auto offset = static_cast<off_t>(next);
    const size_t need = plus_ ? fuse_add_direntry_plus(req_, place, room, name, &param, offset)
                              : fuse_add_direntry(req_, place, room, name, &param.attr, offset);
    if (need > room) return false;
    used_ += need;
    return true;
  }
  bool HasRoomFor(const char* name) const {
    const size_t need = plus_ ? fuse_add_direntry_plus(req_, nullptr, 0, name, nullptr, 0)
                              : fuse_add_direntry(req_, nullptr, 0, name, nullptr, 0);
    return need <= buffer_.size() - used_;
  }
  bool empty() const { return used_ == 0; }
  int Send() { return fuse_reply_buf(req_, buffer_.data(), used_); }

 private:
  fuse_req_t req_;
  const bool plus_;
  std::vector<char> buffer_;
  size_t used_ = 0;
};

Errno AddItem(Filler& filler, DirStream& stream, const DirItem& item, bool plus,
              std::vector<InodeId>& entered) {
  fuse_entry_param param{};
  param.attr.st_ino = item.ino;
  param.attr.st_mode = TypeOf(item.kind);
  if (plus) {
    const auto entry = stream.Enter(item);
    if (!entry.ok()) return entry.error();
    if (!*entry) return kSuccess;  // gone since it was listed
    param = ToParam(**entry);
    entered.push_back(param.ino);
  }
  filler.Add(item.name.c_str(), param, item.next + kDots);
  return kSuccess;
}

// Fills one reply from offset `from`; kSuccess or what ended it.
Errno Collect(Filler& filler, OpenDirectory& directory, uint64_t offset, bool plus,
              std::vector<InodeId>& entered) {
  MutexLock lock(directory.mutex);
  DirStream& stream = *directory.stream;
  for (;;) {
    if (offset < kDots) {
      const bool self = offset == 0;
      const InodeId ino = self ? stream.directory()->id : kRootId;
      if (!filler.AddDot(self ? "." : "..", ino, offset + 1)) return kSuccess;
      ++offset;
      continue;
    }
    const auto item = stream.At(offset - kDots);
    if (!item.ok()) return item.error();
    if (*item == nullptr || !filler.HasRoomFor((*item)->name.c_str())) return kSuccess;
    const Errno error = AddItem(filler, stream, **item, plus, entered);
    if (!error.ok()) return error;
    offset = (*item)->next + kDots;
  }
}

void Fill(fuse_req_t req, size_t size, off_t from, fuse_file_info* fi, bool plus) {
  Filler filler(req, size, plus);
  std::vector<InodeId> entered;
  // The lock is let go before the reply: once that is out, a release on another thread may free the directory.
  const Errno error = Collect(filler, DirectoryOf(fi), static_cast<uint64_t>(from), plus, entered);
  // What was found before an error is delivered; the error comes with the next request.
  if (!error.ok() && filler.empty()) return Reply(req, error);
  FileSystem& fs = FsOf(req);
  if (filler.Send() == 0) return;
  for (const InodeId ino : entered) fs.names().Forget(ino, 1);
}

void Read(fuse_req_t req, fuse_ino_t, size_t size, off_t offset, fuse_file_info* fi) {
  Fill(req, size, offset, fi, false);
}

void ReadPlus(fuse_req_t req, fuse_ino_t, size_t size, off_t offset, fuse_file_info* fi) {
  Fill(req, size, offset, fi, true);
}

void Fsyncdir(fuse_req_t req, fuse_ino_t, int, fuse_file_info*) { Reply(req, kSuccess); }

}  // namespace

void FillDirectories(fuse_lowlevel_ops& table) {
  table.opendir = Opendir;
  table.readdir = Read;
  table.readdirplus = ReadPlus;
  table.releasedir = Releasedir;
  table.fsyncdir = Fsyncdir;
}

}  // namespace mooncake::fs::ops

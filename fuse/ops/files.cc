#include "fuse/ops/operations.h"

namespace mooncake::fs::ops {
namespace {

// How the kernel is to treat the open file: requests come here, unless it can serve the file by itself.
void Describe(const Handle& handle, fuse_file_info* fi) {
  fi->direct_io = 1;
  fi->keep_cache = 0;
  fi->noflush = handle.write ? 0 : 1;
}

// The reply to OPEN of a file that the kernel serves by itself: libfuse 3.14 has no words for it.
int ReplyPassthrough(fuse_req_t req, const Handle& handle, const fuse_file_info* fi) {
  struct OpenReply {
    uint64_t fh;
    uint32_t open_flags;
    int32_t backing_id;
  };
  static_assert(sizeof(OpenReply) == 16);
  constexpr uint32_t kNoFlush = 1u << 5;
  constexpr uint32_t kPassthrough = 1u << 7;
  const OpenReply reply{.fh = fi->fh,
                        .open_flags = kNoFlush | kPassthrough,
                        .backing_id = static_cast<int32_t>(handle.backed->id())};
  return fuse_reply_buf(req, reinterpret_cast<const char*>(&reply), sizeof reply);
}

void Open(fuse_req_t req, fuse_ino_t ino, fuse_file_info* fi) {
  const InodePtr inode = InodeOrReply(req, ino);
  if (!inode) return;
  FileSystem& fs = FsOf(req);
  auto opened = fs.files().Open(inode, FlagsOf(fi->flags), CallerOf(req));
  if (!opened.ok()) return Reply(req, opened.error());
  HandlePtr handle = std::move(*opened);
  Describe(*handle, fi);
  fi->fh = reinterpret_cast<uint64_t>(handle.get());
  const bool backed = handle->backed != nullptr;
  const int replied = backed ? ReplyPassthrough(req, *handle, fi) : fuse_reply_open(req, fi);
  // The opener was interrupted: no RELEASE will come.
  if (replied != 0) return fs.files().Release(std::move(handle));
  (void)handle.release();
}

void Create(fuse_req_t req, fuse_ino_t parent, const char* name, mode_t mode, fuse_file_info* fi) {
  const InodePtr directory = InodeOrReply(req, parent);
  if (!directory) return;
  FileSystem& fs = FsOf(req);
  auto created = fs.files().Create(directory, name, mode, FlagsOf(fi->flags), CallerOf(req));
  if (!created.ok()) return Reply(req, created.error());
  Describe(*created->handle, fi);
  fi->fh = reinterpret_cast<uint64_t>(created->handle.get());
  const fuse_entry_param param = ToParam(created->entry);
  if (fuse_reply_create(req, &param, fi) != 0) {
    fs.files().Release(std::move(created->handle));
    return fs.names().Forget(param.ino, 1);
  }
  (void)created->handle.release();
}

void Flush(fuse_req_t req, fuse_ino_t, fuse_file_info* fi) {
  Reply(req, FsOf(req).publisher().Flush(*HandleOf(fi), CallerOf(req)));
}

void Release(fuse_req_t req, fuse_ino_t, fuse_file_info* fi) {
  FsOf(req).files().Release(HandlePtr(HandleOf(fi)));
  Reply(req, kSuccess);
}

void Sync(fuse_req_t req, fuse_ino_t, int, fuse_file_info* fi) {
  Reply(req, FsOf(req).files().Sync(*HandleOf(fi)));
}

}  // namespace

void FillFiles(fuse_lowlevel_ops& table) {
  table.open = Open;
  table.create = Create;
  table.flush = Flush;
  table.release = Release;
  table.fsync = Sync;
}

}  // namespace mooncake::fs::ops

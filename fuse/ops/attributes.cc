#include <sys/statvfs.h>

#include "fuse/ops/operations.h"

namespace mooncake::fs::ops {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr uint64_t kFsBlock = 4096;

int64_t ToNs(const timespec& time) { return time.tv_sec * kNsPerSecond + time.tv_nsec; }

void ReplyAttributes(fuse_req_t req, const ErrnoOr<Entry>& entry) {
  if (!entry.ok()) return Reply(req, entry.error());
  const struct stat info = ToStat(entry->inode->id, entry->attributes, entry->links);
  fuse_reply_attr(req, &info, ToSeconds(entry->attr_timeout));
}

void GetAttributes(fuse_req_t req, fuse_ino_t ino, fuse_file_info*) {
  const InodePtr inode = InodeOrReply(req, ino);
  if (!inode) return;
  ReplyAttributes(req, FsOf(req).names().GetAttributes(inode));
}

void SetAttributes(fuse_req_t req, fuse_ino_t ino, struct stat* wanted, int what,
                   fuse_file_info* fi) {
  const InodePtr inode = InodeOrReply(req, ino);
  if (!inode) return;
  FileSystem& fs = FsOf(req);
  const int64_t now = fs.state().NowNs();
  AttributeChange change;
  if ((what & FUSE_SET_ATTR_MODE) != 0) change.mode = wanted->st_mode;
  if ((what & FUSE_SET_ATTR_UID) != 0) change.uid = wanted->st_uid;
  if ((what & FUSE_SET_ATTR_GID) != 0) change.gid = wanted->st_gid;
  if ((what & FUSE_SET_ATTR_SIZE) != 0) change.size = static_cast<uint64_t>(wanted->st_size);
  if ((what & FUSE_SET_ATTR_MTIME) != 0) change.mtime_ns = ToNs(wanted->st_mtim);
  if ((what & FUSE_SET_ATTR_MTIME_NOW) != 0) change.mtime_ns = now;
  if ((what & FUSE_SET_ATTR_ATIME) != 0) change.atime_ns = ToNs(wanted->st_atim);
  if ((what & FUSE_SET_ATTR_ATIME_NOW) != 0) change.atime_ns = now;
  Handle* handle = fi != nullptr && !inode->is_directory() ? HandleOf(fi) : nullptr;
  ReplyAttributes(req, fs.files().SetAttributes(inode, change, handle, CallerOf(req)));
}

void StatFs(fuse_req_t req, fuse_ino_t) {
  const auto capacity = FsOf(req).GetCapacity();
  if (!capacity.ok()) return Reply(req, capacity.error());
  struct statvfs out {};
  out.f_bsize = kFsBlock;
  out.f_frsize = kFsBlock;
  out.f_blocks = capacity->total_bytes / kFsBlock;
  out.f_bfree = out.f_bavail = capacity->free_bytes / kFsBlock;
  out.f_ffree = out.f_favail =
      out.f_bfree;  // an object takes at least a seal; a block each is near enough
  out.f_files = capacity->objects + out.f_ffree;
  out.f_namemax = kMaxNameBytes;
  fuse_reply_statfs(req, &out);
}

}  // namespace

void FillAttributes(fuse_lowlevel_ops& table) {
  table.getattr = GetAttributes;
  table.setattr = SetAttributes;
  table.statfs = StatFs;
}

}  // namespace mooncake::fs::ops

#include <sys/stat.h>

#include "fuse/ops/operations.h"

namespace mooncake::fs::ops {
namespace {

void Lookup(fuse_req_t req, fuse_ino_t parent, const char* name) {
  const InodePtr directory = InodeOrReply(req, parent);
  if (!directory) return;
  ReplyEntry(req, FsOf(req).names().Lookup(directory, name, CallerOf(req)));
}

void Forget(fuse_req_t req, fuse_ino_t ino, uint64_t count) {
  FsOf(req).names().Forget(ino, count);
  fuse_reply_none(req);
}

void ForgetMany(fuse_req_t req, size_t count, fuse_forget_data* forgets) {
  for (size_t i = 0; i < count; ++i) FsOf(req).names().Forget(forgets[i].ino, forgets[i].nlookup);
  fuse_reply_none(req);
}

void MakeDirectory(fuse_req_t req, fuse_ino_t parent, const char* name, mode_t mode) {
  const InodePtr directory = InodeOrReply(req, parent);
  if (!directory) return;
  ReplyEntry(req, FsOf(req).names().MakeDirectory(directory, name, mode, CallerOf(req)));
}

void MakeSymlink(fuse_req_t req, const char* target, fuse_ino_t parent, const char* name) {
  const InodePtr directory = InodeOrReply(req, parent);
  if (!directory) return;
  ReplyEntry(req, FsOf(req).names().MakeSymlink(directory, name, target, CallerOf(req)));
}

void ReadSymlink(fuse_req_t req, fuse_ino_t ino) {
  const InodePtr inode = InodeOrReply(req, ino);
  if (!inode) return;
  const auto target = FsOf(req).names().ReadSymlink(inode);
  if (!target.ok()) return Reply(req, target.error());
  fuse_reply_readlink(req, target->c_str());
}

// Regular files only: the store has no device nodes, pipes or sockets.
void MakeNode(fuse_req_t req, fuse_ino_t parent, const char* name, mode_t mode, dev_t) {
  if (!S_ISREG(mode)) return Reply(req, Errno{EPERM});
  const InodePtr directory = InodeOrReply(req, parent);
  if (!directory) return;
  FileSystem& fs = FsOf(req);
  auto created =
      fs.files().Create(directory, name, mode, {.write = true, .exclusive = true}, CallerOf(req));
  if (!created.ok()) return Reply(req, created.error());
  const Errno published = fs.publisher().Publish(created->handle->inode);
  fs.files().Release(std::move(created->handle));
  if (!published.ok()) {
    fs.names().Forget(created->entry.inode->id, 1);
    return Reply(req, published);
  }
  ReplyEntry(req, created->entry);
}

void Link(fuse_req_t req, fuse_ino_t, fuse_ino_t, const char*) { Reply(req, Errno{EPERM}); }

void Unlink(fuse_req_t req, fuse_ino_t parent, const char* name) {
  const InodePtr directory = InodeOrReply(req, parent);
  if (!directory) return;
  Reply(req, FsOf(req).names().Unlink(directory, name));
}

void RemoveDirectory(fuse_req_t req, fuse_ino_t parent, const char* name) {
  const InodePtr directory = InodeOrReply(req, parent);
  if (!directory) return;
  Reply(req, FsOf(req).names().RemoveDirectory(directory, name));
}

void Rename(fuse_req_t req, fuse_ino_t parent, const char* name, fuse_ino_t new_parent,
            const char* new_name, unsigned flags) {
  if ((flags & ~static_cast<unsigned>(RENAME_NOREPLACE)) != 0) return Reply(req, Errno{EINVAL});
  const InodePtr from = InodeOrReply(req, parent);
  if (!from) return;
  const InodePtr to = InodeOrReply(req, new_parent);
  if (!to) return;
  Reply(req, FsOf(req).names().Rename(from, name, to, new_name, (flags & RENAME_NOREPLACE) != 0));
}

}  // namespace

void FillNames(fuse_lowlevel_ops& table) {
  table.lookup = Lookup;
  table.forget = Forget;
  table.forget_multi = ForgetMany;
  table.mkdir = MakeDirectory;
  table.symlink = MakeSymlink;
  table.readlink = ReadSymlink;
  table.mknod = MakeNode;
  table.link = Link;
  table.unlink = Unlink;
  table.rmdir = RemoveDirectory;
  table.rename = Rename;
}

}  // namespace mooncake::fs::ops

// The callbacks of libfuse's low-level API, in groups of a file each: unpack, call fuse/fs, reply.
#pragma once

#ifndef FUSE_USE_VERSION
#define FUSE_USE_VERSION 314
#endif
#include <fuse3/fuse_lowlevel.h>

#include "fuse/device.h"
#include "fuse/fs/file_system.h"

namespace mooncake::fs {

// The user data of the session: lives as long as it.
struct MountContext : DeviceUser {
  FileSystem* file_system = nullptr;
  std::function<void()> on_init;  // the kernel has been answered
};

// All operations that are implemented; what is null here the kernel is told not to ask for again, or handles itself
// (locks, seeking).
fuse_lowlevel_ops MakeOperations();

namespace ops {

void FillNames(
    fuse_lowlevel_ops& table);  // names.cc: lookup, forget, mkdir, symlink, unlink, rename, ...
void FillAttributes(fuse_lowlevel_ops& table);   // attributes.cc: getattr, setattr, statfs
void FillFiles(fuse_lowlevel_ops& table);        // files.cc: create, open, flush, release, fsync
void FillData(fuse_lowlevel_ops& table);         // data.cc: read, write, fallocate
void FillDirectories(fuse_lowlevel_ops& table);  // directories.cc: opendir, readdir, readdirplus

MountContext& ContextOf(fuse_req_t req);
inline FileSystem& FsOf(fuse_req_t req) { return *ContextOf(req).file_system; }
Caller CallerOf(fuse_req_t req);
// Null, after an ESTALE reply, if the kernel names an inode that is not known: cannot happen while it counts right.
InodePtr InodeOrReply(fuse_req_t req, fuse_ino_t ino);

struct stat ToStat(InodeId ino, const FileAttributes& attributes, uint32_t links);
fuse_entry_param ToParam(const Entry& entry);
double ToSeconds(Duration duration);
inline Handle* HandleOf(const fuse_file_info* fi) { return reinterpret_cast<Handle*>(fi->fh); }

inline void Reply(fuse_req_t req, Errno error) { fuse_reply_err(req, error.value); }
// Replies with the entry, and takes the look-up back if the kernel does not want the answer any more.
void ReplyEntry(fuse_req_t req, const ErrnoOr<Entry>& entry);

}  // namespace ops
}  // namespace mooncake::fs

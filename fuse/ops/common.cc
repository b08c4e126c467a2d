#include <sys/stat.h>

#include "fuse/ops/operations.h"

namespace mooncake::fs {
namespace {

constexpr unsigned kLongestRead = 1 << 20;
constexpr int64_t kNsPerSecond = 1'000'000'000;
constexpr blksize_t kPreferredIo =
    1 << 20;  // the longest request: what programs that ask then read and write
constexpr uint64_t kStatBlock = 512;

timespec ToTimespec(int64_t ns) {
  int64_t seconds = ns / kNsPerSecond;
  int64_t rest = ns % kNsPerSecond;
  if (rest < 0) {
    rest += kNsPerSecond;
    --seconds;
  }
  return {.tv_sec = seconds, .tv_nsec = rest};
}

mode_t TypeBits(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kDirectory:
      return S_IFDIR;
    case ObjectKind::kSymlink:
      return S_IFLNK;
    case ObjectKind::kFile:
      break;
  }
  return S_IFREG;
}

void OnInit(void* userdata, fuse_conn_info* connection) {
  connection->max_read = kLongestRead;  // libfuse wants to hear it here and as a mount option
  connection->max_background = 64;
  connection->congestion_threshold = 48;
  // The write-back cache defers errors past close(2); splice is slower than copying here (fuse/README.md).
  connection->want &= ~static_cast<unsigned>(FUSE_CAP_WRITEBACK_CACHE | FUSE_CAP_SPLICE_READ |
                                             FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
  auto* context = static_cast<MountContext*>(static_cast<DeviceUser*>(userdata));
  if (context->on_init) context->on_init();
}

}  // namespace

namespace ops {

MountContext& ContextOf(fuse_req_t req) {
  return *static_cast<MountContext*>(static_cast<DeviceUser*>(fuse_req_userdata(req)));
}

Caller CallerOf(fuse_req_t req) {
  const fuse_ctx* context = fuse_req_ctx(req);
  return {.uid = context->uid, .gid = context->gid, .pid = context->pid};
}

InodePtr InodeOrReply(fuse_req_t req, fuse_ino_t ino) {
  InodePtr inode = FsOf(req).names().ById(ino);
  if (!inode) fuse_reply_err(req, ESTALE);
  return inode;
}

struct stat ToStat(InodeId ino, const FileAttributes& attributes, uint32_t links) {
  struct stat out {};
  out.st_ino = ino;
  out.st_mode = TypeBits(attributes.kind) | attributes.mode;
  out.st_nlink = links;
  out.st_uid = attributes.uid;
  out.st_gid = attributes.gid;
  out.st_size = static_cast<off_t>(attributes.size);
  out.st_blksize = kPreferredIo;
  out.st_blocks = static_cast<blkcnt_t>((attributes.size + kStatBlock - 1) / kStatBlock);
  out.st_mtim = ToTimespec(attributes.mtime_ns);
  out.st_ctim = ToTimespec(attributes.ctime_ns);
  out.st_atim = ToTimespec(attributes.atime_ns);
  return out;
}

double ToSeconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

fuse_entry_param ToParam(const Entry& entry) {
  fuse_entry_param param{};
  param.ino = entry.inode->id;
  param.attr = ToStat(entry.inode->id, entry.attributes, entry.links);
  param.attr_timeout = ToSeconds(entry.attr_timeout);
  param.entry_timeout = ToSeconds(entry.entry_timeout);
  return param;
}

void ReplyEntry(fuse_req_t req, const ErrnoOr<Entry>& entry) {
  if (!entry.ok()) return Reply(req, entry.error());
  FileSystem& fs = FsOf(req);
  const fuse_entry_param param = ToParam(*entry);
  if (fuse_reply_entry(req, &param) != 0) fs.names().Forget(param.ino, 1);
}

}  // namespace ops

fuse_lowlevel_ops MakeOperations() {
  fuse_lowlevel_ops table{};
  table.init = OnInit;
  ops::FillNames(table);
  ops::FillAttributes(table);
  ops::FillFiles(table);
  ops::FillData(table);
  ops::FillDirectories(table);
  return table;
}

}  // namespace mooncake::fs

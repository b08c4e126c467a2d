#include "fuse/fs/attributes.h"

#include <algorithm>

namespace mooncake::fs {
namespace {

constexpr uint32_t kModeBits = 07777;
constexpr int64_t kNsPerMs = 1'000'000;

}  // namespace

FileAttributes FromStored(const std::optional<ObjectAttributes>& stored, uint64_t size,
                          int64_t created_ms, const DefaultAttributes& defaults) {
  FileAttributes out{
      .mode = defaults.file_mode, .uid = defaults.uid, .gid = defaults.gid, .size = size};
  out.mtime_ns = created_ms * kNsPerMs;
  out.ctime_ns = out.mtime_ns;
  if (stored) {
    // A directory is known by its key; an object of that kind under another key is shown as a file.
    out.kind = stored->kind == ObjectKind::kSymlink ? ObjectKind::kSymlink : ObjectKind::kFile;
    out.mode = stored->mode & kModeBits;
    out.uid = stored->uid;
    out.gid = stored->gid;
    out.mtime_ns = stored->mtime_ns;
    out.ctime_ns = std::max(out.ctime_ns, stored->mtime_ns);
  }
  out.atime_ns = out.mtime_ns;
  return out;
}

FileAttributes DirectoryFromStored(const std::optional<ObjectAttributes>& marker,
                                   const DefaultAttributes& defaults) {
  FileAttributes out{.kind = ObjectKind::kDirectory,
                     .mode = defaults.directory_mode,
                     .uid = defaults.uid,
                     .gid = defaults.gid,
                     .mtime_ns = defaults.directory_time_ns};
  if (marker) {
    out.mode = marker->mode & kModeBits;
    out.uid = marker->uid;
    out.gid = marker->gid;
    out.mtime_ns = marker->mtime_ns;
  }
  out.ctime_ns = out.mtime_ns;
  out.atime_ns = out.mtime_ns;
  return out;
}

ObjectAttributes ToStored(const FileAttributes& attributes) {
  return {.kind = attributes.kind,
          .mode = attributes.mode & kModeBits,
          .uid = attributes.uid,
          .gid = attributes.gid,
          .mtime_ns = attributes.mtime_ns};
}

}  // namespace mooncake::fs

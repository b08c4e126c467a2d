// What stat(2) shows, and how it is made of what the store keeps.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "master/api/types.h"

namespace mooncake::fs {

// Who asks. `pid` is a thread id, 0 when it is in a process namespace that this process cannot see.
struct Caller {
  uid_t uid = 0;
  gid_t gid = 0;
  pid_t pid = 0;
};

// Owner and modes of what was stored without attributes (by the API or the admin tool).
struct DefaultAttributes {
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint32_t file_mode = 0644;
  uint32_t directory_mode = 0755;
  int64_t directory_time_ns = 0;
};

struct FileAttributes {
  ObjectKind kind = ObjectKind::kFile;
  uint32_t mode = 0;  // permission bits, with suid, sgid and sticky
  uint32_t uid = 0;
  uint32_t gid = 0;
  uint64_t size = 0;
  int64_t mtime_ns = 0;
  int64_t ctime_ns = 0;
  int64_t atime_ns = 0;
  friend bool operator==(const FileAttributes&, const FileAttributes&) = default;
};

// Of a file or symbolic link.
FileAttributes FromStored(const std::optional<ObjectAttributes>& stored, uint64_t size,
                          int64_t created_ms, const DefaultAttributes& defaults);
// Of a directory; `marker` is empty for one that exists only through its keys.
FileAttributes DirectoryFromStored(const std::optional<ObjectAttributes>& marker,
                                   const DefaultAttributes& defaults);
ObjectAttributes ToStored(const FileAttributes& attributes);

}  // namespace mooncake::fs

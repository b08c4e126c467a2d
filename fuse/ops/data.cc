#include <algorithm>

#include "fuse/ops/operations.h"

namespace mooncake::fs::ops {
namespace {

// Of the thread: grows to the longest read, a mebibyte.
thread_local std::vector<std::byte> scratch;

void Read(fuse_req_t req, fuse_ino_t, size_t size, off_t offset, fuse_file_info* fi) {
  const auto bytes =
      FsOf(req).files().Read(*HandleOf(fi), static_cast<uint64_t>(offset), size, scratch);
  if (!bytes.ok()) return Reply(req, bytes.error());
  fuse_reply_buf(req, reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

void Write(fuse_req_t req, fuse_ino_t, const char* data, size_t size, off_t offset,
           fuse_file_info* fi) {
  const ByteSpan bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto written = FsOf(req).files().Write(*HandleOf(fi), static_cast<uint64_t>(offset), bytes);
  if (!written.ok()) return Reply(req, written.error());
  fuse_reply_write(req, *written);
}

void Allocate(fuse_req_t req, fuse_ino_t, int mode, off_t offset, off_t length,
              fuse_file_info* fi) {
  Reply(req, FsOf(req).files().Allocate(*HandleOf(fi), mode, static_cast<uint64_t>(offset),
                                        static_cast<uint64_t>(length)));
}

}  // namespace

void FillData(fuse_lowlevel_ops& table) {
  table.read = Read;
  table.write = Write;
  table.fallocate = Allocate;
}

}  // namespace mooncake::fs::ops

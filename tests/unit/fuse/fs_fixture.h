// A file system over FakeClient, driven as the kernel would drive it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "fuse/fs/file_system.h"
#include "tests/unit/fuse/fake_client.h"
#include "transfer/base/manual_clock.h"

namespace mooncake::testing {

// Processes that a test makes up: thread ids are process ids unless said otherwise.
class FakeProbe final : public fs::ProcessProbe {
 public:
  std::map<pid_t, pid_t> processes;
  std::set<pid_t> dying;
  std::set<pid_t> dead;
  std::set<pid_t> holders;  // processes that have the file open a second time

  pid_t ProcessOf(pid_t tid) const override {
    const auto it = processes.find(tid);
    return it == processes.end() ? tid : it->second;
  }
  bool DiesOfSignal(pid_t tid) const override { return dying.contains(tid); }
  bool IsAlive(pid_t process) const override { return !dead.contains(process); }
  bool HoldsInode(pid_t process, uint64_t) const override { return holders.contains(process); }
};

class FsTest : public ::testing::Test {
 protected:
  static constexpr fs::Caller kCaller{.uid = 1000, .gid = 1000, .pid = 77};
  static constexpr fs::Caller kOther{.uid = 1000, .gid = 1000, .pid = 88};

  void SetUp() override { Start({}); }

  void Start(fs::FsOptions options, uint64_t slab_bytes = uint64_t{1} << 30) {
    fs_.reset();
    auto slabs =
        fs::SlabPool::Create({.memory_bytes = slab_bytes, .spill_dir = ::testing::TempDir()});
    ASSERT_TRUE(slabs.ok()) << slabs.status();
    auto probe = std::make_unique<FakeProbe>();
    probe_ = probe.get();
    fs_ = std::make_unique<fs::FileSystem>(fs::FileSystemParts{.client = client_,
                                                               .slabs = std::move(*slabs),
                                                               .probe = std::move(probe),
                                                               .options = std::move(options),
                                                               .cache_bytes = slab_bytes},
                                           clock_);
  }

  fs::InodePtr Root() { return fs_->names().ById(fs::kRootId); }

  // The inode at a path of ordinary names; null and errno_ if there is none.
  fs::InodePtr Walk(const std::string& path, const fs::Caller& caller = kCaller) {
    fs::InodePtr at = Root();
    std::string_view rest = path;
    while (!rest.empty()) {
      const size_t slash = rest.find('/');
      auto entry = fs_->names().Lookup(at, rest.substr(0, slash), caller);
      errno_ = entry.ok() ? 0 : entry.error().value;
      if (!entry.ok()) return nullptr;
      at = entry->inode;
      if (slash == std::string_view::npos) break;
      rest.remove_prefix(slash + 1);
    }
    return at;
  }
  fs::InodePtr Parent(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? Root() : Walk(path.substr(0, slash));
  }
  static std::string Base(const std::string& path) { return path.substr(path.rfind('/') + 1); }

  fs::HandlePtr Create(const std::string& path, const fs::OpenFlags& flags = {.write = true},
                       const fs::Caller& caller = kCaller) {
    auto created = fs_->files().Create(Parent(path), Base(path), 0644, flags, caller);
    errno_ = created.ok() ? 0 : created.error().value;
    return created.ok() ? std::move(created->handle) : nullptr;
  }

  // open(2) of an existing file: on ESTALE the kernel looks the name up again and tries once more.
  fs::HandlePtr Open(const std::string& path, const fs::OpenFlags& flags = {},
                     const fs::Caller& caller = kCaller) {
    for (int attempt = 0; attempt < 2; ++attempt) {
      const fs::InodePtr inode = Walk(path, caller);
      if (!inode) return nullptr;
      auto opened = fs_->files().Open(inode, flags, caller);
      errno_ = opened.ok() ? 0 : opened.error().value;
      if (opened.ok()) return std::move(*opened);
      if (errno_ != ESTALE) break;
    }
    return nullptr;
  }

  int Write(fs::Handle& handle, uint64_t offset, const std::string& text) {
    const auto written = fs_->files().Write(handle, offset, AsBytes(text));
    return written.ok() ? 0 : written.error().value;
  }
  std::string Read(const fs::Handle& handle, uint64_t offset = 0, size_t size = 1 << 20) {
    std::vector<std::byte> scratch;
    const auto bytes = fs_->files().Read(handle, offset, size, scratch);
    errno_ = bytes.ok() ? 0 : bytes.error().value;
    return bytes.ok() ? std::string(AsText(*bytes)) : "<errno " + std::to_string(errno_) + ">";
  }
  int Flush(fs::Handle& handle, const fs::Caller& caller = kCaller) {
    return fs_->publisher().Flush(handle, caller).value;
  }
  void Release(fs::HandlePtr handle) { fs_->files().Release(std::move(handle)); }
  int Close(fs::HandlePtr handle, const fs::Caller& caller = kCaller) {
    const int flushed = Flush(*handle, caller);
    Release(std::move(handle));
    return flushed;
  }

  int WriteFile(const std::string& path, const std::string& text) {
    fs::HandlePtr handle =
        Walk(path) ? Open(path, {.write = true, .truncate = true}) : Create(path);
    if (!handle) return errno_;
    const int written = Write(*handle, 0, text);
    const int closed = Close(std::move(handle));
    return written != 0 ? written : closed;
  }
  std::string ReadFile(const std::string& path) {
    fs::HandlePtr handle = Open(path);
    if (!handle) return "<errno " + std::to_string(errno_) + ">";
    std::string text = Read(*handle);
    Release(std::move(handle));
    return text;
  }
  int Unlink(const std::string& path) {
    return fs_->names().Unlink(Parent(path), Base(path)).value;
  }
  int MakeDirectory(const std::string& path) {
    const auto made = fs_->names().MakeDirectory(Parent(path), Base(path), 0755, kCaller);
    return made.ok() ? 0 : made.error().value;
  }
  int RemoveDirectory(const std::string& path) {
    return fs_->names().RemoveDirectory(Parent(path), Base(path)).value;
  }
  int Rename(const std::string& from, const std::string& to, bool no_replace = false) {
    Walk(from);
    return fs_->names().Rename(Parent(from), Base(from), Parent(to), Base(to), no_replace).value;
  }
  fs::FileAttributes Stat(const std::string& path) {
    const fs::InodePtr inode = Walk(path);
    if (!inode) return {};
    const auto entry = fs_->names().GetAttributes(inode);
    errno_ = entry.ok() ? 0 : entry.error().value;
    return entry.ok() ? entry->attributes : fs::FileAttributes{};
  }
  std::vector<std::string> List(const std::string& path) {
    std::vector<std::string> names;
    const auto stream = fs_->OpenDirectory(path.empty() ? Root() : Walk(path));
    for (uint64_t offset = 0;;) {
      const auto item = stream->At(offset);
      errno_ = item.ok() ? 0 : item.error().value;
      if (!item.ok() || *item == nullptr) break;
      names.push_back((*item)->name);
      offset = (*item)->next;
    }
    return names;
  }

  FakeClient client_;
  ManualClock clock_;
  FakeProbe* probe_ = nullptr;
  std::unique_ptr<fs::FileSystem> fs_;
  int errno_ = 0;
};

}  // namespace mooncake::testing

#include "master/tenants/replaced_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace mooncake {
namespace {

namespace fs = std::filesystem;

Status Failed(const std::string& what, int error = errno) {
  return {ErrorCode::kPersistentFail, what + ": " + std::strerror(error)};
}

std::string FolderOf(const std::string& path) {
  const std::string folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

// No name that a person would give.
std::string HiddenPath(const std::string& path) {
  return FolderOf(path) + "/." + fs::path(path).filename().string() + ".mooncake-new";
}

bool IsStillAt(int file, const std::string& path) {
  struct stat held {};
  struct stat there {};
  return fstat(file, &held) == 0 && lstat(path.c_str(), &there) == 0 &&
         held.st_dev == there.st_dev && held.st_ino == there.st_ino;
}

}  // namespace

Result<std::optional<std::string>> ReadWhole(const std::string& path, size_t limit) {
  // Without O_NONBLOCK the opening of a pipe would wait for its other end.
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid()) {
    if (errno == ENOENT) return std::optional<std::string>();
    return Failed(path);
  }
  struct stat info {};
  if (fstat(file.get(), &info) != 0) return Failed(path);
  if (!S_ISREG(info.st_mode)) return {ErrorCode::kInvalidParams, path + " is no regular file"};
  // No buffer on the stack: who changes a quota over HTTP is served in a thread with 100 KiB of it.
  constexpr size_t kChunk = 65536;
  std::string bytes;
  for (;;) {
    const size_t had = bytes.size();
    bytes.resize(had + kChunk);
    const ssize_t n = read(file.get(), bytes.data() + had, kChunk);
    const int error = errno;
    bytes.resize(had + static_cast<size_t>(std::max<ssize_t>(n, 0)));
    if (n < 0 && error == EINTR) continue;
    if (n < 0) return Failed(path, error);
    if (n == 0) return std::optional<std::string>(std::move(bytes));
    if (bytes.size() > limit) {
      return {ErrorCode::kInvalidParams,
              path + " has more than " + std::to_string(limit) + " bytes; that is the most"};
    }
  }
}

Result<std::string> FollowLinks(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the kernel
  fs::path at = path;
  for (int links = 0; links < kMostLinks; ++links) {
    std::error_code error;
    const fs::path target = fs::read_symlink(at, error);
    if (error) return at.string();  // no link, or nothing: whoever opens it says so
    at = at.parent_path() / target;
  }
  return {ErrorCode::kInvalidParams, path + " is a symbolic link that leads round in a circle"};
}

Result<Replacement> Replacement::Begin(const std::string& path) {
  const std::string hidden = HiddenPath(path);
  constexpr int kTries =
      3;  // the one before us may end, or tidy up, between our opening and locking
  for (int i = 0; i < kTries; ++i) {
    UniqueFd file(
        open(hidden.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    if (!file.valid()) return Failed(hidden);
    if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return Failed(hidden);
      break;
    }
    if (IsStillAt(file.get(), hidden)) return Replacement(path, std::move(file));
  }
  return {
      ErrorCode::kUnavailableInCurrentStatus,
      path +
          " is being saved by another process; try again, and see to it that one master uses it"};
}

void Replacement::Tidy(const std::string& path) {
  const std::string hidden = HiddenPath(path);
  const UniqueFd file(open(hidden.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.valid() && flock(file.get(), LOCK_EX | LOCK_NB) == 0 && IsStillAt(file.get(), hidden))
    unlink(hidden.c_str());
}

Replacement::~Replacement() {
  if (!file_.valid()) return;
  const std::string hidden = HiddenPath(path_);
  if (IsStillAt(file_.get(), hidden)) unlink(hidden.c_str());
}

Status Replacement::KeepModeAndOwner(mode_t new_mode) {
  struct stat old {};
  if (stat(path_.c_str(), &old) != 0) {
    if (errno != ENOENT) return Failed(path_);
    return fchmod(file_.get(), new_mode) == 0 ? Status::Ok() : Failed(path_);
  }
  struct stat now {};
  if (fstat(file_.get(), &now) != 0) return Failed(path_);
  const bool same = now.st_uid == old.st_uid && now.st_gid == old.st_gid;
  if (!same && fchown(file_.get(), old.st_uid, old.st_gid) != 0) {
    return Failed(path_ + " belongs to " + std::to_string(old.st_uid) + ":" +
                  std::to_string(old.st_gid) +
                  ", and that cannot be kept; run the master as that user, or change the owner");
  }
  // After the owner: a change of that clears bits of the mode.
  return fchmod(file_.get(), old.st_mode & 07777) == 0 ? Status::Ok() : Failed(path_);
}

Status Replacement::Fill(std::string_view bytes) {
  if (ftruncate(file_.get(), 0) != 0) return Failed(path_);
  while (!bytes.empty()) {
    const ssize_t n = write(file_.get(), bytes.data(), bytes.size());
    if (n < 0 && errno != EINTR) return Failed(path_);
    bytes.remove_prefix(static_cast<size_t>(std::max<ssize_t>(n, 0)));
  }
  return fsync(file_.get()) == 0 ? Status::Ok() : Failed(path_);
}

Replacement::Outcome Replacement::Commit(std::string_view bytes, mode_t new_mode) {
  const std::string hidden = HiddenPath(path_);
  if (Status status = KeepModeAndOwner(new_mode); !status.ok()) return {status};
  if (Status status = Fill(bytes); !status.ok()) return {status};
  if (rename(hidden.c_str(), path_.c_str()) != 0) {
    return {
        errno == EBUSY
            ? Failed(path_ +
                     " is a mount of its own and so cannot be replaced; mount its folder instead")
            : Failed(path_)};
  }
  const UniqueFd folder(open(FolderOf(path_).c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY));
  if (!folder.valid() || fsync(folder.get()) != 0)
    return {Failed(path_ + " is written, but may not survive a crash of the machine"), true};
  return {Status::Ok(), true};
}

}  // namespace mooncake

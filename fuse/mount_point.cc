#include "fuse/mount_point.h"

#include <dirent.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "transfer/base/clock.h"

namespace mooncake::fs {
namespace {

constexpr char kType[] = "fuse.mooncake";
constexpr Duration kAnswerBound = Seconds(3);
constexpr useconds_t kLookEveryUs = 2000;

// Octal escapes of the mount table: "\040" is a space.
std::string Unescape(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      out += static_cast<char>(std::strtol(text.substr(i + 1, 3).c_str(), nullptr, 8));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

// The type of the topmost file system mounted exactly at `path`; "" if none is.
std::string TypeMountedAt(const std::string& path) {
  std::ifstream table("/proc/self/mountinfo");
  std::string line;
  std::string found;
  while (std::getline(table, line)) {
    // id parent major:minor root MOUNT_POINT options [optional]... - TYPE source options
    std::istringstream fields(line);
    std::string skip, point;
    fields >> skip >> skip >> skip >> skip >> point;
    if (Unescape(point) != path) continue;
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    found = line.substr(dash + 3, line.find(' ', dash + 3) - dash - 3);
  }
  return found;
}

bool IsEmptyDirectory(const std::string& path) {
  DIR* dir = opendir(path.c_str());
  if (dir == nullptr) return true;  // what is wrong with it shows when it is mounted on
  bool empty = true;
  while (const dirent* entry = readdir(dir)) {
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
      empty = false;
  }
  closedir(dir);
  return empty;
}

Status Refuse(const std::string& path, const std::string& why) {
  return Status(ErrorCode::kInvalidParams, path + ": " + why);
}

// realpath(3) asks the file system at the end of the path, which may be dead; this asks only the parent.
std::string AbsolutePath(const std::string& path) {
  std::string trimmed = path;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  const size_t slash = trimmed.rfind('/');
  const std::string parent = slash == std::string::npos ? "."
                             : slash == 0               ? "/"
                                                        : trimmed.substr(0, slash);
  const std::string last = slash == std::string::npos ? trimmed : trimmed.substr(slash + 1);
  char resolved[PATH_MAX];
  if (last.empty() || last == "." || last == ".." || realpath(parent.c_str(), resolved) == nullptr)
    return path;
  const std::string base = resolved;
  return (base == "/" ? "" : base) + "/" + last;
}

// stat(2) may still be answered from the kernel's memory, statfs(2) never is. By a child, since the daemon may be frozen
// rather than dead: then nobody answers, and it counts as alive.
bool IsDead(const std::string& path) {
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    struct statfs info {};
    _exit(statfs(path.c_str(), &info) != 0 && (errno == ENOTCONN || errno == ECONNABORTED) ? 1 : 0);
  }
  const TimePoint deadline = SystemClock().Now() + kAnswerBound;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (SystemClock().Now() >= deadline) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
      return false;
    }
    usleep(kLookEveryUs);
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

}  // namespace

bool IsOurMount(const std::string& path) { return TypeMountedAt(path) == kType; }

bool LazyUnmount(const std::string& path) {
  if (umount2(path.c_str(), MNT_DETACH) == 0) return true;
  if (errno != EPERM) return false;
  const pid_t child = fork();  // an ordinary user's mounts are undone by the setuid helper
  if (child == 0) {
    execlp("fusermount3", "fusermount3", "-q", "-u", "-z", path.c_str(), nullptr);
    _exit(127);
  }
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

Result<std::string> PrepareMountPoint(const std::string& directory, bool nonempty) {
  std::string path = AbsolutePath(directory);
  if (TypeMountedAt(path).starts_with("fuse") && IsDead(path) && !LazyUnmount(path)) {
    return Refuse(path, "a dead mount is in the way; run 'umount -l " + path + "' as root");
  }
  if (IsOurMount(path)) {
    return Refuse(path, "a Mooncake Store is mounted here already and was left alone; 'umount " +
                            path + "' first");
  }
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    const bool missing = errno == ENOENT;
    return Refuse(path, missing ? "no such directory; create it with 'mkdir -p " + path + "'"
                                : std::strerror(errno));
  }
  if (!S_ISDIR(info.st_mode)) return Refuse(path, "is not a directory; name an empty directory");
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved) != nullptr && path != resolved) {
    return PrepareMountPoint(resolved, nonempty);  // a symbolic link: what it leads to
  }
  if (!nonempty && !IsEmptyDirectory(path)) {
    return Refuse(path, "the directory is not empty; empty it, or mount over it with -o nonempty");
  }
  return path;
}

}  // namespace mooncake::fs

#include "fuse/fs/process_probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mooncake::fs {
namespace {

constexpr size_t kStatFieldExitCode =
    49;  // field 52 of proc(5), counted from the field behind the name

std::string ProcPath(pid_t pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

std::optional<std::string> ReadSmallFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  char buffer[4096];
  const ssize_t n = read(fd, buffer, sizeof buffer);
  close(fd);
  if (n <= 0) return std::nullopt;
  return std::string(buffer, static_cast<size_t>(n));
}

// Fields of /proc/PID/stat behind the name, which may itself hold spaces and parentheses.
std::vector<std::string_view> StatFields(std::string_view stat) {
  std::vector<std::string_view> fields;
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 > stat.size()) return fields;
  std::string_view rest = stat.substr(name_end + 2);
  while (!rest.empty()) {
    const size_t space = rest.find_first_of(" \n");
    fields.push_back(rest.substr(0, space));
    if (space == std::string_view::npos) break;
    rest.remove_prefix(space + 1);
  }
  return fields;
}

// The number behind `label` in a "label:\tvalue" file.
std::optional<uint64_t> LabelledNumber(std::string_view text, std::string_view label) {
  const size_t at = text.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  return std::strtoull(text.data() + at + label.size(), nullptr, 10);
}

class ProcProbe final : public ProcessProbe {
 public:
  pid_t ProcessOf(pid_t tid) const override {
    const auto status = ReadSmallFile(ProcPath(tid, "status"));
    const auto group = status ? LabelledNumber(*status, "\nTgid:") : std::nullopt;
    return group ? static_cast<pid_t>(*group) : tid;
  }

  // /proc/PID/stat must not be read while its process is in execve(2): there it waits for a lock that execve holds
  // while it closes descriptors, that is, while it waits for our answer to the flush. A thread that is ending has no
  // memory map any more and cannot be in execve; `status` waits for nothing.
  bool DiesOfSignal(pid_t tid) const override {
    const auto status = ReadSmallFile(ProcPath(tid, "status"));
    if (!status || status->find("\nVmSize:") != std::string::npos) return false;
    const auto stat = ReadSmallFile(ProcPath(tid, "stat"));
    if (!stat) return false;
    const auto fields = StatFields(*stat);
    if (fields.size() <= kStatFieldExitCode) return false;
    const int exit_code = std::atoi(std::string(fields[kStatFieldExitCode]).c_str());
    return (exit_code & 0x7f) != 0;  // as in wait(2): the signal, if it was one
  }

  bool IsAlive(pid_t process) const override {
    const auto status = ReadSmallFile(ProcPath(process, "status"));
    if (!status) return false;
    return status->find("\nState:\tZ") == std::string::npos &&
           status->find("\nState:\tX") == std::string::npos;
  }

  // Reads fdinfo, never the files: a stat of them would come back to this very process as a request.
  bool HoldsInode(pid_t process, uint64_t ino) const override {
    const std::string folder = ProcPath(process, "fdinfo");
    DIR* dir = opendir(folder.c_str());
    if (dir == nullptr) return false;
    bool found = false;
    while (const dirent* entry = readdir(dir)) {
      if (entry->d_name[0] == '.') continue;
      const auto info = ReadSmallFile(folder + "/" + entry->d_name);
      if (info && LabelledNumber(*info, "\nino:") == ino) {
        found = true;
        break;
      }
    }
    closedir(dir);
    return found;
  }
};

}  // namespace

std::unique_ptr<ProcessProbe> MakeProcProbe() { return std::make_unique<ProcProbe>(); }

}  // namespace mooncake::fs

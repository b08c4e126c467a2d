#include "tools/admin/value_sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "transfer/base/unique_fd.h"

namespace mooncake::admin {
namespace {

Status WriteError(const std::string& path, const char* what) {
  return Status(ErrorCode::kWriteFail, path + ": " + what + ": " + std::strerror(errno));
}

Status WriteAll(int fd, ByteSpan bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return WriteError(path, "write");
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return Status::Ok();
}

// stdout, a device, a pipe: what is written is written.
class DirectSink final : public ValueSink {
 public:
  DirectSink(std::string path, UniqueFd owned, int fd)
      : path_(std::move(path)), owned_(std::move(owned)), fd_(fd) {}
  Status Write(ByteSpan bytes) override { return WriteAll(fd_, bytes, path_); }
  Status Commit() override { return Status::Ok(); }

 private:
  const std::string path_;
  const UniqueFd owned_;
  const int fd_;
};

class FileSink final : public ValueSink {
 public:
  FileSink(std::string path, std::string temporary, UniqueFd fd)
      : path_(std::move(path)), temporary_(std::move(temporary)), fd_(std::move(fd)) {}
  ~FileSink() override {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }
  Status Write(ByteSpan bytes) override { return WriteAll(fd_.get(), bytes, path_); }
  Status Commit() override {
    if (::close(fd_.Release()) != 0) return WriteError(path_, "close");
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) return WriteError(path_, "rename");
    temporary_.clear();
    return Status::Ok();
  }

 private:
  const std::string path_;
  std::string temporary_;  // "" once it has its name
  UniqueFd fd_;
};

// Follows a link, so that the file it points to is replaced and not the link.
std::string Target(const std::string& path) {
  char* const real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string target = real;
  std::free(real);
  return target;
}

}  // namespace

Result<std::unique_ptr<ValueSink>> OpenSink(const std::string& path, int descriptor) {
  if (path == "-")
    return std::unique_ptr<ValueSink>(new DirectSink("stdout", UniqueFd(), descriptor));
  const std::string target = Target(path);
  struct stat info {};
  const bool exists = ::stat(target.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {
    UniqueFd fd(::open(target.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd.valid()) return WriteError(path, "open");
    const int number = fd.get();
    return std::unique_ptr<ValueSink>(new DirectSink(path, std::move(fd), number));
  }
  std::string temporary = target + ".XXXXXX";
  UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.valid()) return WriteError(path, "cannot create a file beside it");
  // mkostemp makes files private; the user's mask decides instead, or the mode of the file that is replaced.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (::fchmod(fd.get(), exists ? info.st_mode & 07777 : 0666 & ~mask) != 0)
    return WriteError(path, "chmod");
  return std::unique_ptr<ValueSink>(new FileSink(target, std::move(temporary), std::move(fd)));
}

}  // namespace mooncake::admin

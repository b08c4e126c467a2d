#include "tools/admin/value_source.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "transfer/base/unique_fd.h"
#include "transfer/base/units.h"

namespace mooncake::admin {
namespace {

constexpr uint64_t kFirstPart = kMiB;
constexpr uint64_t kLargestPart = 64 * kMiB;

Status ReadError(const std::string& path, const char* what) {
  return Status(ErrorCode::kInvalidRead, path + ": " + what + ": " + std::strerror(errno));
}

// A regular file is mapped: a value larger than memory can be put, and is read once.
class MappedSource final : public ValueSource {
 public:
  MappedSource(std::string path, UniqueFd fd, const struct stat& before, void* address)
      : path_(std::move(path)), fd_(std::move(fd)), before_(before), address_(address) {}
  ~MappedSource() override {
    if (address_ != nullptr) ::munmap(address_, size());
  }
  std::vector<ByteSpan> parts() const override {
    return {ByteSpan(static_cast<const std::byte*>(address_), size())};
  }
  uint64_t size() const override { return static_cast<uint64_t>(before_.st_size); }
  Status CheckUnchanged() const override {
    struct stat now {};
    if (::fstat(fd_.get(), &now) != 0) return ReadError(path_, "stat");
    const bool same = now.st_size == before_.st_size &&
                      now.st_mtim.tv_sec == before_.st_mtim.tv_sec &&
                      now.st_mtim.tv_nsec == before_.st_mtim.tv_nsec;
    if (same) return Status::Ok();
    return Status(ErrorCode::kInvalidRead, path_ + " was written to while it was read");
  }

 private:
  const std::string path_;
  const UniqueFd fd_;
  const struct stat before_;
  void* const address_;  // null: empty
};

class MemorySource final : public ValueSource {
 public:
  std::vector<ByteSpan> parts() const override { return {parts_.begin(), parts_.end()}; }
  uint64_t size() const override { return size_; }
  Status CheckUnchanged() const override { return Status::Ok(); }

  Status ReadAll(int fd, const std::string& path, uint64_t limit) {
    for (uint64_t room = kFirstPart;; room = std::min(room * 2, kLargestPart)) {
      std::vector<std::byte> part(room);
      uint64_t filled = 0;
      while (filled < part.size()) {
        const ssize_t n = ::read(fd, part.data() + filled, part.size() - filled);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return ReadError(path, "read");
        if (n == 0) break;
        filled += static_cast<uint64_t>(n);
      }
      size_ += filled;
      if (size_ > limit) {
        return Status(ErrorCode::kBufferOverflow,
                      path + ": more than " + FormatSize(limit) +
                          ", the memory that may be used for it; put a file instead");
      }
      const bool end = filled < part.size();
      part.resize(filled);
      if (filled > 0) parts_.push_back(std::move(part));
      if (end) return Status::Ok();
    }
  }

 private:
  std::vector<std::vector<std::byte>> parts_;
  uint64_t size_ = 0;
};

Result<std::unique_ptr<ValueSource>> ReadStream(int fd, const std::string& path, uint64_t limit) {
  auto source = std::make_unique<MemorySource>();
  RETURN_IF_ERROR(source->ReadAll(fd, path, limit));
  return std::unique_ptr<ValueSource>(std::move(source));
}

}  // namespace

Result<std::unique_ptr<ValueSource>> OpenSource(const std::string& path, int descriptor,
                                                uint64_t memory_limit) {
  if (path == "-") return ReadStream(descriptor, "stdin", memory_limit);
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return ReadError(path, "open");
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ReadError(path, "stat");
  if (S_ISDIR(info.st_mode))
    return Status(ErrorCode::kInvalidRead,
                  path + " is a directory; put its files one by one, or copy it to a mount");
  // Files of /proc say that they are empty and are not.
  if (!S_ISREG(info.st_mode) || info.st_size == 0) return ReadStream(fd.get(), path, memory_limit);
  void* const address =
      ::mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (address == MAP_FAILED) return ReadError(path, "map");
  (void)::madvise(address, static_cast<size_t>(info.st_size), MADV_SEQUENTIAL);
  return std::unique_ptr<ValueSource>(new MappedSource(path, std::move(fd), info, address));
}

}  // namespace mooncake::admin

#include "tools/bench/mount_bench.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "tools/bench/race.h"
#include "transfer/base/unique_fd.h"

namespace mooncake::bench {
namespace {

Status SystemError(const std::string& what) {
  const bool full = errno == ENOSPC;
  return Status(ErrorCode::kInternal,
                what + ": " + std::strerror(errno) +
                    (full ? "; space of removed files is free only when the leases on them have "
                            "ended, so mount a larger store"
                          : ""));
}

// A folder of our own in one of the two places.
class Place {
 public:
  // `kind`: of the file system, as statfs(2) names it.
  static Result<std::unique_ptr<Place>> Create(const std::string& parent, int64_t kind,
                                               const std::string& cure) {
    struct statfs info {};
    if (::statfs(parent.c_str(), &info) != 0) return SystemError(parent);
    if (static_cast<int64_t>(info.f_type) != kind)
      return Status(ErrorCode::kInvalidParams, parent + " " + cure);
    std::string path = parent + "/mooncake-bench-" + std::to_string(::getpid());
    if (::mkdir(path.c_str(), 0755) != 0) return SystemError(path);
    return std::unique_ptr<Place>(new Place(std::move(path)));
  }
  ~Place() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  explicit Place(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

Status WriteFile(const std::string& path, const std::vector<char>& value, uint64_t request) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd.valid()) return SystemError(path);
  for (uint64_t done = 0; done < value.size();) {
    const ssize_t n =
        ::write(fd.get(), value.data() + done, std::min(request, value.size() - done));
    if (n <= 0) return SystemError(path);
    done += static_cast<uint64_t>(n);
  }
  // The mount publishes here.
  return ::close(fd.Release()) == 0 ? Status::Ok() : SystemError(path);
}

Status ReadFile(const std::string& path, std::vector<char>& buffer, uint64_t size) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return SystemError(path);
  uint64_t done = 0;
  for (ssize_t n = 1; n > 0; done += static_cast<uint64_t>(n)) {
    n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n < 0) return SystemError(path);
  }
  return done == size ? Status::Ok()
                      : Status(ErrorCode::kInternal, path + ": " + std::to_string(done) +
                                                         " bytes of " + std::to_string(size));
}

Contender Writer(const char* name, const Place& place,
                 const std::shared_ptr<std::vector<char>>& value, uint64_t request) {
  return {.name = name,
          .run =
              [&place, value, request](uint64_t i) {
                return WriteFile(place.File("w" + std::to_string(i)), *value, request);
              },
          .after = [&place](uint64_t i) { ::unlink(place.File("w" + std::to_string(i)).c_str()); }};
}

// `first`: files that nobody has read yet, which costs a mount the way from the store.
Contender Reader(const char* name, const Place& place,
                 const std::shared_ptr<std::vector<char>>& value, uint64_t request, bool first) {
  auto buffer = std::make_shared<std::vector<char>>(request);
  const uint64_t size = value->size();
  const auto path = [&place, first](uint64_t i) {
    return place.File("r" + std::to_string(first ? i : 0));
  };
  auto written = std::make_shared<Status>();
  Contender reader{.name = name, .run = [path, buffer, size, written](uint64_t i) -> Status {
                     RETURN_IF_ERROR(*written);
                     return ReadFile(path(i), *buffer, size);
                   }};
  if (first) {
    reader.after = [path, value, request, written](uint64_t i) {
      ::unlink(path(i).c_str());
      *written = WriteFile(path(i + 1), *value, request);
    };
  }
  return reader;
}

Status Compare(const char* what, uint64_t size, std::vector<Contender> pair,
               const MountBenchOptions& options, const Clock& clock, std::vector<Row>& rows) {
  RETURN_IF_ERROR(Race(pair, {.time = options.time}, clock));
  rows.push_back({.what = what,
                  .path = "mount",
                  .figure = {.bytes = size, .samples = pair[0].samples},
                  .limit_name = "tmpfs",
                  .limit = {.bytes = size, .samples = pair[1].samples},
                  .latencies = pair[0].samples});
  return Status::Ok();
}

}  // namespace

Result<std::vector<Row>> BenchMount(const MountBenchOptions& options, const Clock& clock) {
  ASSIGN_OR_RETURN(const auto mount,
                   Place::Create(options.dir, FUSE_SUPER_MAGIC,
                                 "is on no mount of mount.mooncake: mount a store there first"));
  ASSIGN_OR_RETURN(const auto tmpfs,
                   Place::Create(options.beside, TMPFS_MAGIC,
                                 "is not on tmpfs: name a folder that is with --beside"));
  std::vector<Row> rows;
  for (const uint64_t size : options.sizes) {
    const auto value = std::make_shared<std::vector<char>>(size, 'v');
    const uint64_t request = options.request;
    RETURN_IF_ERROR(
        Compare("write", size,
                {Writer("mount", *mount, value, request), Writer("tmpfs", *tmpfs, value, request)},
                options, clock, rows));
    for (const Place* place : {mount.get(), tmpfs.get()})
      RETURN_IF_ERROR(WriteFile(place->File("r0"), *value, request));
    RETURN_IF_ERROR(Compare("read first", size,
                            {Reader("mount", *mount, value, request, true),
                             Reader("tmpfs", *tmpfs, value, request, true)},
                            options, clock, rows));
    for (const Place* place : {mount.get(), tmpfs.get()})
      RETURN_IF_ERROR(WriteFile(place->File("r0"), *value, request));
    RETURN_IF_ERROR(Compare("read again", size,
                            {Reader("mount", *mount, value, request, false),
                             Reader("tmpfs", *tmpfs, value, request, false)},
                            options, clock, rows));
  }
  return rows;
}

}  // namespace mooncake::bench

// A small file that is replaced as a whole: whoever reads it, and whatever crashes, sees the old or the new bytes.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "transfer/base/result.h"
#include "transfer/base/unique_fd.h"

namespace mooncake {

// The bytes of the file; nullopt: it does not exist. kInvalidParams: no regular file, or larger than `limit`; kPersistentFail: the
// file system says no.
Result<std::optional<std::string>> ReadWhole(const std::string& path, size_t limit);

// Where `path` leads once the symbolic links of its last part are followed, whether or not something is there. kInvalidParams: a
// loop.
Result<std::string> FollowLinks(const std::string& path);

// A replacement in the making: a hidden file beside the one that it will be, locked for as long as this object lives, so that of
// several processes one at a time is in here. Gone with this object, and taken over from a process that was killed.
class Replacement {
 public:
  // kUnavailableInCurrentStatus: another process is in here; kPersistentFail: the folder cannot be written. `path` is no link.
  static Result<Replacement> Begin(const std::string& path);
  // Removes what a killed process has left of one, as far as that is possible.
  static void Tidy(const std::string& path);

  Replacement(Replacement&& other) noexcept = default;
  Replacement& operator=(Replacement&&) = delete;
  ~Replacement();

  // The file is there with these bytes, and a crash does not undo it. Mode and owner are those of the file that it replaces, else
  // `new_mode` and the process's. Once. kPersistentFail: nothing is replaced, unless `replaced`.
  struct Outcome {
    Status status;
    bool replaced = false;
  };
  Outcome Commit(std::string_view bytes, mode_t new_mode);

 private:
  Replacement(std::string path, UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}
  Status KeepModeAndOwner(mode_t new_mode);
  Status Fill(std::string_view bytes);

  std::string path_;
  UniqueFd file_;
};

}  // namespace mooncake

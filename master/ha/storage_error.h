// What the operating system says about the storage, as a Status.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

#include "transfer/base/status.h"

namespace mooncake {

// kPersistentFail with the words for errno.
inline Status StorageError(const std::string& what) {
  return {ErrorCode::kPersistentFail,
          what + ": " + std::error_code(errno, std::generic_category()).message()};
}

}  // namespace mooncake

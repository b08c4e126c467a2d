// Checks a directory before something is mounted on it, and cleans up after a mount whose process died.
#pragma once

#include <string>

#include "transfer/base/result.h"

namespace mooncake::fs {

// The absolute path of `directory`, ready to be mounted on. A dead FUSE mount there is unmounted first. Errors name
// the cause and the cure: missing, not a directory, not empty (unless `nonempty`), a live mount of ours, no access.
Result<std::string> PrepareMountPoint(const std::string& directory, bool nonempty);

// True if a file system of type fuse.mooncake is mounted exactly there, by the mount table.
bool IsOurMount(const std::string& path);

// Takes it out of the tree, in use or not. False if nothing was mounted there or we may not.
bool LazyUnmount(const std::string& path);

}  // namespace mooncake::fs

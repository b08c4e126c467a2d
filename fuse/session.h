// One mount in the life of the process: from fuse_session_new to the end of its threads.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "fuse/fs/file_system.h"
#include "fuse/mount_options.h"
#include "transfer/base/result.h"

namespace mooncake::fs {

class Session {
 public:
  virtual ~Session() = default;  // unmounts

  // Mounts; nothing is served before Run. `source` is what the mount table shows. kInvalidParams: the message names cause and cure. `file_system` must live
  // longer.
  static Result<std::unique_ptr<Session>> Mount(FileSystem& file_system,
                                                const MountOptions& options,
                                                const std::string& mount_point,
                                                const std::string& source);

  // Serves until the file system is unmounted, or Stop. `on_ready` is called once, from another thread, when a look
  // at the mount point was answered, with an error when it was not, or when passthrough was required and is not there.
  virtual Status Run(std::function<void(const Status&)> on_ready) = 0;

  // Takes the mount out of the tree and makes Run return. From any thread.
  virtual void Stop() = 0;

  // "passthrough" or "direct I/O" and why, for the log; known when ready.
  virtual std::string DescribeDataPath() const = 0;
};

}  // namespace mooncake::fs

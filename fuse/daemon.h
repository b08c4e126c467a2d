// The life of mount.mooncake: command line, background, store, mount, signals, end.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "client/store_client.h"
#include "fuse/mount_options.h"

namespace mooncake::fs {

// A store that the mount shows. Its destruction ends it.
struct OpenedStore {
  std::shared_ptr<void> keeper;  // whatever has to live as long
  Client* client = nullptr;
  bool in_process = false;  // views stay good as long as the process runs
  std::string address;      // HOST:PORT of its RPC service; the mount table shows it as the source
  std::string description;  // "embedded store of 4 GiB, RPC at 127.0.0.1:40123"
};

using StoreOpener = std::function<Result<OpenedStore>(const MountOptions&)>;

// Exit statuses, as mount(8) has them.
inline constexpr int kExitUsage = 1;
inline constexpr int kExitFailed = 32;

// Fills in what the options leave to this machine: sizes from its memory.
void FillDefaults(MountOptions& options);

// `open_store` is called in the process that will serve, before it has other threads.
int RunMount(int argc, char** argv, const StoreOpener& open_store);

}  // namespace mooncake::fs

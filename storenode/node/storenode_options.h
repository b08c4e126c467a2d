// Everything that mooncake-storenode can be told, and the names it is told by.
#pragma once

#include <cstdint>
#include <string>

#include "storenode/node/store_node.h"
#include "transfer/base/config_reader.h"

namespace mooncake {

struct StoreNodeProgramOptions {
  std::string advertise;  // HOST or HOST:PORT as typed; Finish… splits it
  StoreNodeOptions node;
  Duration unmount_grace{};  // between the signal and the end
  std::string log_dir;       // "": to stderr
  uint32_t verbosity = 0;

  StoreNodeProgramOptions() { node.master_address = "127.0.0.1:50051"; }
};

// Names, defaults, units and help texts. `options` must outlive `reader`.
void DescribeStoreNodeOptions(StoreNodeProgramOptions& options, ConfigReader& reader);

// After reading: checks all. kInvalidParams names the option.
Status FinishStoreNodeOptions(StoreNodeProgramOptions& options);

}  // namespace mooncake

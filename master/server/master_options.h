// Everything that mooncake-master can be told, and the names it is told by.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "master/core/options.h"
#include "master/ha/snapshotter.h"
#include "transfer/base/config_reader.h"
#include "transfer/base/units.h"

namespace mooncake {

struct MasterOptions {
  std::string rpc_address = "0.0.0.0";
  uint16_t rpc_port = 50051;  // 0: any free one
  uint32_t max_connections = 4096;
  Duration rpc_idle_timeout = Duration::zero();  // 0: never
  std::string metrics_host = "0.0.0.0";
  uint16_t metrics_port = 9003;  // 0: no HTTP
  bool enable_metric_reporting = true;
  std::string log_dir;  // "": to stderr
  uint32_t verbosity = 0;
  std::string memory_allocator = "offset";
  std::string allocation_strategy = "random";
  std::string eviction_policy = "lru";
  std::string state_dir;                 // "": nothing outlives the process
  std::string durability = "async";      // with a state_dir
  std::string quota_connector = "file";  // file, etcd
  std::string quota_uri;                 // path or endpoints; "": a file in state_dir
  std::string cluster_id = "mooncake_cluster";
  SnapshotterOptions snapshots;
  core::CoreOptions core;
  std::vector<ConfigValue> config;  // all of it as it was told, for who asks the master
};

// Names, defaults, units and help texts. `options` must outlive `reader`.
void DescribeMasterOptions(MasterOptions& options, ConfigReader& reader);

// After reading: takes over what is spelled as text, and checks all. kInvalidParams names the option.
Status FinishMasterOptions(MasterOptions& options);

}  // namespace mooncake

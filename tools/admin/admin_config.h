// Options that every command takes, from the command line and the environment.
#pragma once

#include <string>

#include "transfer/base/result.h"
#include "transfer/base/time.h"
#include "transfer/base/units.h"

namespace mooncake::admin {

struct AdminOptions {
  std::string master;   // HOST:PORT; "" = MOONCAKE_MASTER, else the default below
  std::string tenant;   // "" = the default one
  std::string timeout;  // of one call to the store; "" = 30 s
  bool json = false;
  bool escaped = false;  // keys are typed as they are printed
};

inline constexpr char kDefaultMaster[] = "127.0.0.1:50051";
inline constexpr char kMasterVariable[] = "MOONCAKE_MASTER";
inline constexpr Duration kDefaultTimeout = Seconds(30);
// Removing by pattern looks at every key of the tenant.
inline constexpr Duration kDefaultWalkTimeout = Seconds(600);

struct AdminConfig {
  HostPort master;
  std::string tenant;
  Duration timeout = kDefaultTimeout;
  Duration walk_timeout = kDefaultWalkTimeout;
  bool json = false;
  bool escaped = false;
};

// `environment`: the value of MOONCAKE_MASTER, "" if it is not set. kInvalidParams names the option and where it came from.
Result<AdminConfig> MakeConfig(const AdminOptions& options, const std::string& environment);

// The value of MOONCAKE_MASTER; "" if it is not set.
std::string MasterFromEnvironment();

}  // namespace mooncake::admin

// Options that every command takes: from the command line, the environment, a file.
#pragma once

#include <string>
#include <vector>

#include "transfer/base/result.h"
#include "transfer/base/time.h"
#include "transfer/base/units.h"

namespace mooncake::admin {

struct AdminOptions {
  std::string master;   // HOST:PORT; "" = MOONCAKE_MASTER, else the file's, else the default below
  std::string tenant;   // "" = the file's, else the default one
  std::string timeout;  // of one call to the store; "" = the file's, else 30 s
  std::string config_path;  // "" = the first there is of the environment's
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

// What the process finds around it.
struct Environment {
  std::string master;                     // the value of MOONCAKE_MASTER
  std::vector<std::string> config_files;  // where to look, the user's before the machine's
};
Environment ProcessEnvironment();

// kInvalidParams names the option and where it came from. Reads the config file, if there is one.
Result<AdminConfig> MakeConfig(AdminOptions options, const Environment& environment);

}  // namespace mooncake::admin

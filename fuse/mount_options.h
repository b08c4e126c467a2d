// The command line of mount.mooncake, in both of its forms. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "transfer/base/result.h"
#include "transfer/base/time.h"
#include "transfer/base/units.h"

namespace mooncake::fs {

enum class PassthroughMode : uint8_t { kAuto, kOff, kRequire };

struct MountOptions {
  std::string source = "embedded";  // "embedded", or HOST:PORT of a master
  std::string mount_point;
  std::string tenant;     // "" = the default one
  uint64_t size = 0;      // of an embedded store; 0 = a quarter of the memory
  uint16_t rpc_port = 0;  // of an embedded store; 0 = any free one
  bool allow_other = false;
  bool read_only = false;
  bool nonempty = false;
  bool auto_unmount = true;
  bool huge_pages = true;
  Duration timeout = Seconds(30);
  Duration entry_timeout = Seconds(1);
  Duration attr_timeout = Seconds(1);
  uint64_t write_space = 0;  // 0 = an eighth of the memory
  uint64_t cache_size = 0;   // 0 = an eighth of the memory
  std::string spill_dir = "/var/tmp";
  std::string log_file;
  PassthroughMode passthrough = PassthroughMode::kAuto;
  uint32_t threads = 0;  // 0 = by the processors
  bool foreground = false;
  bool debug = false;
  bool fake = false;  // check everything, mount nothing
  bool verbose = false;
  std::vector<std::string> kernel_options;  // "nosuid", "noatime", …: for the kernel

  bool embedded() const { return source == "embedded"; }
};

struct CommandLine {
  enum class Action { kMount, kHelp, kVersion } action = Action::kMount;
  MountOptions options;
};

// `arguments` without the program's name. kInvalidParams: one line that names the argument and what is allowed.
Result<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments);

std::string HelpText();

}  // namespace mooncake::fs

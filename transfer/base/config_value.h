// An option of a running program, as people read it.
#pragma once

#include <string>

namespace mooncake {

struct ConfigValue {
  std::string name;
  std::string value;       // as it was written, or the default
  bool is_default = true;  // neither command line nor file named it
  friend bool operator==(const ConfigValue&, const ConfigValue&) = default;
};

}  // namespace mooncake

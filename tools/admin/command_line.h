// The command line as a whole: which command, with what; help and mistakes.
#pragma once

#include <string>
#include <vector>

#include "tools/admin/arguments.h"

namespace mooncake::admin {

struct ParsedLine {
  // Set when there is nothing to run: help or version (kOk, text for stdout) or a mistake (kUsage, text for stderr).
  ExitStatus status = ExitStatus::kOk;
  std::string text;
  Invocation invocation;  // run is set otherwise
};

// `arguments` without the program's name.
ParsedLine ParseLine(const std::vector<std::string>& arguments);

// The whole program but for the process: parses, connects, runs.
ExitStatus RunLine(const std::vector<std::string>& arguments, const Environment& environment,
                   Console console, const Connector& connector, const Clock& clock);

}  // namespace mooncake::admin

// The command line of mooncake-inspect.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace mooncake::inspect {

// The whole program but for the process. 0: done; 1: something is damaged, or could not be read; 2: the command line is wrong.
int RunLine(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace mooncake::inspect

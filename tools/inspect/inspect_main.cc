// mooncake-inspect: the process around inspect_command.
#include <iostream>
#include <string>
#include <vector>

#include "tools/inspect/inspect_command.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return mooncake::inspect::RunLine(arguments, std::cout, std::cerr);
}

// Where a command writes and asks. A value, so that tests can hand in strings.
#pragma once

#include <iosfwd>

namespace mooncake::admin {

struct Console {
  std::ostream& out;
  std::ostream& err;
  std::istream& in;
  bool can_ask = false;   // somebody sits at `in` and sees `err`
  bool progress = false;  // `err` is a terminal: progress may be drawn on it
  int width = 0;          // columns of `out` if it is a terminal; 0 = unlimited
  int height = 0;         // its lines; 0 = unlimited
};

}  // namespace mooncake::admin

#include "transfer/base/check.h"

#include <cstdlib>
#include <iostream>

namespace mooncake::internal {

CheckFailure::CheckFailure(const char* file, int line, const char* condition) {
  stream_ << file << ":" << line << ": broken promise: " << condition << " ";
}

CheckFailure::~CheckFailure() {
  std::cerr << stream_.str() << std::endl;
  std::abort();
}

}  // namespace mooncake::internal

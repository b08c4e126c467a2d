// Where `get` writes: stdout, or a file that appears whole or not at all.
#pragma once

#include <memory>
#include <string>

#include "transfer/base/byte_span.h"
#include "transfer/base/result.h"

namespace mooncake::admin {

// Thread-compatible.
class ValueSink {
 public:
  virtual ~ValueSink() = default;  // without Commit: nothing is left behind
  virtual Status Write(ByteSpan bytes) = 0;
  // The value is complete.
  virtual Status Commit() = 0;
};

// "-": stdout, `descriptor`. A regular file, or one to be: written beside it under another name, in place after Commit. Anything
// else (device, pipe) is written directly. kInternal with the system's words otherwise.
Result<std::unique_ptr<ValueSink>> OpenSink(const std::string& path, int descriptor);

}  // namespace mooncake::admin

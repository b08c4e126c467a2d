// What `put` reads: a file, mapped, or everything from a pipe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transfer/base/byte_span.h"
#include "transfer/base/result.h"

namespace mooncake::admin {

// Bytes to be put, as parts in order.
class ValueSource {
 public:
  virtual ~ValueSource() = default;
  virtual std::vector<ByteSpan> parts() const = 0;
  virtual uint64_t size() const = 0;
  // kInvalidRead: the file changed since it was opened, so what was sent may be a mix.
  virtual Status CheckUnchanged() const = 0;
};

// "-": `descriptor` to its end. kInvalidRead with the system's words; kBufferOverflow: a pipe gave more than `memory_limit`.
Result<std::unique_ptr<ValueSource>> OpenSource(const std::string& path, int descriptor,
                                                uint64_t memory_limit);

}  // namespace mooncake::admin

// Turns the caller's buffers and the extents of a put into slices that carry data, padding and seal.
#pragma once

#include <deque>
#include <span>
#include <vector>

#include "client/core/put_session.h"
#include "transfer/base/byte_span.h"
#include "transfer/base/seal.h"
#include "transfer/transport/transport.h"

namespace mooncake::internal {

// A node gives a write request 20 s at most, so requests are kept this short.
inline constexpr uint64_t kMaxWriteSliceBytes = 16 * uint64_t{1024} * 1024;

// Owns the seals of the slices it makes; must live until they are settled. Thread-compatible.
class WriteSlices {
 public:
  WriteSlices(WriteGrant grant, bool checksum) : grant_(grant), checksum_(checksum) {}

  // The slices of one extent; `parts` is the whole object.
  std::vector<Slice> Make(const PutWrite& write, std::span<const ByteSpan> parts);

 private:
  const WriteGrant grant_;
  const bool checksum_;
  std::deque<SealBytes> seals_;  // stable addresses
};

}  // namespace mooncake::internal

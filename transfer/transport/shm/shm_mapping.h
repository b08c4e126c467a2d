// A segment's region mapped read-only into this process, with the checks that make reading in place safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "transfer/base/byte_span.h"
#include "transfer/base/ids.h"
#include "transfer/base/result.h"
#include "transfer/base/unique_fd.h"
#include "transfer/transport/shm/region_header.h"

namespace mooncake {

// Immutable but for what the node writes. Thread-safe. The destructor gives the memory back; if a view was handed out, zeros stay
// mapped in its place, so that who kept it too long reads nothing of anybody else's and does not crash.
class ShmMapping {
 public:
  // `fd` as the node handed it over. kNotSupported: it is no region of `segment` that can be trusted (wrong header, or a file
  // that its owner could shrink under a reader); the message says what.
  static Result<std::unique_ptr<ShmMapping>> Create(const UniqueFd& fd, uint64_t region_bytes,
                                                    const SegmentId& segment);
  ~ShmMapping();
  ShmMapping(const ShmMapping&) = delete;
  ShmMapping& operator=(const ShmMapping&) = delete;

  // kInvalidVersion: the region serves another epoch, so that what was read so far is void. Call it before the
  // first byte and after the last.
  Status CheckEpoch(AccessEpoch epoch) const;
  // kInvalidParams: outside of the data.
  Result<ByteSpan> Range(uint64_t offset, uint64_t length) const;

  // Bytes of it are looked at by somebody we know nothing more of.
  void MarkViewed() const { viewed_.store(true, std::memory_order_relaxed); }

 private:
  ShmMapping(const std::byte* base, uint64_t bytes) : base_(base), bytes_(bytes) {}
  const RegionHeader& header() const { return *reinterpret_cast<const RegionHeader*>(base_); }

  const std::byte* const base_;
  const uint64_t bytes_;
  // Copies taken at the start: the node's page is not trusted twice.
  SegmentId segment_;
  uint64_t data_offset_ = 0;
  uint64_t data_size_ = 0;
  mutable std::atomic<bool> viewed_{
      false};  // read by the destructor, which others have to be done before anyway
};

}  // namespace mooncake

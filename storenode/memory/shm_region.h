// The memory that a node lends: an anonymous file in memory (memfd) with a header page, mapped here, and handed to clients of
// the same host, who map it read-only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "transfer/base/byte_span.h"
#include "transfer/base/ids.h"
#include "transfer/base/result.h"
#include "transfer/transport/shm/region_header.h"

namespace mooncake {

struct ShmRegionOptions {
  std::string name;  // shown in /proc/PID/maps
  SegmentId segment;
  uint64_t data_size = 0;   // kMinRegionBytes to kMaxRegionBytes
  AccessEpoch epoch{1};     // > 0
  bool huge_pages = false;  // from the pool of huge pages; fail rather than do without
  bool prefault = false;    // touch all pages in Create
  // While prefaulting, every 64 MiB: bytes done. False stops it, and Create fails with kUnavailableInCurrentStatus.
  std::function<bool(uint64_t done)> progress;
};

inline constexpr uint64_t kMinRegionBytes = 1024;
inline constexpr uint64_t kMaxRegionBytes = uint64_t{1} << 46;

// Fixed after Create but for the epoch. The destructor unmaps and frees in pieces, so that giving back hundreds of
// gigabytes does not stall the machine (F104); readers elsewhere that still map it see the closed epoch, then zeros.
class ShmRegion {
 public:
  // kInvalidParams: size or epoch. kNoAvailableHandle: the memory cannot be had; the message says what would help.
  static Result<std::unique_ptr<ShmRegion>> Create(const ShmRegionOptions& options);
  ~ShmRegion();
  ShmRegion(const ShmRegion&) = delete;
  ShmRegion& operator=(const ShmRegion&) = delete;

  int fd() const { return fd_; }
  RegionHeader& header() const { return *static_cast<RegionHeader*>(base_); }
  MutableByteSpan data() const {
    return {static_cast<std::byte*>(base_) + header_size_, static_cast<size_t>(data_size_)};
  }
  uint64_t mapped_size() const { return mapped_size_; }
  // True if the pages are huge for certain. Without, the kernel was asked for them, which is only a wish.
  bool huge_pages() const { return huge_pages_; }

 private:
  ShmRegion() = default;
  Status Open(const ShmRegionOptions& options);
  Status Prefault(const ShmRegionOptions& options);

  int fd_ = -1;
  void* base_ = nullptr;  // null until mapped
  uint64_t header_size_ = 0;
  uint64_t data_size_ = 0;
  uint64_t mapped_size_ = 0;
  bool huge_pages_ = false;
};

}  // namespace mooncake

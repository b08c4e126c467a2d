#include "transfer/transport/shm/shm_mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace mooncake {
namespace {

Status Unfit(const SegmentId& segment, const std::string& what) {
  return Status(ErrorCode::kNotSupported, "region of segment " + segment.ToString() + ": " + what);
}

}  // namespace

Result<std::unique_ptr<ShmMapping>> ShmMapping::Create(const UniqueFd& fd, uint64_t region_bytes,
                                                       const SegmentId& segment) {
  struct stat file {};
  if (::fstat(fd.get(), &file) != 0)
    return Unfit(segment, std::string("fstat: ") + std::strerror(errno));
  if (region_bytes < kRegionHeaderBytes || static_cast<uint64_t>(file.st_size) < region_bytes) {
    return Unfit(segment, "says " + std::to_string(region_bytes) + " bytes, its file has " +
                              std::to_string(file.st_size));
  }
  // Without the seal a shrinking file would kill the reader with SIGBUS.
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
    return Unfit(segment, "its file is not sealed against shrinking");
  void* base = ::mmap(nullptr, region_bytes, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (base == MAP_FAILED) return Unfit(segment, std::string("mmap: ") + std::strerror(errno));
  std::unique_ptr<ShmMapping> mapping(
      new ShmMapping(static_cast<const std::byte*>(base), region_bytes));
  const RegionHeader& header = mapping->header();
  mapping->segment_ = header.segment();
  mapping->data_offset_ = header.data_offset;
  mapping->data_size_ = header.data_size;
  if (header.magic != kRegionMagic || header.version != kRegionVersion ||
      mapping->segment_ != segment) {
    return Unfit(segment,
                 "header of another kind or segment (" + mapping->segment_.ToString() + ")");
  }
  const uint64_t offset = mapping->data_offset_;
  if (offset < sizeof(RegionHeader) || offset > region_bytes ||
      mapping->data_size_ > region_bytes - offset) {
    return Unfit(segment, "data of " + std::to_string(mapping->data_size_) + " bytes at " +
                              std::to_string(offset) + " does not fit into " +
                              std::to_string(region_bytes));
  }
  return mapping;
}

ShmMapping::~ShmMapping() {
  void* base = const_cast<std::byte*>(base_);
  constexpr int kZeros = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  if (viewed_.load(std::memory_order_relaxed) &&
      ::mmap(base, bytes_, PROT_READ, kZeros, -1, 0) != MAP_FAILED)
    return;
  (void)::munmap(base, bytes_);
}

Status ShmMapping::CheckEpoch(AccessEpoch epoch) const {
  // After a copy: the fence keeps its loads before that of the word, which pairs with the release store of
  // ServedSegments::SetEpoch. Bytes of a later epoch are written after that store, so who saw one sees the new word.
  std::atomic_thread_fence(std::memory_order_acquire);
  const uint64_t current = header().epoch.load(std::memory_order_acquire);
  if (current == epoch.value && current != kRegionClosedEpoch) return Status::Ok();
  return Status(ErrorCode::kInvalidVersion,
                "segment " + segment_.ToString() + ": epoch " + std::to_string(epoch.value) +
                    " asked, the region serves " + std::to_string(current));
}

Result<ByteSpan> ShmMapping::Range(uint64_t offset, uint64_t length) const {
  if (offset <= data_size_ && length <= data_size_ - offset) {
    return ByteSpan(base_ + data_offset_ + offset, length);
  }
  return Status(ErrorCode::kInvalidParams,
                "segment " + segment_.ToString() + ": " + std::to_string(length) + " bytes at " +
                    std::to_string(offset) + " are outside its " + std::to_string(data_size_));
}

}  // namespace mooncake

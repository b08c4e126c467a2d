#include "storenode/memory/shm_region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <system_error>

#include "transfer/base/units.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE \
  23  // Linux 5.14; absent from the C library of Debian 12's first releases
#endif

namespace mooncake {
namespace {

constexpr uint64_t kPageBytes = 4 * kKiB;
constexpr uint64_t kHugePageBytes = 2 * kMiB;
constexpr uint64_t kPrefaultStep = 64 * kMiB;
constexpr uint64_t kFreeStep = 256 * kMiB;

uint64_t RoundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

std::string ErrnoText(int error) { return std::generic_category().message(error); }

// "3 free of 10", from the kernel's own table; empty if that cannot be read.
std::string HugePagePool() {
  const auto read_number = [](const char* name) -> long {
    const std::string path = std::string("/sys/kernel/mm/hugepages/hugepages-2048kB/") + name;
    std::FILE* file = std::fopen(path.c_str(), "re");
    if (file == nullptr) return -1;
    long value = -1;
    if (std::fscanf(file, "%ld", &value) != 1) value = -1;
    std::fclose(file);
    return value;
  };
  const long total = read_number("nr_hugepages");
  const long free = read_number("free_hugepages");
  if (total < 0 || free < 0) return "the kernel has no 2 MiB pages";
  return std::to_string(free) + " of " + std::to_string(total) + " huge pages are free";
}

Status NoHugePages(uint64_t bytes, int error) {
  const uint64_t pages = bytes / kHugePageBytes;
  return Status(ErrorCode::kNoAvailableHandle,
                std::to_string(pages) + " huge pages of 2 MiB wanted, " + HugePagePool() + " (" +
                    ErrnoText(error) +
                    "); reserve them with `sysctl vm.nr_hugepages=N` or do without huge pages");
}

// Memory and swap of this machine: a region beyond that would only be found out by the process being killed while it fills.
Status CheckMachine(uint64_t bytes) {
  struct sysinfo info {};
  if (sysinfo(&info) != 0) return Status::Ok();
  const uint64_t most = (uint64_t{info.totalram} + info.totalswap) * info.mem_unit;
  if (bytes <= most) return Status::Ok();
  return Status(ErrorCode::kNoAvailableHandle, FormatSize(bytes) +
                                                   " of shared memory wanted, this machine has " +
                                                   FormatSize(most) + "; use a smaller segment");
}

Status NoMemory(uint64_t bytes, const char* call, int error) {
  return Status(ErrorCode::kNoAvailableHandle,
                FormatSize(bytes) + " of shared memory wanted: " + call + ": " + ErrnoText(error) +
                    "; use a smaller segment or free memory");
}

Status CheckOptions(const ShmRegionOptions& options) {
  if (options.data_size < kMinRegionBytes || options.data_size > kMaxRegionBytes) {
    return Status(ErrorCode::kInvalidParams,
                  "segment size " + std::to_string(options.data_size) + ": must be between " +
                      FormatSize(kMinRegionBytes) + " and " + FormatSize(kMaxRegionBytes));
  }
  if (options.epoch.value == kRegionClosedEpoch) {
    return Status(ErrorCode::kInvalidParams,
                  "access epoch 0 means a closed region; start with 1 or more");
  }
  return Status::Ok();
}

}  // namespace

Result<std::unique_ptr<ShmRegion>> ShmRegion::Create(const ShmRegionOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  std::unique_ptr<ShmRegion> region(new ShmRegion);
  RETURN_IF_ERROR(region->Open(options));
  if (options.prefault) RETURN_IF_ERROR(region->Prefault(options));
  RegionHeader* header = new (region->base_) RegionHeader;
  header->segment_high = options.segment.high;
  header->segment_low = options.segment.low;
  header->data_offset = region->header_size_;
  header->data_size = region->data_size_;
  header->epoch.store(options.epoch.value, std::memory_order_release);
  return region;
}

Status ShmRegion::Open(const ShmRegionOptions& options) {
  const uint64_t page = options.huge_pages ? kHugePageBytes : kPageBytes;
  // With huge pages the header takes one of them, so that the data is aligned to them.
  header_size_ = RoundUp(kRegionHeaderBytes, page);
  data_size_ = options.data_size;
  mapped_size_ = header_size_ + RoundUp(data_size_, page);
  huge_pages_ = options.huge_pages;

  // The pool of huge pages is a limit of its own.
  if (!huge_pages_) RETURN_IF_ERROR(CheckMachine(mapped_size_));
  const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING | (huge_pages_ ? MFD_HUGETLB : 0u);
  fd_ = memfd_create(("mooncake-" + options.name).substr(0, 200).c_str(), flags);
  if (fd_ < 0)
    return huge_pages_ ? NoHugePages(mapped_size_, errno)
                       : NoMemory(mapped_size_, "memfd_create", errno);
  if (ftruncate(fd_, static_cast<off_t>(mapped_size_)) != 0)
    return NoMemory(mapped_size_, "ftruncate", errno);
  // A client that holds the descriptor must not be able to cut the file under our feet: that would be SIGBUS here.
  if (fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return NoMemory(mapped_size_, "fcntl(F_ADD_SEALS)", errno);
  }
  void* base = mmap(nullptr, mapped_size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (base == MAP_FAILED)
    return huge_pages_ ? NoHugePages(mapped_size_, errno) : NoMemory(mapped_size_, "mmap", errno);
  base_ = base;
  // Wishes: a cached gigabyte has no place in a core dump, and transparent huge pages save page faults.
  (void)madvise(base_, mapped_size_, MADV_DONTDUMP);
  if (!huge_pages_) (void)madvise(base_, mapped_size_, MADV_HUGEPAGE);
  return Status::Ok();
}

Status ShmRegion::Prefault(const ShmRegionOptions& options) {
  auto* bytes = static_cast<std::byte*>(base_);
  for (uint64_t done = 0; done < mapped_size_;) {
    const uint64_t step = std::min(kPrefaultStep, mapped_size_ - done);
    if (madvise(bytes + done, step, MADV_POPULATE_WRITE) != 0) {
      if (errno == EINTR) continue;
      if (errno != EINVAL) return NoMemory(mapped_size_, "madvise(MADV_POPULATE_WRITE)", errno);
      std::memset(bytes + done, 0,
                  step);  // an older kernel; the file is new, so zeros change nothing
    }
    done += step;
    if (options.progress && !options.progress(std::min(done, data_size_))) {
      return Status(ErrorCode::kUnavailableInCurrentStatus, "stopped after " + FormatSize(done) +
                                                                " of " + FormatSize(mapped_size_) +
                                                                " were touched");
    }
  }
  return Status::Ok();
}

ShmRegion::~ShmRegion() {
  if (base_ != nullptr) {
    header().epoch.store(kRegionClosedEpoch, std::memory_order_release);
    for (uint64_t done = header_size_; done < mapped_size_; done += kFreeStep) {
      const uint64_t step = std::min(kFreeStep, mapped_size_ - done);
      if (fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(done),
                    static_cast<off_t>(step)) != 0) {
        break;  // munmap frees it all the same, if in one go
      }
    }
    (void)munmap(base_, mapped_size_);
  }
  if (fd_ >= 0) (void)close(fd_);
}

}  // namespace mooncake

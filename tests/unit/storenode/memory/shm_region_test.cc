#include "storenode/memory/shm_region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include <gtest/gtest.h>

#include "transfer/base/units.h"

namespace mooncake {
namespace {

ShmRegionOptions Options(uint64_t size) {
  return {.name = "test", .segment = {1, 2}, .data_size = size};
}

std::unique_ptr<ShmRegion> Make(const ShmRegionOptions& options) {
  auto region = ShmRegion::Create(options);
  EXPECT_TRUE(region.ok()) << region.status();
  return region.ok() ? std::move(*region) : nullptr;
}

TEST(ShmRegion, DescribesItselfInItsFirstPage) {
  const auto region = Make(Options(1 * kMiB + 5));
  ASSERT_NE(region, nullptr);
  const RegionHeader& header = region->header();
  EXPECT_EQ(header.magic, kRegionMagic);
  EXPECT_EQ(header.version, kRegionVersion);
  EXPECT_EQ(header.segment(), (SegmentId{1, 2}));
  EXPECT_EQ(header.epoch.load(), 1u);
  EXPECT_EQ(header.data_size, 1 * kMiB + 5);
  EXPECT_EQ(region->data().size(), 1 * kMiB + 5);
  EXPECT_EQ(region->data().data(),
            reinterpret_cast<const std::byte*>(&header) + header.data_offset);
}

TEST(ShmRegion, AnotherMappingSeesTheBytes) {
  const auto region = Make(Options(64 * kKiB));
  ASSERT_NE(region, nullptr);
  void* other = mmap(nullptr, region->mapped_size(), PROT_READ, MAP_SHARED, region->fd(), 0);
  ASSERT_NE(other, MAP_FAILED);
  std::memcpy(region->data().data(), "hello", 5);
  EXPECT_EQ(std::memcmp(static_cast<char*>(other) + region->header().data_offset, "hello", 5), 0);
  munmap(other, region->mapped_size());
}

TEST(ShmRegion, CannotBeCutOrGrown) {
  const auto region = Make(Options(64 * kKiB));
  ASSERT_NE(region, nullptr);
  EXPECT_NE(ftruncate(region->fd(), 0), 0);
  EXPECT_NE(ftruncate(region->fd(), static_cast<off_t>(1 * kMiB)), 0);
  EXPECT_NE(fcntl(region->fd(), F_ADD_SEALS, F_SEAL_WRITE),
            0);  // nor can a client make it read-only for us
}

TEST(ShmRegion, SizesOutOfBoundsAreRefused) {
  for (const uint64_t size : {uint64_t{0}, kMinRegionBytes - 1, kMaxRegionBytes + 1, UINT64_MAX}) {
    EXPECT_EQ(ShmRegion::Create(Options(size)).code(), ErrorCode::kInvalidParams) << size;
  }
  EXPECT_NE(Make(Options(kMinRegionBytes)), nullptr);
  ShmRegionOptions closed = Options(64 * kKiB);
  closed.epoch = AccessEpoch{0};
  EXPECT_EQ(ShmRegion::Create(closed).code(), ErrorCode::kInvalidParams);
}

TEST(ShmRegion, MoreThanThisMachineHasIsRefusedWithTheCure) {
  const auto region = ShmRegion::Create({.name = "t", .data_size = kMaxRegionBytes});
  ASSERT_EQ(region.status().code(), ErrorCode::kNoAvailableHandle);
  EXPECT_NE(region.message().find("use a smaller segment"), std::string::npos) << region.message();
}

TEST(ShmRegion, PrefaultTakesAllPagesAndReportsProgress) {
  ShmRegionOptions options = Options(3 * kMiB);
  options.prefault = true;
  uint64_t reported = 0;
  options.progress = [&](uint64_t done) {
    reported = done;
    return true;
  };
  const auto region = Make(options);
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(reported, 3 * kMiB);
  struct stat info {};
  ASSERT_EQ(fstat(region->fd(), &info), 0);
  EXPECT_GE(static_cast<uint64_t>(info.st_blocks) * 512, 3 * kMiB);
}

TEST(ShmRegion, PrefaultCanBeStopped) {
  ShmRegionOptions options = Options(3 * kMiB);
  options.prefault = true;
  options.progress = [](uint64_t) { return false; };
  EXPECT_EQ(ShmRegion::Create(options).code(), ErrorCode::kUnavailableInCurrentStatus);
}

TEST(ShmRegion, HugePagesAreHadOrRefusedWithTheCure) {
  ShmRegionOptions options = Options(1 * kTiB);
  options.huge_pages = true;
  const auto region = ShmRegion::Create(options);
  ASSERT_EQ(region.code(), ErrorCode::kNoAvailableHandle);
  EXPECT_NE(region.message().find("vm.nr_hugepages"), std::string::npos) << region.message();
}

TEST(ShmRegion, AMappingThatOutlivesTheRegionSeesItClosed) {
  auto region = Make(Options(64 * kKiB));
  ASSERT_NE(region, nullptr);
  const size_t size = region->mapped_size();
  void* other = mmap(nullptr, size, PROT_READ, MAP_SHARED, region->fd(), 0);
  ASSERT_NE(other, MAP_FAILED);
  region.reset();
  EXPECT_EQ(static_cast<RegionHeader*>(other)->epoch.load(), kRegionClosedEpoch);
  munmap(other, size);
}

}  // namespace
}  // namespace mooncake

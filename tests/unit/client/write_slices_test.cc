#include "client/write_slices.h"

#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "transfer/base/crc32c.h"

namespace mooncake::internal {
namespace {

// A segment as a node would fill it.
std::string Apply(const std::vector<Slice>& slices, size_t size) {
  std::string memory(size, '?');
  for (const Slice& slice : slices) {
    uint64_t offset = slice.offset;
    for (const MutableByteSpan& buffer : slice.buffers) {
      if (!buffer.empty()) std::memcpy(memory.data() + offset, buffer.data(), buffer.size());
      offset += buffer.size();
    }
  }
  return memory;
}

Seal SealIn(const std::string& memory, uint64_t offset) {
  SealBytes bytes;
  std::memcpy(bytes.data(), memory.data() + offset, bytes.size());
  Seal seal;
  EXPECT_TRUE(DecodeSeal(bytes, seal).ok());
  return seal;
}

PutWrite WriteOf(uint64_t offset, uint64_t length, uint64_t object_offset) {
  return {
      .extent = {.segment = {1, 1}, .epoch = AccessEpoch{3}, .offset = offset, .length = length},
      .object_offset = object_offset};
}

TEST(WriteSlices, ASmallExtentIsOneSliceOfDataPaddingAndSeal) {
  WriteSlices maker({.put_id = PutId{7}, .deadline_ms = 99}, false);
  const ByteSpan parts[] = {AsBytes("hello")};
  const std::vector<Slice> slices = maker.Make(WriteOf(128, 5, 0), parts);
  ASSERT_EQ(slices.size(), 1u);
  EXPECT_EQ(slices[0].op, SliceOp::kWrite);
  EXPECT_EQ(slices[0].epoch, AccessEpoch{3});
  EXPECT_EQ(slices[0].grant.put_id, PutId{7});
  EXPECT_EQ(slices[0].length(), ExtentFootprint(5));
  const std::string memory = Apply(slices, 512);
  EXPECT_EQ(memory.substr(128, 5), "hello");
  EXPECT_EQ(memory.substr(133, 59), std::string(59, '\0'));
  EXPECT_EQ(SealIn(memory, 192), (Seal{.put_id = PutId{7}, .length = 5}));
}

TEST(WriteSlices, AnExtentTakesItsShareOfManyParts) {
  const std::string object = "abcdefghijklmnopqrstuvwxyz";
  const ByteSpan parts[] = {AsBytes(object).subspan(0, 3),
                            {},
                            AsBytes(object).subspan(3, 10),
                            AsBytes(object).subspan(13)};
  for (uint64_t from = 0; from < object.size(); ++from) {
    for (uint64_t length = 1; from + length <= object.size(); ++length) {
      WriteSlices maker({.put_id = PutId{7}}, true);
      const std::string memory = Apply(maker.Make(WriteOf(64, length, from), parts), 512);
      ASSERT_EQ(memory.substr(64, length), object.substr(from, length));
      const Seal seal = SealIn(memory, 64 + SealOffset(length));
      ASSERT_TRUE(seal.has_crc);
      ASSERT_EQ(seal.data_crc, Crc32c(AsBytes(object).subspan(from, length)));
    }
  }
}

TEST(WriteSlices, ALongExtentIsCutAndOnlyItsEndCarriesTheSeal) {
  const std::string object(2 * kMaxWriteSliceBytes + 1, 'x');
  WriteSlices maker({.put_id = PutId{7}}, false);
  const ByteSpan parts[] = {AsBytes(object)};
  const std::vector<Slice> slices = maker.Make(WriteOf(0, object.size(), 0), parts);
  ASSERT_EQ(slices.size(), 3u);
  EXPECT_EQ(slices[0].length(), kMaxWriteSliceBytes);
  EXPECT_EQ(slices[2].length(), 1 + 63 + kSealBytes);
}

}  // namespace
}  // namespace mooncake::internal

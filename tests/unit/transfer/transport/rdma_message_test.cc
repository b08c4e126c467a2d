#include <string>

#include <gtest/gtest.h>

#include "transfer/transport/rdma/message.h"

namespace mooncake::rdma {
namespace {

std::string Hex(ByteSpan bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte b : bytes) {
    text += kDigits[static_cast<uint8_t>(b) >> 4];
    text += kDigits[static_cast<uint8_t>(b) & 15];
  }
  return text;
}

Entry SomeEntry(uint64_t seed) {
  return {.segment = {seed, seed + 1},
          .epoch = AccessEpoch{seed + 2},
          .offset = seed + 3,
          .length = seed + 4,
          .grant = {.put_id = PutId{seed + 5}, .deadline_ms = -7}};
}

Reply SomeKeys() {
  return {.op = Op::kKeys,
          .id = 9,
          .codes = {ErrorCode::kOk},
          .host_id = {},
          .endpoint = {},
          .keys = {.base = 0x1000, .size = 25, .chunk_bytes = 10, .keys = {1, 2, 3}}};
}

// A change here breaks clients and nodes of another build: raise the version.
TEST(RdmaMessage, GoldenBytes) {
  const Request request{.op = Op::kFence, .id = 2, .entries = {SomeEntry(16)}};
  EXPECT_EQ(Hex(Encode(request)),
            "4d43524d01050100"
            "0200000000000000"
            "3800000000000000"
            "1000000000000000"
            "1100000000000000"
            "1200000000000000"
            "1300000000000000"
            "1400000000000000"
            "1500000000000000"
            "f9ffffffffffffff");
  const Reply hello{
      .op = Op::kHello, .id = 1, .codes = {ErrorCode::kOk}, .host_id = "ab", .endpoint = "c:1"};
  EXPECT_EQ(Hex(Encode(hello)),
            "4d43524d01810100"
            "0100000000000000"
            "0d00000000000000"
            "00000000"
            "02006162"
            "0300633a31");
  EXPECT_EQ(Hex(Encode(SomeKeys())),
            "4d43524d01820100"
            "0900000000000000"
            "3000000000000000"
            "00000000"
            "0010000000000000"
            "1900000000000000"
            "0a00000000000000"
            "0300000000000000"
            "010000000200000003000000");
}

TEST(RdmaMessage, RequestsComeBackAsTheyWere) {
  Request request{.op = Op::kBeginWrite, .id = 77, .entries = {}};
  for (uint64_t i = 0; i < kMaxEntries; ++i) request.entries.push_back(SomeEntry(i * 1000));
  const std::vector<std::byte> bytes = Encode(request);
  EXPECT_LE(bytes.size(), kMaxMessageBytes);
  const Result<Request> back = DecodeRequest(bytes);
  ASSERT_TRUE(back.ok()) << back.message();
  EXPECT_EQ(back->op, Op::kBeginWrite);
  EXPECT_EQ(back->id, 77u);
  ASSERT_EQ(back->entries.size(), kMaxEntries);
  EXPECT_EQ(back->entries[5].segment, (SegmentId{5000, 5001}));
  EXPECT_EQ(back->entries[5].epoch, AccessEpoch{5002});
  EXPECT_EQ(back->entries[5].length, 5004u);
  EXPECT_EQ(back->entries[5].grant.deadline_ms, -7);
  EXPECT_EQ(CodesOf(*back), kMaxEntries);
}

TEST(RdmaMessage, RepliesComeBackAsTheyWere) {
  const Result<Reply> keys = DecodeReply(Encode(SomeKeys()));
  ASSERT_TRUE(keys.ok()) << keys.message();
  EXPECT_EQ(keys->keys, SomeKeys().keys);
  const Reply refused{.op = Op::kKeys, .id = 3, .codes = {ErrorCode::kInvalidVersion}};
  const Result<Reply> back = DecodeReply(Encode(refused));
  ASSERT_TRUE(back.ok()) << back.message();
  EXPECT_EQ(back->codes.front(), ErrorCode::kInvalidVersion);
  EXPECT_TRUE(back->keys.keys.empty());
}

TEST(RdmaMessage, TheLargestRepliesFitIntoABuffer) {
  Reply keys = SomeKeys();
  keys.keys = {
      .base = 0, .size = kMaxKeys, .chunk_bytes = 1, .keys = std::vector<uint32_t>(kMaxKeys)};
  EXPECT_LE(Encode(keys).size(), kMaxMessageBytes);
  const std::string name(5000, 'x');
  const Reply hello{
      .op = Op::kHello, .id = 1, .codes = {ErrorCode::kOk}, .host_id = name, .endpoint = name};
  EXPECT_LE(Encode(hello).size(), kMaxMessageBytes);
  EXPECT_EQ(DecodeReply(Encode(hello))->host_id.size(), kMaxNameBytes);
}

TEST(RdmaMessage, EveryCutAndEveryTailIsRefused) {
  const std::vector<std::byte> request =
      Encode(Request{.op = Op::kFence, .id = 2, .entries = {SomeEntry(1)}});
  const std::vector<std::byte> reply = Encode(SomeKeys());
  for (size_t size = 0; size < request.size(); ++size) {
    EXPECT_EQ(DecodeRequest(ByteSpan(request).first(size)).code(), ErrorCode::kInvalidParams);
  }
  for (size_t size = 0; size < reply.size(); ++size) {
    EXPECT_EQ(DecodeReply(ByteSpan(reply).first(size)).code(), ErrorCode::kInvalidParams);
  }
  std::vector<std::byte> longer = reply;
  longer.push_back(std::byte{0});
  EXPECT_EQ(DecodeReply(longer).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(DecodeReply(request).code(), ErrorCode::kInvalidParams) << "the wrong direction";
  EXPECT_EQ(DecodeRequest(reply).code(), ErrorCode::kInvalidParams);
}

TEST(RdmaMessage, FieldsOutOfBoundsAreRefused) {
  const auto with = [](std::vector<std::byte> bytes, size_t at, int value) {
    bytes[at] = static_cast<std::byte>(value);
    return bytes;
  };
  const std::vector<std::byte> request = Encode(Request{.op = Op::kHello, .id = 2, .entries = {}});
  ASSERT_TRUE(DecodeRequest(request).ok());
  EXPECT_FALSE(DecodeRequest(with(request, 0, 0)).ok()) << "magic";
  EXPECT_FALSE(DecodeRequest(with(request, 4, 2)).ok()) << "version";
  EXPECT_FALSE(DecodeRequest(with(request, 5, 0)).ok()) << "operation 0";
  EXPECT_FALSE(DecodeRequest(with(request, 5, 7)).ok()) << "operation 7";
  EXPECT_FALSE(DecodeRequest(with(request, 6, 1)).ok()) << "an entry that is not there";
  EXPECT_FALSE(DecodeRequest(with(request, 5, 2)).ok()) << "keys of nothing";
  const std::vector<std::byte> keys = Encode(SomeKeys());
  EXPECT_FALSE(DecodeReply(with(keys, 28 + 16, 0)).ok()) << "chunks of no bytes";
  EXPECT_FALSE(DecodeReply(with(keys, 28 + 8, 31)).ok()) << "more bytes than keys";
  EXPECT_FALSE(DecodeReply(with(keys, 28 + 15, 255)).ok()) << "size of exabytes";
}

}  // namespace
}  // namespace mooncake::rdma

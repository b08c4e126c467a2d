#include <array>
#include <string>

#include <gtest/gtest.h>

#include "transfer/base/rng.h"
#include "transfer/transport/tcp/frame.h"

namespace mooncake::tcp {
namespace {

std::string Hex(ByteSpan bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte b : bytes) {
    text += kDigits[static_cast<int>(b) >> 4];
    text += kDigits[static_cast<int>(b) & 15];
  }
  return text;
}

using HeaderBytes = std::array<std::byte, kHeaderBytes>;

HeaderBytes Encoded(const FrameHeader& header) {
  HeaderBytes bytes;
  EncodeHeader(header, bytes);
  return bytes;
}

// PROTOCOL.md: processes of different builds speak this with each other.
TEST(TcpFrame, GoldenHeader) {
  EXPECT_EQ(Hex(Encoded({.op = Op::kWrite,
                         .reply = false,
                         .count = 3,
                         .request_id = 0x1122334455667788,
                         .payload = 4097})),
            "4d435450"
            "01"
            "03"
            "0300"
            "8877665544332211"
            "0110000000000000"
            "0000000000000000");
  EXPECT_EQ(
      Hex(Encoded({.op = Op::kHello, .reply = true, .count = 1, .request_id = 1, .payload = 0})),
      "4d435450"
      "01"
      "81"
      "0100"
      "0100000000000000"
      "0000000000000000"
      "0000000000000000");
}

TEST(TcpFrame, GoldenEntryAndStatus) {
  std::array<std::byte, kEntryBytes> entry;
  EncodeEntry({.segment = {0x0102030405060708, 0x1112131415161718},
               .epoch = AccessEpoch{5},
               .offset = 0x2000,
               .length = 0x3000,
               .grant = {.put_id = PutId{9}, .deadline_ms = -2}},
              entry);
  EXPECT_EQ(Hex(entry),
            "0807060504030201"
            "1817161514131211"
            "0500000000000000"
            "0020000000000000"
            "0030000000000000"
            "0900000000000000"
            "feffffffffffffff"
            "0000000000000000");
  std::array<std::byte, kReplyStatusBytes> status;
  EncodeReplyStatus(ErrorCode::kInvalidVersion, status);
  EXPECT_EQ(Hex(status),
            "d4feffff"
            "00000000");
}

TEST(TcpFrame, GoldenIdentityAndRegion) {
  EXPECT_EQ(Hex(EncodeIdentity({1, 2, "host", "a:1"})),
            "0100000000000000"
            "0200000000000000"
            "0400"
            "0300"
            "686f7374"
            "613a31");
  std::array<std::byte, kRegionReplyBytes> region;
  EncodeRegionReply({4096}, region);
  EXPECT_EQ(Hex(region),
            "0010000000000000"
            "0000000000000000");
}

TEST(TcpFrame, HeadersAndEntriesRoundTrip) {
  Rng rng(1);
  for (int i = 0; i < 1000; ++i) {
    const FrameHeader header{.op = static_cast<Op>(rng.Between(1, 6)),
                             .reply = rng.Chance(1, 2),
                             .count = static_cast<uint16_t>(rng.Between(1, kMaxEntries)),
                             .request_id = rng.Next(),
                             .payload = rng.Below(kMaxPayload + 1)};
    const HeaderBytes bytes = Encoded(header);
    ASSERT_TRUE(DecodeHeader(bytes).ok());
    EXPECT_EQ(*DecodeHeader(bytes), header);
    const Entry entry{.segment = {rng.Next(), rng.Next()},
                      .epoch = AccessEpoch{rng.Next()},
                      .offset = rng.Next(),
                      .length = rng.Next(),
                      .grant = {PutId{rng.Next()}, static_cast<int64_t>(rng.Next())}};
    std::array<std::byte, kEntryBytes> encoded;
    EncodeEntry(entry, encoded);
    const Entry back = DecodeEntry(encoded);
    EXPECT_EQ(back.segment, entry.segment);
    EXPECT_EQ(back.epoch, entry.epoch);
    EXPECT_EQ(back.offset, entry.offset);
    EXPECT_EQ(back.length, entry.length);
    EXPECT_EQ(back.grant.put_id, entry.grant.put_id);
    EXPECT_EQ(back.grant.deadline_ms, entry.grant.deadline_ms);
  }
}

TEST(TcpFrame, RefusesHeadersOutOfBounds) {
  const FrameHeader good{
      .op = Op::kRead, .reply = false, .count = 1, .request_id = 1, .payload = 0};
  const auto broken = [&](size_t at, uint8_t value) {
    HeaderBytes bytes = Encoded(good);
    bytes[at] = std::byte{value};
    return DecodeHeader(bytes).code();
  };
  EXPECT_EQ(broken(0, 'G'), ErrorCode::kInvalidParams);  // another protocol
  EXPECT_EQ(broken(4, 2), ErrorCode::kInvalidParams);    // version
  EXPECT_EQ(broken(5, 0), ErrorCode::kInvalidParams);    // operation
  EXPECT_EQ(broken(5, 7), ErrorCode::kInvalidParams);
  EXPECT_EQ(broken(5, 0x80), ErrorCode::kInvalidParams);
  EXPECT_EQ(broken(6, 0), ErrorCode::kInvalidParams);   // no entry
  EXPECT_EQ(broken(7, 2), ErrorCode::kInvalidParams);   // 513 entries
  EXPECT_EQ(broken(20, 1), ErrorCode::kInvalidParams);  // 4 GiB of payload
  EXPECT_EQ(broken(31, 1), ErrorCode::kOk) << "reserved bytes are ignored";
}

TEST(TcpFrame, ChecksThatThePayloadIsWhatTheEntriesSay) {
  const auto check = [](Op op, uint64_t payload, std::vector<uint64_t> lengths,
                        bool reply = false) {
    std::vector<Entry> entries(lengths.size());
    for (size_t i = 0; i < lengths.size(); ++i) entries[i].length = lengths[i];
    return CheckRequest({.op = op,
                         .reply = reply,
                         .count = static_cast<uint16_t>(lengths.size()),
                         .request_id = 1,
                         .payload = payload},
                        entries)
        .code();
  };
  EXPECT_EQ(check(Op::kWrite, 30, {10, 20}), ErrorCode::kOk);
  EXPECT_EQ(check(Op::kWrite, 29, {10, 20}), ErrorCode::kInvalidParams);
  EXPECT_EQ(check(Op::kRead, 0, {10, 20}), ErrorCode::kOk);
  EXPECT_EQ(check(Op::kRead, 30, {10, 20}), ErrorCode::kInvalidParams);
  EXPECT_EQ(check(Op::kRead, 0, {kMaxPayload, 1}), ErrorCode::kInvalidParams);
  EXPECT_EQ(check(Op::kRead, 0, {UINT64_MAX, 2}), ErrorCode::kInvalidParams);
  EXPECT_EQ(check(Op::kFence, 0, {UINT64_MAX}), ErrorCode::kOk);
  EXPECT_EQ(check(Op::kFence, 0, {1, 1}), ErrorCode::kInvalidParams);
  EXPECT_EQ(check(Op::kMap, 1, {1}), ErrorCode::kInvalidParams);
  EXPECT_EQ(check(Op::kRead, 0, {1}, /*reply=*/true), ErrorCode::kInvalidParams);
}

TEST(TcpFrame, IdentitiesAreBoundedAndChecked) {
  const Identity identity{1, 2, std::string(5000, 'h'), "e"};
  const Result<Identity> back = DecodeIdentity(EncodeIdentity(identity));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->host_id.size(), kMaxIdentityBytes);
  std::vector<std::byte> bytes = EncodeIdentity({1, 2, "host", "a:1"});
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(DecodeIdentity(ByteSpan(bytes).first(size)).code(), ErrorCode::kInvalidParams)
        << size;
  }
  bytes.push_back(std::byte{0});
  EXPECT_EQ(DecodeIdentity(bytes).code(), ErrorCode::kInvalidParams);
}

}  // namespace
}  // namespace mooncake::tcp

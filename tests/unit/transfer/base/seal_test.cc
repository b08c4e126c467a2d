#include "transfer/base/seal.h"

#include <string>

#include <gtest/gtest.h>

namespace mooncake {
namespace {

std::string Hex(ByteSpan bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::byte b : bytes) {
    text += kDigits[static_cast<int>(b) >> 4];
    text += kDigits[static_cast<int>(b) & 15];
  }
  return text;
}

constexpr Seal kSeal{
    .put_id = PutId{0x1122334455667788}, .length = 4097, .has_crc = true, .data_crc = 0xe3069283};

// The format of transfer/base/README.md: memory of running nodes and files hold these bytes.
TEST(Seal, GoldenBytes) {
  // Magic, version, flags, put id, length, data CRC, superseded and padding, CRC of the seal.
  const std::string expected =
      "4d43534c"
      "0100"
      "0100"
      "8877665544332211"
      "0110000000000000"
      "839206e3" +
      std::string(64, '0') + "2cb0ad9a";
  EXPECT_EQ(Hex(EncodeSeal(kSeal)), expected);
}

TEST(Seal, RoundTrips) {
  for (bool superseded : {false, true}) {
    Seal seal = kSeal;
    seal.superseded = superseded;
    Seal decoded;
    ASSERT_TRUE(DecodeSeal(EncodeSeal(seal), decoded).ok());
    EXPECT_EQ(decoded, seal);
  }
}

TEST(Seal, TheSupersededByteIsOutsideTheCrc) {
  SealBytes bytes = EncodeSeal(kSeal);
  bytes[kSealFlagOffset] = std::byte{1};  // what a node does in place
  Seal decoded;
  ASSERT_TRUE(DecodeSeal(bytes, decoded).ok());
  EXPECT_TRUE(decoded.superseded);
}

TEST(Seal, AnyOtherFlippedBitIsNoSeal) {
  for (size_t i = 0; i < kSealBytes * 8; ++i) {
    if (i / 8 == kSealFlagOffset) continue;
    SealBytes bytes = EncodeSeal(kSeal);
    bytes[i / 8] ^= std::byte(1u << (i % 8));
    Seal decoded;
    EXPECT_EQ(DecodeSeal(bytes, decoded).code(), ErrorCode::kReplicaIsGone) << "bit " << i;
  }
}

TEST(Seal, CheckComparesPutLengthAndFlag) {
  const SealBytes bytes = EncodeSeal(kSeal);
  EXPECT_TRUE(CheckSeal(bytes, kSeal.put_id, 4097).ok());
  EXPECT_EQ(CheckSeal(bytes, PutId{7}, 4097).code(), ErrorCode::kReplicaIsGone);
  EXPECT_EQ(CheckSeal(bytes, kSeal.put_id, 4096).code(), ErrorCode::kReplicaIsGone);
  SealBytes flagged = bytes;
  flagged[kSealFlagOffset] = std::byte{1};
  EXPECT_EQ(CheckSeal(flagged, kSeal.put_id, 4097).code(), ErrorCode::kReplicaIsGone);
  EXPECT_EQ(CheckSeal(SealBytes{}, kSeal.put_id, 4097).code(), ErrorCode::kReplicaIsGone);
}

TEST(Seal, LiesOnTheNextBoundaryBehindTheData) {
  EXPECT_EQ(SealOffset(0), 0u);
  EXPECT_EQ(SealOffset(1), 64u);
  EXPECT_EQ(SealOffset(64), 64u);
  EXPECT_EQ(SealOffset(65), 128u);
  EXPECT_EQ(ExtentFootprint(65), 192u);
}

}  // namespace
}  // namespace mooncake

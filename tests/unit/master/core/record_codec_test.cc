#include "master/core/codec/record_codec.h"

#include <vector>

#include <gtest/gtest.h>

namespace mooncake::core {
namespace {

SegmentDescriptor ADescriptor() {
  SegmentDescriptor segment;
  segment.id = SegmentId{1, 2};
  segment.name = "node-1";
  segment.size = 1 << 20;
  segment.epoch = AccessEpoch{7};
  segment.owner = ClientId{3, 4};
  segment.host_id = "host";
  segment.protocol = "tcp";
  segment.endpoint = "127.0.0.1:1";
  segment.local_socket = "@s";
  return segment;
}

VersionRecord AVersion() {
  VersionRecord version;
  version.tenant = "t";
  version.key = std::string("k\0\xff", 3);
  version.put_id = PutId{5};
  version.size = 3;
  version.created_ms = -1;
  version.extents = {{SegmentId{1, 2}, 64, 3, 0}, {SegmentId{8, 9}, 128, 3, 1}};
  version.replicas_wanted = 2;
  version.hard_pin = true;
  version.group = "g";
  version.attributes = ObjectAttributes{ObjectKind::kSymlink, 0644, 1, 2, 123456789};
  return version;
}

std::vector<Record> OneOfEach() {
  return {AVersion(), NameGoneRecord{"t", "key", PutId{6}}, PrefixRenamedRecord{"t", "a/", "b/"},
          SegmentRecord{ADescriptor()}, SegmentGoneRecord{SegmentId{1, 2}}};
}

std::string Hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    hex += kDigits[static_cast<unsigned char>(c) >> 4];
    hex += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return hex;
}

TEST(RecordCodec, EveryKindComesBackAsItWas) {
  for (const Record& record : OneOfEach()) {
    const auto back = DecodeRecord(EncodeRecord(record));
    ASSERT_TRUE(back.ok()) << back.message();
    EXPECT_EQ(*back, record);
  }
}

TEST(RecordCodec, GoldenBytesOfFormat1) {
  EXPECT_EQ(Hex(EncodeRecord(NameGoneRecord{"t", "key", PutId{6}})),
            "0102"
            "0100000074"
            "030000006b6579"
            "0600000000000000"
            "b3a6dded");
  EXPECT_EQ(Hex(EncodeRecord(AVersion())),
            "01010100000074030000006b00ff05000000000000000300000000000000ffffffffffffffff"
            "02000000"
            "010000000000000002000000000000004000000000000000030000000000000000"
            "080000000000000009000000000000008000000000000000030000000000000001"
            "0201"
            "0100000067"
            "0102a4010000010000000200000015cd5b0700000000"
            "fd19449d");
  EXPECT_EQ(Hex(EncodeRecord(SegmentRecord{ADescriptor()})),
            "01040100000000000000020000000000000006000000"
            "6e6f64652d31"
            "0000100000000000"
            "0700000000000000"
            "03000000000000000400000000000000"
            "04000000686f7374"
            "03000000746370"
            "0b0000003132372e302e302e313a31"
            "020000004073"
            "e12d4c9c");
}

TEST(RecordCodec, EveryChangedByteIsNoticed) {
  for (const Record& record : OneOfEach()) {
    const std::string good = EncodeRecord(record);
    for (size_t i = 0; i < good.size(); ++i) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ 0x20);
      EXPECT_EQ(DecodeRecord(bad).code(), ErrorCode::kPersistentFail) << "byte " << i;
    }
  }
}

TEST(RecordCodec, EveryCutRecordIsNoticed) {
  const std::string good = EncodeRecord(AVersion());
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_EQ(DecodeRecord(good.substr(0, size)).code(), ErrorCode::kPersistentFail) << size;
}

}  // namespace
}  // namespace mooncake::core

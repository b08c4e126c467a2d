// Hostile bytes: what claims to be larger than it is must cost an error, not memory.
#include "master/api/wire_protocol.h"

#include <string>

#include <gtest/gtest.h>
#include <thrift/Thrift.h>

#include "master/api/gen-cpp/MasterRpc.h"
#include "transfer/base/byte_span.h"

namespace mooncake {
namespace {

using std::string_literals::operator""s;
using apache::thrift::TException;

// Field header of a list of structures: type 15, id 2.
const std::string kEntries = "\x0f\x00\x02\x0c"s;

std::string BigEndian(uint32_t value) {
  std::string out(4, '\0');
  for (int i = 0; i < 4; ++i)
    out[static_cast<size_t>(i)] = static_cast<char>(value >> (8 * (3 - i)));
  return out;
}

void Read(const std::string& bytes) {
  wire::InFrame in(AsBytes(bytes));
  thriftgen::BatchPutStartRequest request;
  request.read(in.protocol().get());
}

TEST(BoundedProtocol, ReadsAnEmptyList) { EXPECT_NO_THROW(Read(kEntries + BigEndian(0) + "\0"s)); }

TEST(BoundedProtocol, RefusesAListLongerThanTheBytesLeft) {
  // Thrift's own check takes a structure to be of no bytes at all, and its generated code makes room before it reads.
  EXPECT_THROW(Read(kEntries + BigEndian(0x7fffffff) + "\0"s), TException);
  EXPECT_THROW(Read(kEntries + BigEndian(16000) + "\0"s), TException);
}

TEST(BoundedProtocol, RefusesNegativeSizes) {
  EXPECT_THROW(Read(kEntries + BigEndian(0xffffffff)), TException);
  // Entries of one element whose name's key has a negative length.
  EXPECT_THROW(Read(kEntries + BigEndian(1) + "\x0c\x00\x01\x0b\x00\x01"s + BigEndian(0x80000000)),
               TException);
}

TEST(BoundedProtocol, RefusesMoreElementsThanABatchHas) {
  const std::string many(100000, '\0');  // as many empty structures
  EXPECT_THROW(Read(kEntries + BigEndian(100000) + many), TException);
}

TEST(BoundedProtocol, RefusesAStringLongerThanTheBytesLeft) {
  EXPECT_THROW(
      Read(kEntries + BigEndian(1) + "\x0c\x00\x01\x0b\x00\x01"s + BigEndian(0x03000000) + "abc"),
      TException);
}

TEST(BoundedProtocol, RefusesTruncatedFields) {
  const std::string whole = kEntries + BigEndian(0) + "\0"s;
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(Read(whole.substr(0, length)), TException) << length;
  }
}

TEST(BoundedProtocol, RefusesDeepNestingOfUnknownFields) {
  // Field 99, a structure in a structure in a structure ...
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "\x0c\x00\x63"s;
  EXPECT_THROW(Read(deep), TException);
  // The same with lists of lists.
  std::string lists = "\x0f\x00\x63"s;
  for (int i = 0; i < 100000; ++i) lists += "\x0f"s + BigEndian(1);
  EXPECT_THROW(Read(lists), TException);
}

TEST(BoundedProtocol, RefusesUnknownTypes) {
  EXPECT_THROW(Read("\x7e\x00\x63\x00"s), TException);
  EXPECT_THROW(Read("\x0f\x00\x63\x7e"s + BigEndian(3)), TException);
}

TEST(BoundedProtocol, RefusesTheOldMessageHeader) {
  // Without the version word a name's length is the first thing, and anything passes for one.
  const std::string old_style = BigEndian(4) + "Ping\x01"s + BigEndian(0) + "\0"s;
  wire::InFrame in(AsBytes(old_style));
  std::string name;
  apache::thrift::protocol::TMessageType type{};
  int32_t sequence = 0;
  EXPECT_THROW(in.protocol()->readMessageBegin(name, type, sequence), TException);
}

TEST(OutFrame, KeepsRoomForTheLengthAndCanBeUsedAgain) {
  wire::OutFrame out;
  EXPECT_EQ(out.payload_bytes(), 0u);
  out.protocol()->writeString(std::string("abc"));
  EXPECT_EQ(out.payload_bytes(), 7u);
  EXPECT_EQ(out.bytes().size(), 11u);
  out.Clear();
  EXPECT_EQ(out.payload_bytes(), 0u);
  EXPECT_EQ(out.bytes().size(), 4u);
}

}  // namespace
}  // namespace mooncake

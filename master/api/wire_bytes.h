// Thrift's binary protocol by hand, for the calls where generated code takes too long: no virtual call per field and no structure in
// between. Private to wire_*.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <thrift/protocol/TProtocol.h>

#include "transfer/base/byte_span.h"

namespace mooncake::wire {

inline constexpr uint32_t kVersion1 =
    0x80010000;  // the first word of a message, the kind in its low bits

// Writes to memory that the caller made sure of.
class ByteWriter {
 public:
  using Type = apache::thrift::protocol::TType;

  explicit ByteWriter(std::byte* out) : out_(out) {}
  std::byte* end() const { return out_; }

  void Byte(uint8_t value) { *out_++ = static_cast<std::byte>(value); }
  void U16(uint16_t value) { Put(__builtin_bswap16(value)); }
  void U32(uint32_t value) { Put(__builtin_bswap32(value)); }
  void U64(uint64_t value) { Put(__builtin_bswap64(value)); }
  void Text(std::string_view text) {
    U32(static_cast<uint32_t>(text.size()));
    std::memcpy(out_, text.data(), text.size());
    out_ += text.size();
  }
  void Field(Type type, uint16_t id) {
    Byte(static_cast<uint8_t>(type));
    U16(id);
  }
  void Field32(uint16_t id, int32_t value) {
    Field(apache::thrift::protocol::T_I32, id);
    U32(static_cast<uint32_t>(value));
  }
  void Field64(uint16_t id, int64_t value) {
    Field(apache::thrift::protocol::T_I64, id);
    U64(static_cast<uint64_t>(value));
  }
  void FieldText(uint16_t id, std::string_view text) {
    Field(apache::thrift::protocol::T_STRING, id);
    Text(text);
  }
  void FieldStructs(uint16_t id, size_t count) {
    Field(apache::thrift::protocol::T_LIST, id);
    Byte(apache::thrift::protocol::T_STRUCT);
    U32(static_cast<uint32_t>(count));
  }
  void Stop() { Byte(apache::thrift::protocol::T_STOP); }

 private:
  template <typename T>
  void Put(T value) {
    std::memcpy(out_, &value, sizeof value);
    out_ += sizeof value;
  }
  std::byte* out_;
};

// Reads what has exactly the expected form; after the first thing that has not, ok() is false and everything reads as zero.
class ByteReader {
 public:
  using Type = apache::thrift::protocol::TType;

  explicit ByteReader(ByteSpan bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}
  bool ok() const { return ok_; }
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  void Fail() {
    ok_ = false;
    at_ = end_;
  }
  // False fails the whole.
  void Require(bool condition) {
    if (!condition) Fail();
  }

  uint8_t Byte() { return Get<uint8_t>(); }
  uint16_t U16() { return __builtin_bswap16(Get<uint16_t>()); }
  uint32_t U32() { return __builtin_bswap32(Get<uint32_t>()); }
  uint64_t U64() { return __builtin_bswap64(Get<uint64_t>()); }
  std::string_view Text() {
    const uint32_t size = U32();
    if (size > left()) {
      Fail();
      return {};
    }
    const std::string_view text(reinterpret_cast<const char*>(at_), size);
    at_ += size;
    return text;
  }
  void Field(Type type, uint16_t id) { Require(Byte() == type && U16() == id); }
  // Consumes the head of the field if it comes next.
  bool MaybeField(Type type, uint16_t id) {
    if (left() < 3 || std::to_integer<uint8_t>(*at_) != type) return false;
    Field(type, id);
    return true;
  }
  int32_t Field32(uint16_t id) {
    Field(apache::thrift::protocol::T_I32, id);
    return static_cast<int32_t>(U32());
  }
  int64_t Field64(uint16_t id) {
    Field(apache::thrift::protocol::T_I64, id);
    return static_cast<int64_t>(U64());
  }
  // A list of structures of `least` bytes each or more; 0 if there is no room for what it claims, or more than `limit`.
  size_t FieldStructs(uint16_t id, size_t limit, size_t least) {
    Field(apache::thrift::protocol::T_LIST, id);
    Require(Byte() == apache::thrift::protocol::T_STRUCT);
    const size_t count = U32();
    Require(count <= limit && count <= left() / least);
    return ok_ ? count : 0;
  }
  void Stop() { Require(Byte() == apache::thrift::protocol::T_STOP); }

 private:
  template <typename T>
  T Get() {
    T value{};
    if (left() < sizeof value) {
      Fail();
      return value;
    }
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  const std::byte* at_;
  const std::byte* end_;
  bool ok_ = true;
};

}  // namespace mooncake::wire

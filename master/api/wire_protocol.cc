#include "master/api/wire_protocol.h"

#include <array>
#include <utility>

#include "master/api/wire_bytes.h"
#include "master/api/wire_limits.h"

namespace mooncake::wire {
namespace {

namespace protocol = apache::thrift::protocol;
using apache::thrift::TConfiguration;
using apache::thrift::protocol::TProtocolException;
using apache::thrift::transport::TMemoryBuffer;

constexpr uint32_t kMaxElements = kMaxBatch;
constexpr int kMaxDepth = 16;  // of nested structures; ours need 8

std::shared_ptr<TConfiguration> Limits() {
  static const auto limits = std::make_shared<TConfiguration>(
      static_cast<int>(kMaxFrameBytes), static_cast<int>(kMaxFrameBytes), kMaxDepth);
  return limits;
}

}  // namespace

BoundedProtocol::BoundedProtocol(std::shared_ptr<Memory> memory)
    : TBinaryProtocolT(memory, /*string_limit=*/static_cast<int32_t>(kMaxFrameBytes),
                       /*container_limit=*/static_cast<int32_t>(kMaxElements), /*strict_read=*/true,
                       /*strict_write=*/true),
      memory_(*memory) {}

BoundedProtocol::Type BoundedProtocol::ReadType() {
  int8_t number = 0;
  readByte(number);
  switch (number) {
    case protocol::T_BOOL:
    case protocol::T_BYTE:
    case protocol::T_DOUBLE:
    case protocol::T_I16:
    case protocol::T_I32:
    case protocol::T_I64:
    case protocol::T_STRING:
    case protocol::T_STRUCT:
    case protocol::T_MAP:
    case protocol::T_SET:
    case protocol::T_LIST:
      return static_cast<Type>(number);
    default:
      throw TProtocolException(TProtocolException::INVALID_DATA, "an unknown type of field");
  }
}

uint32_t BoundedProtocol::ReadCount() {
  int32_t count = 0;
  readI32(count);
  if (count < 0) throw TProtocolException(TProtocolException::NEGATIVE_SIZE);
  const auto size = static_cast<uint32_t>(count);
  if (size > kMaxElements) {
    throw TProtocolException(TProtocolException::SIZE_LIMIT, "a container has too many elements");
  }
  if (size > memory_.available_read()) {
    throw TProtocolException(TProtocolException::SIZE_LIMIT,
                             "a container claims more elements than there are bytes");
  }
  return size;
}

uint32_t BoundedProtocol::readMessageBegin_virt(std::string& name, protocol::TMessageType& type,
                                                int32_t& sequence) {
  int32_t word = 0;
  readI32(word);
  const auto bits = static_cast<uint32_t>(word);
  const uint32_t kind = bits & 0xff;
  if ((bits & 0xffff0000) != static_cast<uint32_t>(VERSION_1) || kind < protocol::T_CALL ||
      kind > protocol::T_ONEWAY) {
    throw TProtocolException(TProtocolException::BAD_VERSION,
                             "not a message of the binary protocol, version 1");
  }
  type = static_cast<protocol::TMessageType>(kind);
  const uint32_t bytes = readString(name);
  return 4 + bytes + readI32(sequence);
}

uint32_t BoundedProtocol::readFieldBegin_virt(std::string&, Type& type, int16_t& id) {
  uint32_t available = 1;
  const uint8_t* next = memory_.borrow(nullptr, &available);
  if (next != nullptr && *next == protocol::T_STOP) {
    memory_.consume(1);
    type = protocol::T_STOP;
    id = 0;
    return 1;
  }
  type = ReadType();
  return 1 + readI16(id);
}

uint32_t BoundedProtocol::readListBegin_virt(Type& element, uint32_t& size) {
  element = ReadType();
  size = ReadCount();
  return 5;
}
uint32_t BoundedProtocol::readSetBegin_virt(Type& element, uint32_t& size) {
  return readListBegin_virt(element, size);
}
uint32_t BoundedProtocol::readMapBegin_virt(Type& key, Type& value, uint32_t& size) {
  key = ReadType();
  value = ReadType();
  size = ReadCount();
  return 6;
}

uint32_t BoundedProtocol::skip_virt(Type type) {
  return protocol::skip(static_cast<protocol::TProtocol&>(*this), type);
}

OutFrame::OutFrame()
    : memory_(std::make_shared<TMemoryBuffer>(Limits())),
      protocol_(std::make_shared<BoundedProtocol>(memory_)) {
  Clear();
}

void OutFrame::Clear() {
  static constexpr std::array<uint8_t, kLengthBytes> kRoom{};
  memory_->resetBuffer();
  memory_->write(kRoom.data(), kRoom.size());
}

MutableByteSpan OutFrame::bytes() {
  uint8_t* data = nullptr;
  uint32_t size = 0;
  memory_->getBuffer(&data, &size);
  return {reinterpret_cast<std::byte*>(data), size};
}

std::byte* OutFrame::Room(size_t bytes) {
  room_ = reinterpret_cast<std::byte*>(memory_->getWritePtr(static_cast<uint32_t>(bytes)));
  return room_;
}

void OutFrame::Wrote(const std::byte* end) {
  memory_->wroteBytes(static_cast<uint32_t>(end - room_));
}

size_t OutFrame::payload_bytes() const { return memory_->available_read() - kLengthBytes; }

InFrame::InFrame(ByteSpan payload) {
  // The buffer only reads what it observes.
  auto* data = const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(payload.data()));
  auto memory = std::make_shared<TMemoryBuffer>(data, static_cast<uint32_t>(payload.size()),
                                                TMemoryBuffer::OBSERVE, Limits());
  protocol_ = std::make_shared<BoundedProtocol>(std::move(memory));
}

std::string_view CallIn(ByteSpan payload) {
  ByteReader in(payload);
  in.Require(in.U32() == (kVersion1 | apache::thrift::protocol::T_CALL));
  const std::string_view name = in.Text();
  return in.ok() ? name : std::string_view();
}

}  // namespace mooncake::wire

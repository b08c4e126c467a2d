#include "master/api/wire_protocol.h"

#include <array>
#include <utility>

#include "master/api/wire_limits.h"

namespace mooncake::wire {
namespace {

using apache::thrift::TConfiguration;
using apache::thrift::protocol::TProtocolException;
using apache::thrift::transport::TMemoryBuffer;

constexpr uint32_t kMaxElements = kMaxBatch;
constexpr int kMaxDepth = 16;  // of nested structures; ours need 8
constexpr size_t kLengthBytes = 4;

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

void BoundedProtocol::CheckCount(uint32_t size) const {
  if (size > memory_.available_read()) {
    throw TProtocolException(TProtocolException::SIZE_LIMIT,
                             "a container claims more elements than there are bytes");
  }
}

uint32_t BoundedProtocol::readListBegin_virt(Type& element, uint32_t& size) {
  const uint32_t bytes = TBinaryProtocolT::readListBegin(element, size);
  CheckCount(size);
  return bytes;
}
uint32_t BoundedProtocol::readSetBegin_virt(Type& element, uint32_t& size) {
  const uint32_t bytes = TBinaryProtocolT::readSetBegin(element, size);
  CheckCount(size);
  return bytes;
}
uint32_t BoundedProtocol::readMapBegin_virt(Type& key, Type& value, uint32_t& size) {
  const uint32_t bytes = TBinaryProtocolT::readMapBegin(key, value, size);
  CheckCount(size);
  return bytes;
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

size_t OutFrame::payload_bytes() const { return memory_->available_read() - kLengthBytes; }

InFrame::InFrame(ByteSpan payload) {
  // The buffer only reads what it observes.
  auto* data = const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(payload.data()));
  auto memory = std::make_shared<TMemoryBuffer>(data, static_cast<uint32_t>(payload.size()),
                                                TMemoryBuffer::OBSERVE, Limits());
  protocol_ = std::make_shared<BoundedProtocol>(std::move(memory));
}

}  // namespace mooncake::wire

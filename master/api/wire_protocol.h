// Thrift's binary protocol over one frame in memory, with the bounds that Thrift 0.17 itself lacks. Why they are needed:
// master/api/README.md, "Bounds". Shared by stub, server and fuzz targets.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <thrift/TConfiguration.h>
#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/transport/TBufferTransports.h>

#include "transfer/base/byte_span.h"

namespace mooncake::wire {

// Refuses containers that claim more elements than the frame has bytes left (each element takes at least one), or more than
// kMaxElements. Generated code makes room for all of them before it reads the first.
class BoundedProtocol final
    : public apache::thrift::protocol::TBinaryProtocolT<apache::thrift::transport::TMemoryBuffer> {
 public:
  using Memory = apache::thrift::transport::TMemoryBuffer;
  using Type = apache::thrift::protocol::TType;

  explicit BoundedProtocol(std::shared_ptr<Memory> memory);

  // What generated code calls. These also refuse numbers that are no type; Thrift's own make
  // enumerations of them first.
  uint32_t readMessageBegin_virt(std::string& name, apache::thrift::protocol::TMessageType& type,
                                 int32_t& sequence) override;
  uint32_t readFieldBegin_virt(std::string& name, Type& type, int16_t& id) override;
  uint32_t readListBegin_virt(Type& element, uint32_t& size) override;
  uint32_t readSetBegin_virt(Type& element, uint32_t& size) override;
  uint32_t readMapBegin_virt(Type& key, Type& value, uint32_t& size) override;
  // Passes over an unknown field, by way of the above.
  uint32_t skip_virt(Type type) override;

 private:
  Type ReadType();
  uint32_t ReadCount();

  Memory& memory_;
};

// Room for the frame's length is at the front.
class OutFrame {
 public:
  OutFrame();
  const std::shared_ptr<BoundedProtocol>& protocol() { return protocol_; }
  MutableByteSpan bytes();       // with the four bytes in front
  size_t payload_bytes() const;  // without them
  void Clear();                  // back to an empty frame
  // For who writes without the protocol: room for `bytes` more, and after writing there, where that ended.
  std::byte* Room(size_t bytes);
  void Wrote(const std::byte* end);

 private:
  std::shared_ptr<apache::thrift::transport::TMemoryBuffer> memory_;
  std::shared_ptr<BoundedProtocol> protocol_;
  std::byte* room_ = nullptr;  // what Room gave last
};

// Reads from `payload`, which must outlive it.
class InFrame {
 public:
  explicit InFrame(ByteSpan payload);
  const std::shared_ptr<BoundedProtocol>& protocol() { return protocol_; }

 private:
  std::shared_ptr<BoundedProtocol> protocol_;
};

// The name of the call in a request's payload; "" if there is none in the form that our stubs write.
std::string_view CallIn(ByteSpan payload);

}  // namespace mooncake::wire

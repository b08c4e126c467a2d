// Thrift's binary protocol over one frame in memory, with the bounds that Thrift 0.17 itself lacks. Why they are needed:
// master/api/README.md, "Bounds". Shared by stub, server and fuzz targets.
#pragma once

#include <memory>

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

  // What generated code calls. (Skipping an unknown field does not come here; it makes no room either.)
  uint32_t readListBegin_virt(Type& element, uint32_t& size) override;
  uint32_t readSetBegin_virt(Type& element, uint32_t& size) override;
  uint32_t readMapBegin_virt(Type& key, Type& value, uint32_t& size) override;

 private:
  void CheckCount(uint32_t size) const;

  const Memory& memory_;
};

// Room for the frame's length is at the front.
class OutFrame {
 public:
  OutFrame();
  const std::shared_ptr<BoundedProtocol>& protocol() { return protocol_; }
  MutableByteSpan bytes();       // with the four bytes in front
  size_t payload_bytes() const;  // without them
  void Clear();                  // back to an empty frame

 private:
  std::shared_ptr<apache::thrift::transport::TMemoryBuffer> memory_;
  std::shared_ptr<BoundedProtocol> protocol_;
};

// Reads from `payload`, which must outlive it.
class InFrame {
 public:
  explicit InFrame(ByteSpan payload);
  const std::shared_ptr<BoundedProtocol>& protocol() { return protocol_; }

 private:
  std::shared_ptr<BoundedProtocol> protocol_;
};

}  // namespace mooncake::wire

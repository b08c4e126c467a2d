// Bytes on the wire between a client and a node's data server, over TCP and over Unix sockets. Pure: bytes in, values out.
// Format: PROTOCOL.md; golden bytes: tests/unit/transfer/transport/tcp_frame_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transfer/base/byte_span.h"
#include "transfer/base/ids.h"
#include "transfer/base/result.h"

namespace mooncake::tcp {

inline constexpr size_t kHeaderBytes = 32;
inline constexpr size_t kEntryBytes = 64;
inline constexpr size_t kReplyStatusBytes = 8;
inline constexpr size_t kMaxEntries = 256;                   // of a frame
inline constexpr uint64_t kMaxPayload = uint64_t{16} << 20;  // of a frame, either direction
inline constexpr size_t kMaxIdentityBytes = 1024;            // host id or endpoint

enum class Op : uint8_t {
  kHello = 1,  // first on every stream; also the probe of an idle one
  kRead = 2,
  kWrite = 3,
  kFence = 4,
  kSupersede = 5,
  kMap = 6,  // Unix sockets only: hands over the region of a segment
};

struct FrameHeader {
  Op op = Op::kHello;
  bool reply = false;
  uint16_t count = 1;  // entries of a request, statuses of a reply: 1 to kMaxEntries
  uint64_t request_id = 0;
  uint64_t payload = 0;  // bytes behind the entries or statuses
  friend bool operator==(const FrameHeader&, const FrameHeader&) = default;
};

// Operand of a request. kHello: `segment` is the id of the client's session. kFence: `length` is how many
// milliseconds the node may wait. kSupersede: `offset` is that of the seal.
struct Entry {
  SegmentId segment;
  AccessEpoch epoch;
  uint64_t offset = 0;
  uint64_t length = 0;
  WriteGrant grant;
};

// Who answers: the payload of a kHello reply.
struct Identity {
  uint64_t instance_high = 0;  // random at each start of a server
  uint64_t instance_low = 0;
  std::string host_id;
  std::string endpoint;
  friend bool operator==(const Identity&, const Identity&) = default;
};

// Payload of a kMap reply; the descriptor rides beside it.
struct RegionReply {
  uint64_t bytes = 0;
};
inline constexpr size_t kRegionReplyBytes = 16;

void EncodeHeader(const FrameHeader& header, std::span<std::byte, kHeaderBytes> out);
void EncodeEntry(const Entry& entry, std::span<std::byte, kEntryBytes> out);
void EncodeReplyStatus(ErrorCode code, std::span<std::byte, kReplyStatusBytes> out);
// Host id and endpoint are cut at kMaxIdentityBytes.
std::vector<std::byte> EncodeIdentity(const Identity& identity);
void EncodeRegionReply(const RegionReply& reply, std::span<std::byte, kRegionReplyBytes> out);

// kInvalidParams: not our protocol, another version, an unknown op, or a count or payload out of bounds. The
// stream has no further meaning then: close it.
Result<FrameHeader> DecodeHeader(std::span<const std::byte, kHeaderBytes> bytes);
Entry DecodeEntry(std::span<const std::byte, kEntryBytes> bytes);
ErrorCode DecodeReplyStatus(std::span<const std::byte, kReplyStatusBytes> bytes);
Result<Identity> DecodeIdentity(ByteSpan bytes);
RegionReply DecodeRegionReply(std::span<const std::byte, kRegionReplyBytes> bytes);

// Checks that a request's payload is what its entries announce, and that no sum overflows. kInvalidParams.
Status CheckRequest(const FrameHeader& header, std::span<const Entry> entries);

std::string_view OpName(Op op);

}  // namespace mooncake::tcp

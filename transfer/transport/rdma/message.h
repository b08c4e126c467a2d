// What client and node say to each other beside the one-sided transfers: SENDs on the same queue pair, one request at a time.
// Pure: bytes in, values out. Format: PROTOCOL.md; golden bytes: tests/unit/transfer/transport/rdma_message_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "transfer/base/byte_span.h"
#include "transfer/base/ids.h"
#include "transfer/base/result.h"

namespace mooncake::rdma {

inline constexpr size_t kMessageHeaderBytes = 24;
inline constexpr size_t kEntryBytes = 56;
inline constexpr size_t kCodeBytes = 4;
inline constexpr size_t kMaxEntries = 256;             // of a request
inline constexpr size_t kMaxMessageBytes = 16 * 1024;  // room of each side's buffer
inline constexpr size_t kMaxKeys = 3072;               // chunks of a segment
inline constexpr size_t kMaxNameBytes = 1024;          // host id or endpoint

enum class Op : uint8_t {
  kHello = 1,  // who are you
  kKeys = 2,   // one entry: where the segment lies and its keys in the entry's epoch
  kBeginWrite =
      3,  // may I write these ranges; the node holds them for this queue pair until kEndWrite
  kEndWrite = 4,   // no entries: all of it has been written
  kFence = 5,      // one entry; `length` is how many milliseconds the node may wait
  kSupersede = 6,  // one entry; `offset` is that of the seal
};

struct Entry {
  SegmentId segment;
  AccessEpoch epoch;
  uint64_t offset = 0;
  uint64_t length = 0;
  WriteGrant grant;
};

struct Request {
  Op op = Op::kHello;
  uint64_t id = 0;
  std::vector<Entry> entries;
};

// Where a segment lies in the node's address space, for the requests that name its addresses. Chunk i has keys[i].
struct SegmentKeys {
  uint64_t base = 0;
  uint64_t size = 0;
  uint64_t chunk_bytes = 0;
  std::vector<uint32_t> keys;
  friend bool operator==(const SegmentKeys&, const SegmentKeys&) = default;
};

struct Reply {
  Op op = Op::kHello;
  uint64_t id = 0;
  std::vector<ErrorCode> codes;  // one for each entry; one for kHello and kEndWrite
  std::string host_id;           // kHello
  std::string endpoint;          // kHello
  SegmentKeys keys;              // kKeys with kOk
};

// Codes that the reply to `request` has.
size_t CodesOf(const Request& request);

// Names are cut at kMaxNameBytes. At most kMaxEntries and kMaxKeys, which the caller sees to.
std::vector<std::byte> Encode(const Request& request);
std::vector<std::byte> Encode(const Reply& reply);

// kInvalidParams: not our protocol, another version, or lengths that don't fit. Close the queue pair then.
Result<Request> DecodeRequest(ByteSpan bytes);
Result<Reply> DecodeReply(ByteSpan bytes);

}  // namespace mooncake::rdma

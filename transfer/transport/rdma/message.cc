#include "transfer/transport/rdma/message.h"

#include <algorithm>
#include <cstring>

namespace mooncake::rdma {
namespace {

// Little endian throughout; our machines are.
constexpr uint32_t kMagic = 0x4d52434d;  // "MCRM"
constexpr uint8_t kVersion = 1;
constexpr uint8_t kReplyBit = 0x80;

struct Header {
  uint8_t op = 0;
  uint16_t count = 0;
  uint64_t id = 0;
  uint64_t body = 0;
};

template <typename T>
void Put(std::vector<std::byte>& out, T value) {
  const size_t at = out.size();
  out.resize(at + sizeof(value));
  std::memcpy(out.data() + at, &value, sizeof(value));
}

template <typename T>
T Take(ByteSpan& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  bytes = bytes.subspan(sizeof(value));
  return value;
}

Status Bad(const std::string& what) {
  return Status(ErrorCode::kInvalidParams, "rdma message: " + what);
}

std::vector<std::byte> WithHeader(const Header& header, const std::vector<std::byte>& body) {
  std::vector<std::byte> out;
  out.reserve(kMessageHeaderBytes + body.size());
  Put(out, kMagic);
  Put(out, kVersion);
  Put(out, header.op);
  Put(out, header.count);
  Put(out, header.id);
  Put(out, static_cast<uint64_t>(body.size()));
  out.insert(out.end(), body.begin(), body.end());
  return out;
}

Result<Header> TakeHeader(ByteSpan& bytes, uint8_t reply_bit) {
  if (bytes.size() < kMessageHeaderBytes) return Bad(std::to_string(bytes.size()) + " bytes");
  if (Take<uint32_t>(bytes) != kMagic) return Bad("no magic: the peer speaks another protocol");
  const auto version = Take<uint8_t>(bytes);
  if (version != kVersion) return Bad("version " + std::to_string(version) + ", known is 1");
  Header header;
  header.op = Take<uint8_t>(bytes);
  header.count = Take<uint16_t>(bytes);
  header.id = Take<uint64_t>(bytes);
  header.body = Take<uint64_t>(bytes);
  if ((header.op & kReplyBit) != reply_bit) return Bad("in the wrong direction");
  header.op = static_cast<uint8_t>(header.op & ~kReplyBit);
  if (header.op < static_cast<uint8_t>(Op::kHello) ||
      header.op > static_cast<uint8_t>(Op::kSupersede)) {
    return Bad("unknown operation " + std::to_string(header.op));
  }
  if (header.count > kMaxEntries) return Bad(std::to_string(header.count) + " entries");
  if (header.body != bytes.size()) {
    return Bad("body of " + std::to_string(bytes.size()) + " bytes, the header says " +
               std::to_string(header.body));
  }
  return header;
}

void PutName(std::vector<std::byte>& out, std::string_view name) {
  name = name.substr(0, kMaxNameBytes);
  Put(out, static_cast<uint16_t>(name.size()));
  const ByteSpan bytes = AsBytes(name);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

Result<std::string> TakeName(ByteSpan& bytes) {
  if (bytes.size() < sizeof(uint16_t)) return Bad("name cut off");
  const size_t length = Take<uint16_t>(bytes);
  if (length > bytes.size() || length > kMaxNameBytes) return Bad("name cut off");
  std::string name(AsText(bytes.first(length)));
  bytes = bytes.subspan(length);
  return name;
}

Result<SegmentKeys> TakeKeys(ByteSpan& bytes) {
  if (bytes.size() < 32) return Bad("keys cut off");
  SegmentKeys keys;
  keys.base = Take<uint64_t>(bytes);
  keys.size = Take<uint64_t>(bytes);
  keys.chunk_bytes = Take<uint64_t>(bytes);
  const auto count = Take<uint64_t>(bytes);
  if (keys.chunk_bytes == 0 || keys.base + keys.size < keys.base || count > kMaxKeys ||
      count != (keys.size / keys.chunk_bytes) + (keys.size % keys.chunk_bytes != 0 ? 1 : 0) ||
      bytes.size() != count * sizeof(uint32_t)) {
    return Bad(std::to_string(count) + " keys for " + std::to_string(keys.size) +
               " bytes in chunks of " + std::to_string(keys.chunk_bytes));
  }
  for (uint64_t i = 0; i < count; ++i) keys.keys.push_back(Take<uint32_t>(bytes));
  return keys;
}

size_t ExpectedEntries(Op op, size_t count) {
  switch (op) {
    case Op::kHello:
    case Op::kEndWrite:
      return 0;
    case Op::kKeys:
    case Op::kFence:
    case Op::kSupersede:
      return 1;
    case Op::kBeginWrite:
      return std::max<size_t>(count, 1);
  }
  return 0;
}

}  // namespace

size_t CodesOf(const Request& request) { return std::max<size_t>(request.entries.size(), 1); }

std::vector<std::byte> Encode(const Request& request) {
  std::vector<std::byte> body;
  body.reserve(request.entries.size() * kEntryBytes);
  for (const Entry& entry : request.entries) {
    Put(body, entry.segment.high);
    Put(body, entry.segment.low);
    Put(body, entry.epoch.value);
    Put(body, entry.offset);
    Put(body, entry.length);
    Put(body, entry.grant.put_id.value);
    Put(body, entry.grant.deadline_ms);
  }
  return WithHeader({.op = static_cast<uint8_t>(request.op),
                     .count = static_cast<uint16_t>(request.entries.size()),
                     .id = request.id},
                    body);
}

std::vector<std::byte> Encode(const Reply& reply) {
  std::vector<std::byte> body;
  for (const ErrorCode code : reply.codes) Put(body, static_cast<int32_t>(code));
  if (reply.op == Op::kHello) {
    PutName(body, reply.host_id);
    PutName(body, reply.endpoint);
  }
  if (reply.op == Op::kKeys && reply.codes.front() == ErrorCode::kOk) {
    Put(body, reply.keys.base);
    Put(body, reply.keys.size);
    Put(body, reply.keys.chunk_bytes);
    Put(body, static_cast<uint64_t>(reply.keys.keys.size()));
    for (const uint32_t key : reply.keys.keys) Put(body, key);
  }
  return WithHeader({.op = static_cast<uint8_t>(static_cast<uint8_t>(reply.op) | kReplyBit),
                     .count = static_cast<uint16_t>(reply.codes.size()),
                     .id = reply.id},
                    body);
}

Result<Request> DecodeRequest(ByteSpan bytes) {
  ASSIGN_OR_RETURN(const Header header, TakeHeader(bytes, 0));
  Request request;
  request.op = static_cast<Op>(header.op);
  request.id = header.id;
  if (header.count != ExpectedEntries(request.op, header.count) ||
      bytes.size() != header.count * kEntryBytes) {
    return Bad(std::to_string(header.count) + " entries in " + std::to_string(bytes.size()) +
               " bytes");
  }
  for (size_t i = 0; i < header.count; ++i) {
    Entry entry;
    entry.segment.high = Take<uint64_t>(bytes);
    entry.segment.low = Take<uint64_t>(bytes);
    entry.epoch.value = Take<uint64_t>(bytes);
    entry.offset = Take<uint64_t>(bytes);
    entry.length = Take<uint64_t>(bytes);
    entry.grant.put_id.value = Take<uint64_t>(bytes);
    entry.grant.deadline_ms = Take<int64_t>(bytes);
    request.entries.push_back(entry);
  }
  return request;
}

Result<Reply> DecodeReply(ByteSpan bytes) {
  ASSIGN_OR_RETURN(const Header header, TakeHeader(bytes, kReplyBit));
  Reply reply;
  reply.op = static_cast<Op>(header.op);
  reply.id = header.id;
  if (header.count == 0 || bytes.size() < header.count * kCodeBytes) return Bad("codes cut off");
  for (size_t i = 0; i < header.count; ++i) {
    reply.codes.push_back(ErrorCodeFromNumber(Take<int32_t>(bytes)));
  }
  if (reply.op == Op::kHello) {
    ASSIGN_OR_RETURN(reply.host_id, TakeName(bytes));
    ASSIGN_OR_RETURN(reply.endpoint, TakeName(bytes));
  } else if (reply.op == Op::kKeys && reply.codes.front() == ErrorCode::kOk) {
    ASSIGN_OR_RETURN(reply.keys, TakeKeys(bytes));
    return reply;
  }
  if (!bytes.empty()) return Bad(std::to_string(bytes.size()) + " bytes too many");
  return reply;
}

}  // namespace mooncake::rdma

#include "transfer/transport/tcp/frame.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace mooncake::tcp {
namespace {

// Little endian throughout; our machines are.
constexpr uint32_t kMagic = 0x5054434d;  // "MCTP"
constexpr uint8_t kVersion = 1;
constexpr uint8_t kReplyBit = 0x80;

template <typename T>
void Store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof(value));
}

template <typename T>
T Load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

Status Bad(const std::string& what) { return Status(ErrorCode::kInvalidParams, "frame: " + what); }

}  // namespace

void EncodeHeader(const FrameHeader& header, std::span<std::byte, kHeaderBytes> out) {
  std::fill(out.begin(), out.end(), std::byte{0});
  Store(out.data(), kMagic);
  Store(out.data() + 4, kVersion);
  Store(out.data() + 5,
        static_cast<uint8_t>(static_cast<uint8_t>(header.op) | (header.reply ? kReplyBit : 0)));
  Store(out.data() + 6, header.count);
  Store(out.data() + 8, header.request_id);
  Store(out.data() + 16, header.payload);
}

void EncodeEntry(const Entry& entry, std::span<std::byte, kEntryBytes> out) {
  Store(out.data(), entry.segment.high);
  Store(out.data() + 8, entry.segment.low);
  Store(out.data() + 16, entry.epoch.value);
  Store(out.data() + 24, entry.offset);
  Store(out.data() + 32, entry.length);
  Store(out.data() + 40, entry.grant.put_id.value);
  Store(out.data() + 48, entry.grant.deadline_ms);
  Store(out.data() + 56, uint64_t{0});
}

void EncodeReplyStatus(ErrorCode code, std::span<std::byte, kReplyStatusBytes> out) {
  Store(out.data(), static_cast<int32_t>(code));
  Store(out.data() + 4, uint32_t{0});
}

std::vector<std::byte> EncodeIdentity(const Identity& identity) {
  const std::string_view host = std::string_view(identity.host_id).substr(0, kMaxIdentityBytes);
  const std::string_view endpoint =
      std::string_view(identity.endpoint).substr(0, kMaxIdentityBytes);
  std::vector<std::byte> out(20 + host.size() + endpoint.size());
  Store(out.data(), identity.instance_high);
  Store(out.data() + 8, identity.instance_low);
  Store(out.data() + 16, static_cast<uint16_t>(host.size()));
  Store(out.data() + 18, static_cast<uint16_t>(endpoint.size()));
  std::copy_n(AsBytes(host).data(), host.size(), out.data() + 20);
  std::copy_n(AsBytes(endpoint).data(), endpoint.size(), out.data() + 20 + host.size());
  return out;
}

void EncodeRegionReply(const RegionReply& reply, std::span<std::byte, kRegionReplyBytes> out) {
  Store(out.data(), reply.bytes);
  Store(out.data() + 8, uint64_t{0});
}

Result<FrameHeader> DecodeHeader(std::span<const std::byte, kHeaderBytes> bytes) {
  if (Load<uint32_t>(bytes.data()) != kMagic)
    return Bad("no magic: the peer speaks another protocol");
  const auto version = Load<uint8_t>(bytes.data() + 4);
  if (version != kVersion) return Bad("version " + std::to_string(version) + ", known is 1");
  const auto op = Load<uint8_t>(bytes.data() + 5);
  FrameHeader header;
  header.reply = (op & kReplyBit) != 0;
  const uint8_t number = op & static_cast<uint8_t>(~kReplyBit);
  if (number < static_cast<uint8_t>(Op::kHello) || number > static_cast<uint8_t>(Op::kMap)) {
    return Bad("unknown operation " + std::to_string(number));
  }
  header.op = static_cast<Op>(number);
  header.count = Load<uint16_t>(bytes.data() + 6);
  header.request_id = Load<uint64_t>(bytes.data() + 8);
  header.payload = Load<uint64_t>(bytes.data() + 16);
  if (header.count == 0 || header.count > kMaxEntries) {
    return Bad(std::to_string(header.count) + " entries, allowed are 1 to " +
               std::to_string(kMaxEntries));
  }
  if (header.payload > kMaxPayload) {
    return Bad(std::to_string(header.payload) + " bytes, allowed are " +
               std::to_string(kMaxPayload));
  }
  return header;
}

Entry DecodeEntry(std::span<const std::byte, kEntryBytes> bytes) {
  Entry entry;
  entry.segment = {Load<uint64_t>(bytes.data()), Load<uint64_t>(bytes.data() + 8)};
  entry.epoch = AccessEpoch{Load<uint64_t>(bytes.data() + 16)};
  entry.offset = Load<uint64_t>(bytes.data() + 24);
  entry.length = Load<uint64_t>(bytes.data() + 32);
  entry.grant.put_id = PutId{Load<uint64_t>(bytes.data() + 40)};
  entry.grant.deadline_ms = Load<int64_t>(bytes.data() + 48);
  return entry;
}

ErrorCode DecodeReplyStatus(std::span<const std::byte, kReplyStatusBytes> bytes) {
  return ErrorCodeFromNumber(Load<int32_t>(bytes.data()));
}

Result<Identity> DecodeIdentity(ByteSpan bytes) {
  if (bytes.size() < 20) return Bad("identity of " + std::to_string(bytes.size()) + " bytes");
  const size_t host = Load<uint16_t>(bytes.data() + 16);
  const size_t endpoint = Load<uint16_t>(bytes.data() + 18);
  if (host > kMaxIdentityBytes || endpoint > kMaxIdentityBytes ||
      bytes.size() != 20 + host + endpoint) {
    return Bad("identity of " + std::to_string(bytes.size()) + " bytes, its parts say " +
               std::to_string(20 + host + endpoint));
  }
  Identity identity;
  identity.instance_high = Load<uint64_t>(bytes.data());
  identity.instance_low = Load<uint64_t>(bytes.data() + 8);
  identity.host_id = AsText(bytes.subspan(20, host));
  identity.endpoint = AsText(bytes.subspan(20 + host, endpoint));
  return identity;
}

RegionReply DecodeRegionReply(std::span<const std::byte, kRegionReplyBytes> bytes) {
  return RegionReply{Load<uint64_t>(bytes.data())};
}

Status CheckRequest(const FrameHeader& header, std::span<const Entry> entries) {
  if (header.reply) return Bad("a reply where a request was expected");
  if (header.op != Op::kRead && header.op != Op::kWrite) {
    if (header.payload == 0 && entries.size() == 1) return Status::Ok();
    return Bad(std::string(OpName(header.op)) + " takes one entry and no payload");
  }
  uint64_t total = 0;
  for (const Entry& entry : entries) {
    if (entry.length > kMaxPayload || total + entry.length > kMaxPayload) {
      return Bad("entries of more than " + std::to_string(kMaxPayload) + " bytes");
    }
    total += entry.length;
  }
  const uint64_t expected = header.op == Op::kWrite ? total : 0;
  if (header.payload == expected) return Status::Ok();
  return Bad("payload of " + std::to_string(header.payload) + " bytes, the entries say " +
             std::to_string(expected));
}

std::string_view OpName(Op op) {
  switch (op) {
    case Op::kHello:
      return "hello";
    case Op::kRead:
      return "read";
    case Op::kWrite:
      return "write";
    case Op::kFence:
      return "fence";
    case Op::kSupersede:
      return "supersede";
    case Op::kMap:
      return "map";
  }
  return "unknown";
}

}  // namespace mooncake::tcp

#include "transfer/base/seal.h"

#include <cstring>
#include <string>

#include "transfer/base/crc32c.h"

namespace mooncake {
namespace {

// Little endian throughout; our machines are.
constexpr uint32_t kMagic = 0x4c53434d;  // "MCSL"
constexpr uint16_t kVersion = 1;
constexpr uint16_t kHasCrc = 1;
constexpr std::byte kSuperseded{1};

constexpr size_t kVersionAt = 4;
constexpr size_t kFlagsAt = 6;
constexpr size_t kPutIdAt = 8;
constexpr size_t kLengthAt = 16;
constexpr size_t kDataCrcAt = 24;
constexpr size_t kSealCrcAt = 60;

template <typename T>
void Store(SealBytes& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

template <typename T>
T Load(std::span<const std::byte, kSealBytes> bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

// CRC of all before the CRC itself, with the superseded byte taken as zero.
uint32_t SealCrc(std::span<const std::byte, kSealBytes> bytes) {
  SealBytes copy;
  std::memcpy(copy.data(), bytes.data(), kSealBytes);
  copy[kSealFlagOffset] = std::byte{0};
  return Crc32c(ByteSpan(copy).first(kSealCrcAt));
}

}  // namespace

SealBytes EncodeSeal(const Seal& seal) {
  SealBytes bytes{};
  Store(bytes, 0, kMagic);
  Store(bytes, kVersionAt, kVersion);
  Store(bytes, kFlagsAt, static_cast<uint16_t>(seal.has_crc ? kHasCrc : 0));
  Store(bytes, kPutIdAt, seal.put_id.value);
  Store(bytes, kLengthAt, seal.length);
  Store(bytes, kDataCrcAt, seal.data_crc);
  Store(bytes, kSealCrcAt, SealCrc(bytes));
  bytes[kSealFlagOffset] = seal.superseded ? kSuperseded : std::byte{0};
  return bytes;
}

Status DecodeSeal(std::span<const std::byte, kSealBytes> bytes, Seal& out) {
  if (Load<uint32_t>(bytes, 0) != kMagic || Load<uint16_t>(bytes, kVersionAt) != kVersion ||
      Load<uint32_t>(bytes, kSealCrcAt) != SealCrc(bytes)) {
    return Status(ErrorCode::kReplicaIsGone, "no valid seal behind the extent");
  }
  out.put_id = PutId{Load<uint64_t>(bytes, kPutIdAt)};
  out.length = Load<uint64_t>(bytes, kLengthAt);
  out.data_crc = Load<uint32_t>(bytes, kDataCrcAt);
  out.has_crc = (Load<uint16_t>(bytes, kFlagsAt) & kHasCrc) != 0;
  out.superseded = bytes[kSealFlagOffset] != std::byte{0};
  return Status::Ok();
}

Status CheckSeal(std::span<const std::byte, kSealBytes> bytes, PutId put_id, uint64_t length) {
  Seal seal;
  RETURN_IF_ERROR(DecodeSeal(bytes, seal));
  if (seal.put_id == put_id && seal.length == length && !seal.superseded) return Status::Ok();
  return Status(ErrorCode::kReplicaIsGone,
                "the seal says put " + std::to_string(seal.put_id.value) + " of " +
                    std::to_string(seal.length) + " bytes" +
                    (seal.superseded ? ", superseded" : "") + "; wanted put " +
                    std::to_string(put_id.value) + " of " + std::to_string(length));
}

}  // namespace mooncake

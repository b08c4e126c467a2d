#include "master/ha/snapshot_footer.h"

#include "transfer/base/byte_span.h"
#include "transfer/base/crc32c.h"

namespace mooncake {
namespace {

constexpr char kFormatVersion = 1;
constexpr size_t kWords = 5;
constexpr size_t kBytes = 1 + 8 * kWords + 4;

void PutBytes(std::string& out, uint64_t value, size_t count) {
  for (size_t i = 0; i < count; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

uint64_t TakeBytes(std::string_view in, size_t at, size_t count) {
  uint64_t value = 0;
  for (size_t i = count; i > 0; --i)
    value = value << 8 | static_cast<unsigned char>(in[at + i - 1]);
  return value;
}

}  // namespace

std::string EncodeFooter(const SnapshotFooter& footer) {
  std::string bytes(1, kFormatVersion);
  PutBytes(bytes, footer.records, 8);
  PutBytes(bytes, footer.from, 8);
  PutBytes(bytes, footer.until, 8);
  PutBytes(bytes, footer.term.value, 8);
  PutBytes(bytes, static_cast<uint64_t>(footer.wall_ms), 8);
  PutBytes(bytes, Crc32c(AsBytes(bytes)), 4);
  return bytes;
}

Result<SnapshotFooter> DecodeFooter(std::string_view bytes) {
  const bool sound =
      bytes.size() == kBytes && bytes[0] == kFormatVersion &&
      TakeBytes(bytes, kBytes - 4, 4) == Crc32c(AsBytes(bytes.substr(0, kBytes - 4)));
  if (!sound) return {ErrorCode::kPersistentFail, "the footer is damaged, or of another version"};
  const auto word = [&](size_t i) { return TakeBytes(bytes, 1 + 8 * i, 8); };
  SnapshotFooter footer;
  footer.records = word(0);
  footer.from = word(1);
  footer.until = word(2);
  footer.term = Term{word(3)};
  footer.wall_ms = static_cast<int64_t>(word(4));
  return footer;
}

}  // namespace mooncake

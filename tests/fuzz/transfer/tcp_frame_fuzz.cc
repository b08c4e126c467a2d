// Any bytes through the parsers of the data protocol: what they accept must encode back to the same, and nothing may overflow.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transfer/base/check.h"
#include "transfer/transport/tcp/frame.h"

namespace mooncake::tcp {
namespace {

void Request(ByteSpan bytes) {
  if (bytes.size() < kHeaderBytes) return;
  const auto header = DecodeHeader(bytes.first<kHeaderBytes>());
  if (!header.ok()) return;
  MC_CHECK(header->count >= 1 && header->count <= kMaxEntries && header->payload <= kMaxPayload);
  std::array<std::byte, kHeaderBytes> again;
  EncodeHeader(*header, again);
  MC_CHECK(std::equal(again.begin(), again.begin() + 24, bytes.begin()));  // the rest is reserved
  std::vector<Entry> entries;
  uint64_t total = 0;
  for (ByteSpan rest = bytes.subspan(kHeaderBytes); entries.size() < header->count;
       rest = rest.subspan(kEntryBytes)) {
    if (rest.size() < kEntryBytes) return;
    entries.push_back(DecodeEntry(rest.first<kEntryBytes>()));
    std::array<std::byte, kEntryBytes> entry;
    EncodeEntry(entries.back(), entry);
    MC_CHECK(std::equal(entry.begin(), entry.begin() + 56, rest.begin()));
    total += entries.back().length;
  }
  if (!CheckRequest(*header, entries).ok()) return;
  MC_CHECK(!header->reply);
  if (header->op == Op::kWrite) MC_CHECK(header->payload == total);
  if (header->op == Op::kRead) MC_CHECK(total <= kMaxPayload);
}

void Reply(ByteSpan bytes) {
  const auto identity = DecodeIdentity(bytes);
  if (identity.ok()) {
    const std::vector<std::byte> again = EncodeIdentity(*identity);
    MC_CHECK(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
  }
  if (bytes.size() >= kReplyStatusBytes) (void)DecodeReplyStatus(bytes.first<kReplyStatusBytes>());
  if (bytes.size() >= kRegionReplyBytes) (void)DecodeRegionReply(bytes.first<kRegionReplyBytes>());
}

}  // namespace
}  // namespace mooncake::tcp

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const mooncake::ByteSpan bytes(reinterpret_cast<const std::byte*>(data), size);
  mooncake::tcp::Request(bytes);
  mooncake::tcp::Reply(bytes);
  return 0;
}

#include "tools/admin/key_text.h"

#include <charconv>
#include <cstdint>

#include "transfer/base/units.h"

namespace mooncake::admin {
namespace {

// Length of the UTF-8 sequence at the start of `bytes`, 0 if there is none (RFC 3629: no surrogates, shortest form).
size_t SequenceLength(std::string_view bytes) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = at(0);
  if (first < 0x80) return 1;
  size_t length = 0;
  unsigned char low = 0x80;  // bounds of the second byte
  unsigned char high = 0xbf;
  if (first >= 0xc2 && first <= 0xdf) {
    length = 2;
  } else if (first >= 0xe0 && first <= 0xef) {
    length = 3;
    if (first == 0xe0) low = 0xa0;
    if (first == 0xed) high = 0x9f;
  } else if (first >= 0xf0 && first <= 0xf4) {
    length = 4;
    if (first == 0xf0) low = 0x90;
    if (first == 0xf4) high = 0x8f;
  }
  if (length == 0 || bytes.size() < length || at(1) < low || at(1) > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

Result<std::string> UnescapeKey(std::string_view text) {
  std::string key;
  key.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '\\') {
      key += text[i++];
    } else if (text.substr(i).starts_with("\\\\")) {
      key += '\\';
      i += 2;
    } else {
      const std::string_view hex =
          text.substr(i).starts_with("\\x") ? text.substr(i + 2, 2) : std::string_view();
      uint8_t byte = 0;
      const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), byte, 16);
      if (hex.size() != 2 || error != std::errc() || end != hex.data() + 2) {
        return Status(ErrorCode::kInvalidParams,
                      "'" + EscapeForDisplay(text) + "' at byte " + std::to_string(i) +
                          ": with --escaped a backslash begins \\xNN or \\\\");
      }
      key += static_cast<char>(byte);
      i += 4;
    }
  }
  return key;
}

bool IsUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t length = SequenceLength(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::string Quoted(std::string_view key) { return "'" + EscapeForDisplay(key) + "'"; }

}  // namespace mooncake::admin

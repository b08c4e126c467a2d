#include "transfer/base/base64.h"

#include <array>
#include <cstdint>

namespace mooncake {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kNone = 255;

constexpr std::array<uint8_t, 256> MakeValues() {
  std::array<uint8_t, 256> values{};
  values.fill(kNone);
  for (size_t i = 0; i < kAlphabet.size(); ++i)
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<uint8_t>(i);
  return values;
}
constexpr std::array<uint8_t, 256> kValues = MakeValues();

}  // namespace

std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const auto group = bytes.substr(i, 3);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (k < group.size() ? static_cast<unsigned char>(group[k]) : 0);
    for (size_t k = 0; k < 4; ++k)
      text += k <= group.size() ? kAlphabet[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    size_t given = 4;
    if (i + 4 == text.size()) {
      if (text[i + 3] == '=') given = text[i + 2] == '=' ? 2 : 3;
    }
    uint32_t bits = 0;
    for (size_t k = 0; k < 4; ++k) {
      const uint8_t value = k < given ? kValues[static_cast<unsigned char>(text[i + k])] : 0;
      if (value == kNone) return std::nullopt;
      bits = bits << 6 | value;
    }
    for (size_t k = 0; k < 3; ++k) {
      const auto byte = static_cast<char>(bits >> (16 - 8 * k) & 255);
      if (k + 1 < given) {
        bytes += byte;
      } else if (byte != 0) {
        return std::nullopt;
      }
    }
  }
  return bytes;
}

}  // namespace mooncake

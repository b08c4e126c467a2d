#include "master/tenants/policy_scalars.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "master/tenants/quota_policies.h"
#include "transfer/base/base64.h"
#include "transfer/base/units.h"

namespace mooncake {
namespace {

constexpr std::array<std::pair<std::string_view, uint64_t>, 5> kUnits = {
    {{"TB", kTiB}, {"GB", kGiB}, {"MB", kMiB}, {"KB", kKiB}, {"B", 1}}};
constexpr std::string_view kUnitsCure = "write B, KB, MB, GB or TB, as in 10GB";

Status Refused(std::string_view text, std::string_view why) {
  return {ErrorCode::kInvalidParams, Shown(text) + " " + std::string(why)};
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Words that some reader of YAML takes for a truth value or for nothing.
bool IsReserved(std::string_view word) {
  constexpr std::array<std::string_view, 9> kWords = {"null", "true", "false", "yes", "no",
                                                      "on",   "off",  "y",     "n"};
  std::string lower(word);
  for (char& c : lower) c = static_cast<char>(c | 0x20);  // letters only reach the comparison
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

bool IsPlain(std::string_view name) {
  const auto plain = [](char c) {
    return IsLetter(c) || IsDigit(c) || c == '_' || c == '-' || c == '.';
  };
  return IsLetter(name.front()) && std::all_of(name.begin(), name.end(), plain) &&
         !IsReserved(name);
}

// Characters that count as printable, but that readers of YAML treat as line ends, marks of an encoding, or not at all.
bool IsTreacherous(std::string_view character) {
  constexpr std::array<std::string_view, 5> kOnes = {"\xe2\x80\xa8", "\xe2\x80\xa9", "\xef\xbb\xbf",
                                                     "\xef\xbf\xbe", "\xef\xbf\xbf"};
  return std::find(kOnes.begin(), kOnes.end(), character) != kOnes.end();
}

}  // namespace

Result<uint64_t> ParseQuota(std::string_view text) {
  std::string_view rest = text;
  if (rest.starts_with('-')) return Refused(text, "is negative; a quota is at least 1B");
  const size_t digits =
      static_cast<size_t>(std::find_if_not(rest.begin(), rest.end(), IsDigit) - rest.begin());
  if (digits == 0) return Refused(text, "is no number with a unit; write it as in 10GB");
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + digits, number);
  rest.remove_prefix(digits);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (rest.empty()) return Refused(text, "has no unit; " + std::string(kUnitsCure));
  if (rest.starts_with('.'))
    return Refused(text, "is no whole number; use a smaller unit, 1536MB for one and a half GB");
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(),
                                 [&](const auto& known) { return known.first == rest; });
  if (unit == kUnits.end())
    return Refused(text, "has the unknown unit " + Shown(rest) + "; " + std::string(kUnitsCure));
  if (error != std::errc() || number > kMaxQuotaBytes / unit->second)
    return Refused(text, "is too large; the most is " + FormatQuota(kMaxQuotaBytes) +
                             ", just under 8388608TB");
  if (number == 0)
    return Refused(text, "is zero; a quota is at least 1B, and a tenant without any has no entry");
  return number * unit->second;
}

std::string FormatQuota(uint64_t bytes) {
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(),
                                 [&](const auto& known) { return bytes % known.second == 0; });
  return std::to_string(bytes / unit->second) + std::string(unit->first);
}

std::string YamlOfName(std::string_view name) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  if (!name.empty() && IsPlain(name)) return std::string(name);
  std::string quoted = "\"";
  for (size_t i = 0; i < name.size();) {
    const size_t length = PrintableLength(name.substr(i));
    const auto byte = static_cast<unsigned char>(name[i]);
    const std::string_view character = name.substr(i, std::max<size_t>(length, 1));
    if (length == 0 && byte < 0x80) {
      quoted += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else if (length == 0 || IsTreacherous(character)) {
      return "!!binary \"" + EncodeBase64(name) + "\"";
    } else {
      if (byte == '"' || byte == '\\') quoted += '\\';
      quoted += character;
    }
    i += character.size();
  }
  return quoted + "\"";
}

std::string Shown(std::string_view bytes) {
  constexpr size_t kShown = 64;
  return "'" + EscapeForDisplay(bytes.substr(0, kShown)) + (bytes.size() > kShown ? "...'" : "'");
}

}  // namespace mooncake

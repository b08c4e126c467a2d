#include "transfer/base/units.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

namespace mooncake {
namespace {

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

struct Number {
  double value;
  std::string_view unit;  // what follows the number, trimmed
};

Result<Number> SplitNumber(std::string_view text, std::string_view what) {
  const Status bad(ErrorCode::kInvalidParams,
                   "'" + EscapeForDisplay(text) + "' is not a " + std::string(what));
  const std::string_view trimmed = Trim(text);
  if (trimmed.empty() || trimmed[0] < '0' || trimmed[0] > '9') return bad;
  double value = 0;
  const auto [end, error] = std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), value,
                                            std::chars_format::fixed);
  if (error != std::errc()) return bad;
  return Number{value, Trim(trimmed.substr(static_cast<size_t>(end - trimmed.data())))};
}

}  // namespace

Result<uint64_t> ParseSize(std::string_view text) {
  ASSIGN_OR_RETURN(const Number number, SplitNumber(text, "size (like 4096, 64KiB, 1.5GiB)"));
  const std::string unit = Lower(number.unit);
  static constexpr std::string_view kPrefixes = "kmgtp";
  double factor = 1;
  if (!unit.empty() && unit != "b") {
    const size_t power = kPrefixes.find(unit[0]);
    const std::string_view rest = std::string_view(unit).substr(1);
    if (power == std::string_view::npos || (!rest.empty() && rest != "b" && rest != "ib")) {
      return Status(ErrorCode::kInvalidParams,
                    "'" + EscapeForDisplay(text) + "': unknown unit; use KiB, MiB, GiB or TiB");
    }
    factor = std::pow(1024.0, static_cast<double>(power + 1));
  }
  const double bytes = number.value * factor;
  if (!(bytes < 9.2e18)) {
    return Status(ErrorCode::kInvalidParams,
                  "'" + EscapeForDisplay(text) + "' is too large for a size");
  }
  return static_cast<uint64_t>(bytes);
}

std::string FormatSize(uint64_t bytes) {
  static constexpr std::array<const char*, 7> kUnits = {"B",   "KiB", "MiB", "GiB",
                                                        "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 32> buffer{};
  const bool whole = unit == 0 || value == std::floor(value);
  std::snprintf(buffer.data(), buffer.size(), whole ? "%.0f %s" : "%.1f %s", value, kUnits[unit]);
  return buffer.data();
}

Result<Duration> ParseDuration(std::string_view text, Duration bare_unit) {
  ASSIGN_OR_RETURN(const Number number, SplitNumber(text, "duration (like 500ms, 30s, 10m, 1h)"));
  const std::string unit = Lower(number.unit);
  Duration factor = bare_unit;
  if (unit == "ms") {
    factor = Millis(1);
  } else if (unit == "s") {
    factor = Seconds(1);
  } else if (unit == "m") {
    factor = Seconds(60);
  } else if (unit == "h") {
    factor = Seconds(3600);
  } else if (!unit.empty()) {
    return Status(ErrorCode::kInvalidParams,
                  "'" + EscapeForDisplay(text) + "': unknown unit; use ms, s, m or h");
  }
  const double ns = number.value * static_cast<double>(factor.count());
  if (!(ns <= 3.2e18)) {
    return Status(ErrorCode::kInvalidParams,
                  "'" + EscapeForDisplay(text) + "' is too long: the limit is 100 years");
  }
  return Duration(static_cast<int64_t>(ns));
}

std::string FormatDuration(Duration d) {
  int64_t ms = ToMillis(d);
  std::string text;
  for (const auto& [unit, length] :
       {std::pair{"h", 3600000}, std::pair{"m", 60000}, std::pair{"s", 1000}}) {
    if (ms >= length) text += std::to_string(ms / length) + unit;
    ms %= length;
  }
  if (ms != 0 || text.empty()) text += std::to_string(ms) + "ms";
  return text;
}

std::string HostPort::ToString() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<HostPort> ParseHostPort(std::string_view text, bool allow_zero_port) {
  const Status bad(ErrorCode::kInvalidParams,
                   "'" + EscapeForDisplay(text) + "' is not HOST:PORT (IPv6 as [ADDRESS]:PORT)");
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return bad;
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.front() == '[') {
    if (host.size() < 3 || host.back() != ']') return bad;
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return bad;
  }
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (port.empty() || error != std::errc() || end != port.data() + port.size() || number > 65535)
    return bad;
  if (number == 0 && !allow_zero_port) return bad;
  return HostPort{std::string(host), static_cast<uint16_t>(number)};
}

size_t PrintableLength(std::string_view s) {
  if (s.empty()) return 0;
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return (lead >= 0x20 && lead != 0x7f) ? 1 : 0;
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || s.size() < length) return 0;
  uint32_t code = lead & (0xffu >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = (code << 6) | (byte(i) & 0x3f);
  }
  constexpr std::array<uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool valid =
      code >= kSmallest[length] && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000);
  return valid && code >= 0xa0 ? length : 0;
}

std::string EscapeForDisplay(std::string_view bytes) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size());
  for (size_t i = 0; i < bytes.size();) {
    const size_t length = PrintableLength(bytes.substr(i));
    if (length == 0) {
      const auto byte = static_cast<unsigned char>(bytes[i++]);
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      if (bytes[i] == '\\') out += '\\';
      out += bytes.substr(i, length);
      i += length;
    }
  }
  return out;
}

}  // namespace mooncake

// Sizes and durations as people write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "transfer/base/result.h"
#include "transfer/base/time.h"

namespace mooncake {

inline constexpr uint64_t kKiB = 1024;
inline constexpr uint64_t kMiB = 1024 * kKiB;
inline constexpr uint64_t kGiB = 1024 * kMiB;
inline constexpr uint64_t kTiB = 1024 * kGiB;

// "4096", "64KiB", "1.5 GiB", "4 GB" (units are powers of 1024 whatever the spelling; case is ignored;
// b, k, kb, kib, ...). kInvalidParams for anything else: negative, empty, "%", more than 2^63 - 1.
Result<uint64_t> ParseSize(std::string_view text);

// "1.5 GiB", "832 B": at most one decimal, for people.
std::string FormatSize(uint64_t bytes);

// "500ms", "30s", "10m", "1h"; a bare number is taken in `bare_unit`. kInvalidParams otherwise, and
// for negative values or more than 100 years.
Result<Duration> ParseDuration(std::string_view text, Duration bare_unit);

// "1m30s", "250ms": exact to the millisecond.
std::string FormatDuration(Duration d);

// "host:port", "[v6]:port". kInvalidParams when the port is missing or not in 1..65535
// (0 is accepted when `allow_zero_port`).
struct HostPort {
  std::string host;
  uint16_t port = 0;
  std::string ToString() const;
  friend bool operator==(const HostPort&, const HostPort&) = default;
};
Result<HostPort> ParseHostPort(std::string_view text, bool allow_zero_port = false);

// Bytes of the character at the front, ASCII or valid UTF-8; 0 when there is none or it is a control character.
size_t PrintableLength(std::string_view bytes);

// Bytes made printable for logs, tables and JSON: printable ASCII and valid UTF-8 as they are, else \xNN;
// the backslash doubled.
std::string EscapeForDisplay(std::string_view bytes);

}  // namespace mooncake

#include "master/core/numeric_address.h"

#include <arpa/inet.h>

#include <algorithm>

namespace mooncake::core {
namespace {

bool IsPort(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::optional<std::string> NumericAddress(std::string_view text) {
  std::string_view host = text;
  if (text.starts_with('[')) {
    const size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    const std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && (rest[0] != ':' || !IsPort(rest.substr(1)))) return std::nullopt;
    host = text.substr(1, close - 1);
  } else if (std::count(text.begin(), text.end(), ':') == 1) {
    const size_t colon = text.find(':');
    if (!IsPort(text.substr(colon + 1))) return std::nullopt;
    host = text.substr(0, colon);
  }
  const bool v6 = host.find(':') != std::string_view::npos;
  if (text.starts_with('[') && !v6) return std::nullopt;
  std::string address(v6 ? host.substr(0, host.find('%')) : host);
  if (address.find('\0') != std::string::npos) return std::nullopt;
  in6_addr scratch{};  // large enough for both
  if (inet_pton(v6 ? AF_INET6 : AF_INET, address.c_str(), &scratch) != 1) return std::nullopt;
  return address;
}

}  // namespace mooncake::core

#include "tools/admin/human.h"

#include <array>
#include <cstdio>
#include <ctime>
#include <utility>

namespace mooncake::admin {

std::string FormatCount(uint64_t count) {
  std::string digits = std::to_string(count);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string FormatShare(uint64_t part, uint64_t whole) {
  if (whole == 0) return "-";
  if (part == 0) return "0%";
  if (part >= whole) return part == whole ? "100%" : "over 100%";
  auto permille = static_cast<uint64_t>(static_cast<unsigned __int128>(part) * 1000 / whole);
  if (permille == 0) return "<0.1%";
  return std::to_string(permille / 10) + "." + std::to_string(permille % 10) + "%";
}

std::string FormatTime(int64_t ms) {
  if (ms <= 0) return "-";
  const std::time_t seconds = ms / 1000;
  std::tm parts{};
  std::array<char, 32> text{};
  if (gmtime_r(&seconds, &parts) == nullptr) return "-";
  const size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return std::string(text.data(), length);
}

std::string Plural(uint64_t count, std::string_view singular) {
  std::string text = FormatCount(count) + " " + std::string(singular);
  if (count != 1) text += "s";
  return text;
}

std::string FormatAge(Duration age) {
  const int64_t ms = ToMillis(age);
  if (ms < 1000) return std::to_string(ms) + "ms";
  constexpr std::array<std::pair<const char*, int64_t>, 4> kUnits = {
      {{"d", 86400}, {"h", 3600}, {"m", 60}, {"s", 1}}};
  int64_t seconds = ms / 1000;
  for (size_t i = 0; i < kUnits.size(); ++i) {
    const auto& [name, length] = kUnits[i];
    if (seconds < length) continue;
    std::string text = std::to_string(seconds / length) + name;
    seconds %= length;
    if (i + 1 < kUnits.size() && seconds >= kUnits[i + 1].second) {
      text += std::to_string(seconds / kUnits[i + 1].second) + kUnits[i + 1].first;
    }
    return text;
  }
  return "0s";
}

}  // namespace mooncake::admin

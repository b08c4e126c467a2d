// Ids that cannot be mixed up: a number or a 128-bit uuid with a tag type.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

namespace mooncake {

template <typename Tag, typename Rep = uint64_t>
struct StrongId {
  Rep value{};
  friend auto operator<=>(const StrongId&, const StrongId&) = default;
};

// 128 random bits as two words; {0, 0} means "none".
template <typename Tag>
struct Uuid {
  uint64_t high = 0;
  uint64_t low = 0;

  bool IsNil() const { return high == 0 && low == 0; }
  // 32 hex digits in the 8-4-4-4-12 form.
  std::string ToString() const {
    static constexpr char kHex[] = "0123456789abcdef";
    std::string text;
    text.reserve(36);
    for (int i = 0; i < 32; ++i) {
      if (i == 8 || i == 12 || i == 16 || i == 20) text += '-';
      const uint64_t word = i < 16 ? high : low;
      text += kHex[(word >> (60 - 4 * (i % 16))) & 15];
    }
    return text;
  }
  friend auto operator<=>(const Uuid&, const Uuid&) = default;
};

}  // namespace mooncake

template <typename Tag, typename Rep>
struct std::hash<mooncake::StrongId<Tag, Rep>> {
  size_t operator()(const mooncake::StrongId<Tag, Rep>& id) const {
    return std::hash<Rep>()(id.value);
  }
};

template <typename Tag>
struct std::hash<mooncake::Uuid<Tag>> {
  size_t operator()(const mooncake::Uuid<Tag>& id) const {
    return static_cast<size_t>(id.high ^ (id.low * 0x9e3779b97f4a7c15));
  }
};

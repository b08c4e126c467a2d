#include "tools/admin/key_text.h"

#include <gtest/gtest.h>

#include "transfer/base/rng.h"
#include "transfer/base/units.h"

namespace mooncake::admin {
namespace {

TEST(KeyText, WhatIsPrintedCanBeTyped) {
  Rng rng(1);
  for (int i = 0; i < 2000; ++i) {
    std::string key(1 + rng.Below(40), '\0');
    for (char& c : key) c = static_cast<char>(rng.Chance(1, 2) ? rng.Below(256) : '\\');
    const auto back = UnescapeKey(EscapeForDisplay(key));
    ASSERT_TRUE(back.ok()) << back.message();
    ASSERT_EQ(*back, key);
  }
}

TEST(KeyText, OtherBackslashesAreRefusedByPosition) {
  for (const char* text : {"\\", "a\\n", "\\x", "\\x1", "\\xg0", "\\x 1", "\\x+1"}) {
    const auto key = UnescapeKey(text);
    EXPECT_EQ(key.code(), ErrorCode::kInvalidParams) << text;
  }
  EXPECT_NE(UnescapeKey("ab\\n").message().find("byte 2"), std::string::npos);
}

TEST(KeyText, Utf8IsToldFromOtherBytes) {
  for (const char* good : {"", "abc", "caf\u00e9", "\u6708\u997c", "\U0001f96e", "\x7f"})
    EXPECT_TRUE(IsUtf8(good)) << good;
  for (const char* bad : {"caf\xe9", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xff", "\xe6\x9c", "\x80"}) {
    EXPECT_FALSE(IsUtf8(bad)) << EscapeForDisplay(bad);
  }
}

}  // namespace
}  // namespace mooncake::admin

#include "transfer/base/base64.h"

#include <gtest/gtest.h>

namespace mooncake {
namespace {

TEST(Base64, IsThatOfTheStandard) {
  const std::pair<std::string, std::string> cases[] = {{"", ""},
                                                       {"f", "Zg=="},
                                                       {"fo", "Zm8="},
                                                       {"foo", "Zm9v"},
                                                       {"foob", "Zm9vYg=="},
                                                       {"fooba", "Zm9vYmE="},
                                                       {"foobar", "Zm9vYmFy"},
                                                       {"\xff\xfe", "//4="},
                                                       {std::string("\0\xff\xfe", 3), "AP/+"}};
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(EncodeBase64(bytes), text);
    EXPECT_EQ(DecodeBase64(text), bytes) << text;
  }
}

TEST(Base64, EveryPairOfBytesComesBack) {
  for (int pair = 0; pair < 65536; ++pair) {
    const std::string bytes = {static_cast<char>(pair >> 8), static_cast<char>(pair), 'x', 'y'};
    const std::string_view two = std::string_view(bytes).substr(0, 2);
    ASSERT_EQ(DecodeBase64(EncodeBase64(two)), two);
    ASSERT_EQ(DecodeBase64(EncodeBase64(bytes)), bytes);
  }
}

TEST(Base64, WhatNoEncoderWritesIsRefused) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "=", "====", "Z===", "Zm9v=", "Zg==Zg==",
                           "Zh==", "Zm9=", "Zm 9v", "Zm9v\n", "Zm-_", "Z=g=", "\xff\xff\xff\xff"}) {
    EXPECT_EQ(DecodeBase64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace mooncake

#include "master/core/numeric_address.h"

#include <gtest/gtest.h>

namespace mooncake::core {
namespace {

TEST(NumericAddress, IsFoundWithAndWithoutPortBracketsAndScope) {
  const std::pair<const char*, const char*> cases[] = {
      {"10.0.0.1", "10.0.0.1"},
      {"10.0.0.1:5", "10.0.0.1"},
      {"::1", "::1"},
      {"fd00::12:3", "fd00::12:3"},
      {"[fd00::1]", "fd00::1"},
      {"[fd00::1]:50051", "fd00::1"},
      {"fe80::1%eth0", "fe80::1"},
      {"[fe80::1%2]:7", "fe80::1"},
      {"::ffff:10.0.0.1", "::ffff:10.0.0.1"},
  };
  for (const auto& [text, address] : cases) EXPECT_EQ(NumericAddress(text).value_or(""), address);
}

TEST(NumericAddress, NamesAndNonsenseHaveNone) {
  for (const std::string& text :
       {std::string(), std::string("node-a"), std::string("node-a:50051"), std::string("10.0.0"),
        std::string("10.0.0.256"), std::string("10.0.0.1:"), std::string("10.0.0.1:x"),
        std::string("[10.0.0.1]:5"), std::string("[::1"), std::string("[::1]5"),
        std::string("[::1]:x"), std::string(":::"), std::string("1:2:3"), std::string("%eth0"),
        std::string("10.0.0.1\0", 9)}) {
    EXPECT_FALSE(NumericAddress(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace mooncake::core

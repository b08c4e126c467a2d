// Policies come back as they were written, whatever bytes the names have; a text that is damaged is other policies or an error.
#include <gtest/gtest.h>

#include "master/api/types.h"
#include "master/tenants/policy_text.h"
#include "tests/support/seeds.h"
#include "transfer/base/rng.h"

namespace mooncake {
namespace {

constexpr uint64_t kSeeds = 3000;

// Bytes that are likely to mean something to a reader of YAML.
const std::string kPieces[] = {"a",
                               "z9",
                               "_",
                               "-",
                               ".",
                               " ",
                               "  ",
                               ": ",
                               " #",
                               "#",
                               "'",
                               "\"",
                               "\\",
                               "\\x",
                               "\n",
                               "\r\n",
                               "\t",
                               "null",
                               "~",
                               "true",
                               "No",
                               "1",
                               "0x1f",
                               "1e3",
                               "-1",
                               "[",
                               "]",
                               "{",
                               "}",
                               ",",
                               "&a",
                               "*a",
                               "!!str",
                               "!!binary",
                               "|",
                               ">",
                               "%",
                               "@",
                               "`",
                               "---",
                               "...",
                               "?",
                               "<<",
                               "=",
                               std::string(1, '\0'),
                               "\x04",
                               "\x7f",
                               "\x80",
                               "\xff",
                               "\xc2\x85",
                               "\xc2\xa0",
                               "\xe5\xbc\xa0",
                               "\xe2\x80\xa8",
                               "\xef\xbb\xbf",
                               "\xef\xbf\xbf",
                               "\xf0\x9f\x99\x82",
                               "\xed\xa0\x80",
                               "\xf4\x90\x80\x80",
                               "\xc3",
                               "\xe5\xbc"};

std::string RandomName(Rng& rng) {
  std::string name;
  const uint64_t pieces = rng.Between(1, 6);
  for (uint64_t i = 0; i < pieces; ++i) {
    switch (rng.Below(6)) {
      case 0:
        name += std::string(rng.Between(1, 100), static_cast<char>(rng.Below(256)));
        break;
      case 1:
        name += static_cast<char>(rng.Below(256));
        break;
      default:
        name += kPieces[rng.Below(std::size(kPieces))];
    }
  }
  return name.substr(0, kMaxTenantBytes);
}

uint64_t RandomQuota(Rng& rng) {
  const uint64_t quota = rng.Next() >> rng.Between(1, 63);
  return std::max<uint64_t>(1, rng.Chance(1, 2) ? quota : quota >> 40 << 40);
}

QuotaPolicies RandomPolicies(Rng& rng) {
  QuotaPolicies policies;
  for (uint64_t left = rng.Below(12); left > 0; --left)
    policies[RandomName(rng)] = RandomQuota(rng);
  return policies;
}

TEST(PolicyTextProperty, WhatIsWrittenReadsBackTheSame) {
  for (const uint64_t seed : testing::Seeds(kSeeds)) {
    Rng rng(seed);
    const QuotaPolicies policies = RandomPolicies(rng);
    const auto text = WritePolicyText(policies);
    ASSERT_TRUE(text.ok()) << "seed " << seed << ": " << text.message();
    const auto again = ParsePolicyText(*text);
    ASSERT_TRUE(again.ok()) << "seed " << seed << ": " << again.message() << "\n" << *text;
    ASSERT_EQ(*again, policies) << "seed " << seed << "\n" << *text;
  }
}

// A quota may change and a tenant be cut off; nothing out of bounds may come out.
TEST(PolicyTextProperty, DamagedTextsGiveValidPoliciesOrAnError) {
  for (const uint64_t seed : testing::Seeds(kSeeds)) {
    Rng rng(seed);
    std::string text = *WritePolicyText(RandomPolicies(rng));
    for (uint64_t edits = rng.Between(1, 4); edits > 0; --edits) {
      const size_t at = rng.Below(text.size());
      if (rng.Chance(1, 3)) {
        text[at] = static_cast<char>(rng.Below(256));
      } else if (rng.Chance(1, 2)) {
        text.erase(at, rng.Between(1, 20));
      } else {
        text.insert(at, text.substr(rng.Below(text.size()), rng.Between(1, 20)));
      }
      if (text.empty()) break;
    }
    const auto policies = ParsePolicyText(text);
    if (policies.ok()) {
      ASSERT_EQ(CheckQuotaPolicies(*policies), Status::Ok()) << "seed " << seed << "\n" << text;
    } else {
      ASSERT_EQ(policies.code(), ErrorCode::kInvalidParams) << "seed " << seed;
      ASSERT_FALSE(policies.message().empty());
    }
  }
}

}  // namespace
}  // namespace mooncake

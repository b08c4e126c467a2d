#include "master/tenants/policy_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "master/api/types.h"

namespace mooncake {
namespace {

using ::testing::HasSubstr;

std::string Text(const std::string& tenants) { return "version: 1\ntenants:" + tenants + "\n"; }
std::string Tenant(const std::string& name, const std::string& quota) {
  return "\n  - name: " + name + "\n    quota: " + quota;
}

TEST(PolicyText, IsWrittenAsPeopleWouldWriteIt) {
  const QuotaPolicies policies = {
      {"research", 10ull << 30},       {"a b", 3},    {"null", uint64_t{1} << 50},
      {"\xe5\xbc\xa0", 1536ull << 20}, {"x\n", 1024}, {"\x80", 1}};
  const auto text = WritePolicyText(policies);
  ASSERT_TRUE(text.ok()) << text.message();
  EXPECT_EQ(*text, R"(version: 1
tenants:
  - name: "a b"
    quota: 3B
  - name: "null"
    quota: 1024TB
  - name: research
    quota: 10GB
  - name: "x\x0a"
    quota: 1KB
  - name: !!binary "gA=="
    quota: 1B
  - name: "张"
    quota: 1536MB
)");
  const auto none = WritePolicyText({});
  ASSERT_TRUE(none.ok()) << none.message();
  EXPECT_EQ(*none, "version: 1\ntenants: []\n");
}

TEST(PolicyText, EveryWayToWriteTheSameIsRead) {
  const QuotaPolicies expected = {{"a", 2048}, {"b", kMaxQuotaBytes}};
  for (const char* text :
       {"version: 1\ntenants:\n- name: a\n  quota: 2KB\n- name: b\n  quota: 9223372036854775807B\n",
        "\xef\xbb\xbf# ours\r\n---\r\ntenants:\r\n  - quota: 9223372036854775807 B  # all\r\n    "
        "name: 'b'\r\n  - {name: a, quota: \"2KB\"}\r\nversion: 1\r\n...\r\n",
        "%YAML 1.2\n---\n{\"version\": 1, \"tenants\": [{\"name\": \"\\x61\", \"quota\": "
        "\"2048B\"}, {\"name\": !!binary Yg==, \"quota\": \"9223372036854775807B\"}]}",
        "version: 1\ntenants:\n- &x {name: !!binary \"Y\\nQ= =\", quota: 002KB}\n- name: b\n  "
        "quota: 9223372036854775807B"}) {
    const auto policies = ParsePolicyText(text);
    ASSERT_TRUE(policies.ok()) << policies.message() << "\n" << text;
    EXPECT_EQ(*policies, expected) << text;
  }
}

TEST(PolicyText, WordsThatMeanSomethingElsewhereAreNamesWhereTheyStandAsNames) {
  const auto policies = ParsePolicyText(
      Text(Tenant("no", "1B") + Tenant("7", "2B") + Tenant("'null'", "3B") + Tenant("1e3", "4B")));
  ASSERT_TRUE(policies.ok()) << policies.message();
  EXPECT_EQ(*policies, (QuotaPolicies{{"no", 1}, {"7", 2}, {"null", 3}, {"1e3", 4}}));
}

struct Refusal {
  std::string text;
  std::vector<std::string> words;  // of the message
};

void ExpectRefused(const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    const auto policies = ParsePolicyText(refusal.text);
    EXPECT_EQ(policies.code(), ErrorCode::kInvalidParams) << refusal.text;
    for (const std::string& word : refusal.words)
      EXPECT_THAT(policies.message(), HasSubstr(word)) << refusal.text;
  }
}

TEST(PolicyText, ABadQuotaIsRefusedWithLineTenantValueAndCure) {
  const auto refusal = [](const std::string& quota, std::vector<std::string> words) {
    words.insert(words.end(), {"line 6: tenant 'b': quota '" + quota + "'"});
    return Refusal{Text(Tenant("a", "1GB") + Tenant("b", quota)), words};
  };
  ExpectRefused(
      {refusal("0GB", {"is zero", "at least 1B"}), refusal("0B", {"is zero"}),
       refusal("-5GB", {"is negative", "at least 1B"}),
       refusal("10XB", {"unknown unit 'XB'", "write B, KB, MB, GB or TB"}),
       refusal("10gb", {"unknown unit 'gb'"}), refusal("10GiB", {"unknown unit 'GiB'"}),
       refusal("10 GB free", {"unknown unit 'GB free'"}),
       refusal("1.5GB", {"is no whole number", "1536MB"}), refusal("1024", {"has no unit"}),
       refusal("lots", {"is no number with a unit", "10GB"}), refusal("+1GB", {"is no number"}),
       refusal("8388608TB", {"is too large", "9223372036854775807B"}),
       refusal("9223372036854775808B", {"is too large"}),
       refusal("18446744073709551616B", {"is too large"}),
       refusal("99999999999999999999999999999999999TB", {"is too large"})});
}

TEST(PolicyText, ABadNameIsRefused) {
  const std::string longest(kMaxTenantBytes, 'x');
  EXPECT_TRUE(ParsePolicyText(Text(Tenant(longest, "1B"))).ok());
  ExpectRefused(
      {{Text(Tenant("a", "1B") + Tenant("b", "1B") + Tenant("\"\\x61\"", "2B")),
        {"line 7: tenant 'a'", "line 3 already", "remove one"}},
       {Text(Tenant("''", "1B")), {"line 3", "is empty", "`default`"}},
       {Text(Tenant(longest + "x", "1B")), {"line 3", "256 bytes", "at most 255"}},
       {Text(Tenant("", "1B")), {"line 3", "`name:` has no value"}},
       {Text(Tenant("null", "1B")), {"`name:` has no value", "in quotes"}},
       {Text(Tenant("[a]", "1B")), {"line 3", "a list stands where none is due"}},
       {Text(Tenant("{a: b}", "1B")), {"line 3", "a map stands where none is due"}},
       {Text(Tenant("!!binary a", "1B")), {"line 3", "'a' is no base64"}},
       {Text(Tenant("\x80", "1B")), {"line 3", "\\x80 is no printable UTF-8", "!!binary"}},
       {Text(Tenant("a\x07", "1B")), {"line 3", "\\x07 is no printable", "in double quotes"}},
       {Text(Tenant(std::string("a\0b", 3), "1B")), {"line 3", "\\x00"}},
       {Text(Tenant("\xc2\x85", "1B")), {"line 3"}}});
}

TEST(PolicyText, AnotherFormIsRefusedWithTheOneThereIs) {
  ExpectRefused(
      {{"", {"empty", "`version: 1`"}},
       {"# nothing\n", {"empty"}},
       {"--- \n", {"nothing stands"}},
       {"hello", {"line 1", "'hello' stands where a map is due"}},
       {"[]", {"line 1", "a list stands where none is due"}},
       {"tenants: []", {"line 1", "no `version:`", "write `version: 1`"}},
       {"version: 1", {"line 1", "no `tenants:`", "write `tenants: []` for none"}},
       {"version: 2\ntenants: []", {"line 1", "version '2' is not known here"}},
       {"version: 1.0\ntenants: []", {"version '1.0'"}},
       {"version:\ntenants: []", {"`version:` has no value"}},
       {"version: [1]\ntenants: []", {"line 1", "a list", "`version: 1`"}},
       {"version: 1\nversion: 1\ntenants: []", {"line 2", "`version:` is there twice"}},
       {"version: 1\ntenants: []\ntenants: []", {"line 3", "`tenants:` is there twice"}},
       {"version: 1\ntenants: []\nquota: 1GB", {"line 3", "the field 'quota' is unknown"}},
       {"version: 1\ntenants: []\n? [a]\n: b", {"line 3", "a list stands where none is due"}},
       {"version: 1\ntenants: []\n---\nversion: 1\ntenants: []",
        {"a second document", "remove it"}},
       {"version: 1\ntenants:", {"line 2", "`tenants:` has no value", "`tenants: []`"}},
       {"version: 1\ntenants: none", {"line 2", "'none'` is no list"}},
       {"version: 1\ntenants: {a: 1GB}", {"line 2", "a map stands where none is due"}},
       {"version: 1\ntenants: [a]", {"line 2", "'a' stands where a tenant is due"}},
       {Text("\n  - name: a"), {"line 3: tenant 'a'", "there is no quota"}},
       {Text("\n  - quota: 1GB"), {"line 3", "a tenant has no name"}},
       {Text("\n  - {}"), {"line 3", "a tenant has no name"}},
       {Text("\n  - name: a\n    name: b"), {"line 4: tenant 'a'", "`name:` is there twice"}},
       {Text("\n  - name: a\n    qouta: 1GB"),
        {"line 4: tenant 'a'", "'qouta' is unknown", "`quota:`"}},
       {Text("\n  - name: a\n    quota:"), {"line 4: tenant 'a'", "`quota:` has no value", "10GB"}},
       {Text("\n  - &a {name: a, quota: 1GB}\n  - *a"), {"line 4", "an alias"}},
       {Text("\n  - {<<: {}, name: a, quota: 1GB}"), {"line 3", "'<<' is unknown"}},
       {Text("\n  - name: \"a"), {"no YAML"}},
       {Text("\n  - quota: 1GB\n    name: \"a"), {"no YAML"}},
       {Text("\n\t- name: a"), {"line 3", "no YAML"}},
       {Text("\n  - name: a\n   quota: 1GB"), {"line 3: tenant 'a'"}}});
}

TEST(PolicyText, WhatNoStoreKeepsIsNotWritten) {
  const std::pair<QuotaPolicies, std::string> cases[] = {
      {{{"a", 0}}, "tenant 'a': the quota is 0 bytes"},
      {{{"a", kMaxQuotaBytes + 1}}, "9223372036854775808 bytes"},
      {{{"", 1}}, "is empty"},
      {{{std::string(256, 'x'), 1}}, "256 bytes; at most 255"}};
  for (const auto& [policies, words] : cases) {
    const auto text = WritePolicyText(policies);
    EXPECT_EQ(text.code(), ErrorCode::kInvalidParams);
    EXPECT_THAT(text.message(), HasSubstr(words));
  }
}

TEST(PolicyText, ItsSizeHasALimitInBothDirections) {
  QuotaPolicies policies;
  for (int i = 0; i < 15600; ++i)
    policies["\n" + std::to_string(100000 + i) + std::string(230, 'x')] = kMaxQuotaBytes;
  const auto large = WritePolicyText(policies);
  EXPECT_EQ(large.code(), ErrorCode::kInvalidParams);
  EXPECT_THAT(large.message(), HasSubstr("at most 4194304"));
  EXPECT_THAT(ParsePolicyText(std::string(kMaxPolicyTextBytes + 1, ' ')).message(),
              HasSubstr("at most 4194304"));
}

// What makes a careless reader recurse, multiply or run for hours.
TEST(PolicyText, HostileTextsEndSoon) {
  const auto repeated = [](const std::string& piece) {
    std::string text = Text("");
    while (text.size() + piece.size() <= kMaxPolicyTextBytes / 64) text += piece;
    return text;
  };
  for (const char* piece :
       {"[",     "{",  "- ",  "? ", "-\n ", "{a: ", "[[]]", "&a ",   "!a ",
        "*a ",   ": ", "a: ", "'",  "\"",   "\\",   "|\n",  "#",     "%TAG ! !\n",
        "---\n", "\n", "\t",  "{[", ",",    "x",    "x\n",  "- x\n", "\n  - name: a"}) {
    EXPECT_FALSE(ParsePolicyText(repeated(piece)).ok()) << piece;
    EXPECT_FALSE(ParsePolicyText(repeated(piece).substr(20)).ok()) << piece;
  }
}

}  // namespace
}  // namespace mooncake

#include "master/core/checks.h"

#include <gtest/gtest.h>

namespace mooncake::core {
namespace {

PutStartArgs Good() {
  PutStartArgs args;
  args.client = {1, 1};
  args.name.key = "k";
  args.size = 1;
  return args;
}

ErrorCode Check(const PutStartArgs& args) { return CheckPutStart(args, Seconds(100)).code(); }

TEST(Checks, EveryLimitOfPutStartIsEnforced) {
  EXPECT_EQ(Check(Good()), ErrorCode::kOk);
  PutStartArgs args = Good();
  args.name.key = "";
  EXPECT_EQ(Check(args), ErrorCode::kInvalidKey);
  args.name.key = std::string(kMaxKeyBytes, 'k');
  EXPECT_EQ(Check(args), ErrorCode::kOk);
  args.name.key += 'k';
  EXPECT_EQ(Check(args), ErrorCode::kInvalidKey);
  args = Good();
  args.name.tenant = std::string(kMaxTenantBytes + 1, 't');
  EXPECT_EQ(Check(args), ErrorCode::kInvalidParams);
  args = Good();
  args.client = {};
  EXPECT_EQ(Check(args), ErrorCode::kInvalidParams);
  args = Good();
  args.size = kMaxObjectBytes + 1;
  EXPECT_EQ(Check(args), ErrorCode::kInvalidParams);
  args = Good();
  args.config.replica_num = 0;
  EXPECT_EQ(Check(args), ErrorCode::kInvalidParams);
  args.config.replica_num = kMaxReplicas + 1;
  EXPECT_EQ(Check(args), ErrorCode::kInvalidParams);
  args = Good();
  args.mode = static_cast<WriteMode>(7);
  EXPECT_EQ(Check(args), ErrorCode::kInvalidParams);
}

TEST(Checks, MessagesNameTheOperands) {
  PutStartArgs args = Good();
  args.config.replica_num = 99;
  EXPECT_EQ(CheckPutStart(args, Seconds(1)).message(), "replica_num is 99, at most 16 is allowed");
}

TEST(Checks, QuoteShowsAnyKeyInPrint) {
  EXPECT_EQ(Quote("abc"), "'abc'");
  EXPECT_EQ(Quote(std::string("\0\xff", 2)), "'\\x00\\xff'");
  EXPECT_EQ(Quote(std::string(4096, 'x')).size(), 128 + 5u);
}

TEST(Checks, PatternsAreBounded) {
  EXPECT_TRUE(Compile("^a.*b$").ok());
  EXPECT_EQ(Compile("").code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(Compile("(?=a)").code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(Compile(std::string(kMaxPatternBytes + 1, 'a')).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(Compile("((a{50}){50}){50}").code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(Compile("(a{1000}|b{1000}|c{1000}|d{1000}|e{1000})").code(), ErrorCode::kInvalidParams);
}

TEST(Checks, APatternIsSearchedForInAnyBytes) {
  const auto pattern = Compile("b.c");
  ASSERT_TRUE(pattern.ok());
  EXPECT_TRUE(Matches(pattern.value(), std::string_view("ab\0cd", 5)));
  EXPECT_TRUE(Matches(pattern.value(), "ab\ncd"));
  EXPECT_TRUE(Matches(pattern.value(),
                      "ab\xffxb\xff"
                      "c"));
  EXPECT_FALSE(Matches(pattern.value(), "bc"));
}

}  // namespace
}  // namespace mooncake::core

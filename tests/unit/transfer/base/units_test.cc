#include "transfer/base/units.h"

#include <gtest/gtest.h>

namespace mooncake {
namespace {

TEST(ParseSize, TakesWhatPeopleWrite) {
  const struct {
    const char* text;
    uint64_t bytes;
  } cases[] = {{"0", 0},
               {"4096", 4096},
               {"64KiB", 64 * kKiB},
               {"64 kb", 64 * kKiB},
               {"1.5GiB", 3 * kGiB / 2},
               {"2g", 2 * kGiB},
               {" 1 TiB ", kTiB},
               {"10B", 10},
               {"1M", kMiB},
               {"0.5k", 512}};
  for (const auto& c : cases) {
    const Result<uint64_t> size = ParseSize(c.text);
    ASSERT_TRUE(size.ok()) << c.text << ": " << size.message();
    EXPECT_EQ(*size, c.bytes) << c.text;
  }
}

TEST(ParseSize, RefusesTheRest) {
  for (const char* text : {"", " ", "-1", "+1", "abc", "1x", "1kk", "1 KiBs", "80%", "1e9", "inf",
                           "nan", "9e99", "16EiB", "99999999999999999999", "0x10"}) {
    EXPECT_EQ(ParseSize(text).code(), ErrorCode::kInvalidParams) << text;
  }
}

TEST(FormatSize, IsForPeople) {
  EXPECT_EQ(FormatSize(0), "0 B");
  EXPECT_EQ(FormatSize(832), "832 B");
  EXPECT_EQ(FormatSize(kKiB), "1 KiB");
  EXPECT_EQ(FormatSize(3 * kGiB / 2), "1.5 GiB");
}

TEST(ParseDuration, TakesUnitsOrTheBareOne) {
  EXPECT_EQ(*ParseDuration("500ms", Seconds(1)), Millis(500));
  EXPECT_EQ(*ParseDuration("30 s", Seconds(1)), Seconds(30));
  EXPECT_EQ(*ParseDuration("10m", Seconds(1)), Seconds(600));
  EXPECT_EQ(*ParseDuration("1.5h", Seconds(1)), Seconds(5400));
  EXPECT_EQ(*ParseDuration("7", Millis(1)), Millis(7));
  for (const char* text : {"", "-1s", "1d", "s", "1 year", "900000h"}) {
    EXPECT_EQ(ParseDuration(text, Seconds(1)).code(), ErrorCode::kInvalidParams) << text;
  }
}

TEST(FormatDuration, IsExactToTheMillisecond) {
  EXPECT_EQ(FormatDuration(Duration::zero()), "0ms");
  EXPECT_EQ(FormatDuration(Millis(250)), "250ms");
  EXPECT_EQ(FormatDuration(Seconds(90)), "1m30s");
  EXPECT_EQ(FormatDuration(Millis(3601002)), "1h1s2ms");
}

TEST(ParseHostPort, TakesNamesAndBothFamilies) {
  EXPECT_EQ(*ParseHostPort("node-1.example:80"), (HostPort{"node-1.example", 80}));
  EXPECT_EQ(*ParseHostPort("10.0.0.1:65535"), (HostPort{"10.0.0.1", 65535}));
  EXPECT_EQ(*ParseHostPort("[::1]:7"), (HostPort{"::1", 7}));
  EXPECT_EQ(*ParseHostPort("[fe80::1%eth0]:7"), (HostPort{"fe80::1%eth0", 7}));
  EXPECT_EQ(*ParseHostPort("h:0", /*allow_zero_port=*/true), (HostPort{"h", 0}));
  EXPECT_EQ(ParseHostPort("[::1]:7")->ToString(), "[::1]:7");
  EXPECT_EQ(ParseHostPort("h:7")->ToString(), "h:7");
}

TEST(ParseHostPort, RefusesTheRest) {
  for (const char* text : {"", "h", "h:", ":80", "h:0", "h:65536", "h:-1", "h:8x", "::1:80",
                           "[::1]", "[]:80", "[::1:80", "h: 80"}) {
    EXPECT_EQ(ParseHostPort(text).code(), ErrorCode::kInvalidParams) << text;
  }
}

TEST(EscapeForDisplay, KeepsPrintableTextAndEscapesTheRest) {
  EXPECT_EQ(EscapeForDisplay("plain text/é漢"), "plain text/é漢");
  EXPECT_EQ(EscapeForDisplay("a\nb"), "a\\x0ab");
  EXPECT_EQ(EscapeForDisplay("a\\b"), "a\\\\b");
  EXPECT_EQ(EscapeForDisplay(std::string_view("\0\x1b[2J\x7f", 6)), "\\x00\\x1b[2J\\x7f");
  EXPECT_EQ(EscapeForDisplay("\xff\xc0\x80"), "\\xff\\xc0\\x80");  // not UTF-8
  EXPECT_EQ(EscapeForDisplay("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(EscapeForDisplay("\xc2\x85"), "\\xc2\\x85");           // a C1 control
  EXPECT_EQ(EscapeForDisplay("\xe6\xbc"), "\\xe6\\xbc");           // cut off
}

}  // namespace
}  // namespace mooncake

#include "tools/admin/human.h"

#include <gtest/gtest.h>

namespace mooncake::admin {
namespace {

TEST(Human, CountsHaveSeparators) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1000), "1,000");
  EXPECT_EQ(FormatCount(1234567), "1,234,567");
  EXPECT_EQ(FormatCount(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(Human, SharesAreNeverRoundedToAllOrNothing) {
  EXPECT_EQ(FormatShare(0, 0), "-");
  EXPECT_EQ(FormatShare(0, 10), "0%");
  EXPECT_EQ(FormatShare(10, 10), "100%");
  EXPECT_EQ(FormatShare(1, 1000000), "<0.1%");
  EXPECT_EQ(FormatShare(999999, 1000000), "99.9%");
  EXPECT_EQ(FormatShare(UINT64_MAX / 2, UINT64_MAX), "49.9%");
  EXPECT_EQ(FormatShare(11, 10), "over 100%");
}

TEST(Human, TimesAreUtc) {
  EXPECT_EQ(FormatTime(0), "-");
  EXPECT_EQ(FormatTime(1796024986119), "2026-11-30 07:49:46");
}

TEST(Human, AgesHaveTwoUnits) {
  EXPECT_EQ(FormatAge(Millis(250)), "250ms");
  EXPECT_EQ(FormatAge(Seconds(12)), "12s");
  EXPECT_EQ(FormatAge(Seconds(61)), "1m1s");
  EXPECT_EQ(FormatAge(Seconds(3600)), "1h");
  EXPECT_EQ(FormatAge(Seconds(3 * 86400 + 4 * 3600 + 5)), "3d4h");
}

TEST(Human, Plurals) {
  EXPECT_EQ(Plural(1, "object"), "1 object");
  EXPECT_EQ(Plural(0, "object"), "0 objects");
  EXPECT_EQ(Plural(1000, "object"), "1,000 objects");
}

}  // namespace
}  // namespace mooncake::admin

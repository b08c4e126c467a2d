#include "tools/admin/table.h"

#include <gtest/gtest.h>

namespace mooncake::admin {
namespace {

Table Sample() {
  Table table({{.title = "NAME", .least = 5},
               {.title = "SIZE", .right = true},
               {.title = "HOST", .least = 4}});
  table.Add({"a", "1 KiB", "h"});
  table.Add({"a-long-name", "12 KiB", "host-one"});
  return table;
}

TEST(Table, AlignsColumnsWithoutTrailingBlanks) {
  EXPECT_EQ(Sample().Render(),
            "NAME           SIZE  HOST\n"
            "a             1 KiB  h\n"
            "a-long-name  12 KiB  host-one\n");
}

TEST(Table, CutsTheWidestColumnsThatMayBeCut) {
  EXPECT_EQ(Sample().Render(24),
            "NAME       SIZE  HOST\n"
            "a         1 KiB  h\n"
            "a-long\u2026  12 KiB  host-o\u2026\n");
}

TEST(Table, NeverCutsNumbersOrBelowTheLeast) {
  EXPECT_EQ(Sample().Render(1),
            "NAME     SIZE  HOST\n"
            "a       1 KiB  h\n"
            "a-lo\u2026  12 KiB  hos\u2026\n");
}

TEST(Table, LeavesOutWhatIsOptionalWhenCuttingIsNotEnough) {
  Table table({{.title = "NAME", .least = 5},
               {.title = "SIZE", .right = true, .optional = true},
               {.title = "USED", .right = true},
               {.title = "HOST", .least = 4, .optional = true}});
  table.Add({"a-long-name", "12 KiB", "1 KiB", "host-one"});
  EXPECT_EQ(table.Render(26),
            "NAME     SIZE   USED  HOST\n"
            "a-lo\u2026  12 KiB  1 KiB  hos\u2026\n");
  EXPECT_EQ(table.Render(25),
            "NAME          SIZE   USED\n"
            "a-long-na\u2026  12 KiB  1 KiB\n");
  EXPECT_EQ(table.Render(1),
            "NAME    USED\n"
            "a-lo\u2026  1 KiB\n");
}

TEST(Table, CountsColumnsOfTheTerminalNotBytes) {
  EXPECT_EQ(DisplayWidth("caf\u00e9"), 4u);
  EXPECT_EQ(DisplayWidth("\u6708\u997c"), 4u);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1u);
  EXPECT_EQ(Cut("\u6708\u997c\u6708", 4), "\u6708\u2026");
  EXPECT_EQ(Cut("abc", 3), "abc");
  EXPECT_EQ(Cut("abcd", 3), "ab\u2026");
  EXPECT_EQ(Cut("abcd", 0), "");
}

TEST(Table, WithoutRowsShowsItsTitles) {
  EXPECT_EQ(Table({{.title = "A"}, {.title = "B"}}).Render(), "A  B\n");
}

}  // namespace
}  // namespace mooncake::admin

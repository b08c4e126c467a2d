#include "transfer/base/crc32c.h"

#include <string>

#include <gtest/gtest.h>

namespace mooncake {
namespace {

TEST(Crc32c, MatchesTheVectorsOfRfc3720) {
  EXPECT_EQ(Crc32c(AsBytes("123456789")), 0xe3069283u);
  EXPECT_EQ(Crc32c(AsBytes(std::string(32, '\0'))), 0x8a9136aau);
  EXPECT_EQ(Crc32c(AsBytes(std::string(32, '\xff'))), 0x62a8ab43u);
  EXPECT_EQ(Crc32c({}), 0u);
}

TEST(Crc32c, ContinuesWhereAnEarlierCallEnded) {
  const std::string text = "the quick brown fox jumps over the lazy dog";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    const uint32_t first = Crc32c(AsBytes(text).first(cut));
    EXPECT_EQ(Crc32c(AsBytes(text).subspan(cut), first), Crc32c(AsBytes(text))) << cut;
  }
}

}  // namespace
}  // namespace mooncake

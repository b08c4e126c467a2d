#include "master/ha/snapshot_footer.h"

#include <gtest/gtest.h>

namespace mooncake {
namespace {

const SnapshotFooter kFooter{3, 10, 12, Term{9}, -5};

TEST(SnapshotFooter, ComesBackAsItWas) {
  const auto back = DecodeFooter(EncodeFooter(kFooter));
  ASSERT_TRUE(back.ok()) << back.message();
  EXPECT_EQ(*back, kFooter);
}

TEST(SnapshotFooter, EveryChangedByteAndEveryCutIsNoticed) {
  const std::string good = EncodeFooter(kFooter);
  EXPECT_EQ(good.size(), 45u) << "FORMAT.md";
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    EXPECT_EQ(DecodeFooter(bad).code(), ErrorCode::kPersistentFail) << i;
    EXPECT_EQ(DecodeFooter(good.substr(0, i)).code(), ErrorCode::kPersistentFail) << i;
  }
}

}  // namespace
}  // namespace mooncake

// A value beyond 32 bits keeps every byte (F039). Takes some gigabytes of memory.
#include "tests/integration/cluster/cluster_fixture.h"

namespace mooncake::testing {
namespace {

TEST(Huge, AValueBeyondThirtyTwoBitsIsWhole) {
  constexpr uint64_t kSize = (uint64_t{1} << 32) + 1;
  ClusterProcess cluster;
  cluster.StartNode({.name = "a", .size = 4 * kGiB + 64 * kMiB});
  TempFolder folder;
  // Sparse: zeros with marks on both sides of the edge and at the ends.
  const std::string file = folder / "value";
  const std::string make =
      "truncate -s " + std::to_string(kSize) + " " + file +
      "; mark() { printf \"$2\" | dd of=" + file +
      " bs=1 seek=$1 conv=notrunc status=none; }; mark 0 head; mark 2147483645 middle; "
      "mark 4294967288 end-of-it";
  ASSERT_TRUE(testing::Run({.command = {"/bin/sh", "-c", make}}).ended.ok());
  const RunResult put = cluster.Admin({"put", "big", file});
  ASSERT_TRUE(put.ended.ok()) << put.err;
  auto client = cluster.Connect();
  const auto stat = client->Stat("big");
  ASSERT_TRUE(stat.ok()) << stat.message();
  EXPECT_EQ(stat->size, kSize);
  const auto at = [&](uint64_t offset, size_t length) {
    std::string text(length, '\0');
    const auto read =
        client->GetRange("big", offset, {reinterpret_cast<std::byte*>(text.data()), length});
    EXPECT_TRUE(read.ok()) << read.message();
    return text.substr(0, read.value_or(0));
  };
  EXPECT_EQ(at(0, 5), std::string("head\0", 5));
  EXPECT_EQ(at(2147483644, 8), std::string("\0middle\0", 8));
  EXPECT_EQ(at(4294967287, 100), std::string("\0end-of-it", 10));
  const RunResult back =
      testing::Run({.command = {"/bin/sh", "-c",
                                ProgramPath("mooncake-admin") + " --master=" + cluster.address() +
                                    " get big | cmp - " + file}});
  EXPECT_TRUE(back.ended.ok()) << back.out << back.err;
}

}  // namespace
}  // namespace mooncake::testing

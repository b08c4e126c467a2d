#include "fuse/fs/slab.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mooncake::fs {
namespace {

class SlabTest : public ::testing::Test {
 protected:
  void Start(uint64_t memory_bytes) {
    auto pool = SlabPool::Create({.memory_bytes = memory_bytes, .spill_dir = ::testing::TempDir()});
    ASSERT_TRUE(pool.ok()) << pool.status();
    pool_ = std::move(*pool);
  }
  static std::string All(const Slab& slab) {
    std::vector<std::byte> buffer(slab.size() + 10);
    const auto got = slab.ReadAt(0, buffer);
    return got.ok() ? std::string(AsText(ByteSpan(buffer).first(*got))) : "<error>";
  }
  std::unique_ptr<SlabPool> pool_;
};

TEST_F(SlabTest, ReadsWhatWasWrittenWithHolesAsZeros) {
  Start(1 << 20);
  const auto slab = *pool_->Make();
  EXPECT_TRUE(slab->WriteAt(5, AsBytes("abc")).ok());
  EXPECT_EQ(All(*slab), std::string("\0\0\0\0\0abc", 8));
  EXPECT_EQ(slab->size(), 8u);
  EXPECT_EQ(*slab->Append(AsBytes("de")), 8u);
  EXPECT_EQ(slab->size(), 10u);
}

TEST_F(SlabTest, ShrinkingAndGrowingShowsZeros) {
  Start(1 << 20);
  const auto slab = *pool_->Make();
  ASSERT_TRUE(slab->WriteAt(0, AsBytes("secret")).ok());
  ASSERT_TRUE(slab->Resize(2).ok());
  ASSERT_TRUE(slab->Resize(6).ok());
  EXPECT_EQ(All(*slab), std::string("se\0\0\0\0", 6));
}

TEST_F(SlabTest, EveryChangeMovesTheGeneration) {
  Start(1 << 20);
  const auto slab = *pool_->Make();
  uint64_t last = slab->generation();
  const auto moved = [&] { return slab->generation() != std::exchange(last, slab->generation()); };
  ASSERT_TRUE(slab->WriteAt(0, AsBytes("x")).ok());
  EXPECT_TRUE(moved());
  ASSERT_TRUE(slab->Append(AsBytes("x")).ok());
  EXPECT_TRUE(moved());
  ASSERT_TRUE(slab->Resize(1).ok());
  EXPECT_TRUE(moved());
  ASSERT_TRUE(slab->PunchHole(0, 1).ok());
  EXPECT_TRUE(moved());
  EXPECT_EQ(All(*slab), std::string(1, '\0'));
  EXPECT_FALSE(moved());
}

TEST_F(SlabTest, MovesToDiskWhenTheMemoryIsUsedUpAndKeepsItsBytes) {
  Start(100000);
  const auto slab = *pool_->Make();
  ASSERT_TRUE(slab->WriteAt(0, AsBytes("begin")).ok());
  EXPECT_TRUE(slab->in_memory());
  EXPECT_EQ(pool_->used_bytes(), 5u);
  ASSERT_TRUE(slab->WriteAt(200000, AsBytes("end")).ok());
  EXPECT_FALSE(slab->in_memory());
  EXPECT_EQ(pool_->used_bytes(), 0u);
  const std::string all = All(*slab);
  EXPECT_EQ(all.substr(0, 5), "begin");
  EXPECT_EQ(all.substr(200000), "end");
}

TEST_F(SlabTest, MemoryIsGivenBack) {
  Start(1000);
  {
    const auto slab = *pool_->Make();
    ASSERT_TRUE(slab->Resize(1000).ok());
    EXPECT_EQ(pool_->used_bytes(), 1000u);
    ASSERT_TRUE(slab->Resize(400).ok());
    EXPECT_EQ(pool_->used_bytes(), 400u);
    EXPECT_FALSE((*pool_->Make(601))->in_memory());
    EXPECT_TRUE((*pool_->Make(600))->in_memory());
  }
  EXPECT_EQ(pool_->used_bytes(), 0u);
}

TEST_F(SlabTest, APinnedSlabDoesNotMove) {
  Start(1000);
  const auto slab = *pool_->Make();
  EXPECT_GE(slab->Pin(), 0);
  EXPECT_EQ(slab->Resize(2000).value, ENOSPC);
  EXPECT_EQ(slab->size(), 0u);
  slab->Unpin();
  EXPECT_TRUE(slab->Resize(2000).ok());
}

TEST_F(SlabTest, MappingShowsTheWholeValue) {
  Start(1 << 20);
  const auto slab = *pool_->Make();
  EXPECT_TRUE(slab->Map()->bytes().empty());
  ASSERT_TRUE(slab->WriteAt(0, AsBytes("mapped")).ok());
  const auto mapping = slab->Map();
  ASSERT_TRUE(mapping.ok());
  EXPECT_EQ(AsText(mapping->bytes()), "mapped");
}

TEST(SlabPool, AMissingSpillFolderIsNamed) {
  const auto pool = SlabPool::Create({.memory_bytes = 1, .spill_dir = "/nonexistent/folder"});
  ASSERT_FALSE(pool.ok());
  EXPECT_NE(pool.message().find("/nonexistent/folder"), std::string::npos);
}

}  // namespace
}  // namespace mooncake::fs

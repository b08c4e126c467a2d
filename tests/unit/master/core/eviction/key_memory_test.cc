#include "master/core/eviction/key_memory.h"

#include <vector>

#include <gtest/gtest.h>

#include "transfer/base/rng.h"

namespace mooncake::core {
namespace {

std::vector<uint64_t> Hashes(int count) {
  Rng rng(1);
  std::vector<uint64_t> hashes;
  for (int i = 0; i < count; ++i) hashes.push_back(rng.Next());
  return hashes;
}

TEST(KeyMemory, KnowsAtFirstNothing) {
  const KeyMemory memory;
  for (const uint64_t hash : Hashes(1000)) EXPECT_EQ(memory.Find(hash), std::nullopt);
  EXPECT_EQ(memory.Find(0), std::nullopt);
}

TEST(KeyMemory, RemembersHowOftenUpToThree) {
  KeyMemory memory;
  memory.Remember(42, 0);
  EXPECT_EQ(memory.Find(42), 0);
  memory.Remember(42, 2);
  EXPECT_EQ(memory.Find(42), 2);
  memory.Remember(42, 200);
  EXPECT_EQ(memory.Find(42), KeyMemory::kMostUses);
}

TEST(KeyMemory, WithRoomItForgetsFewAndInventsFewer) {
  KeyMemory memory;
  memory.MakeRoom(100'000);
  const auto hashes = Hashes(20'000);
  for (size_t i = 0; i < 10'000; ++i) memory.Remember(hashes[i], 1);
  int known = 0;
  int invented = 0;
  for (size_t i = 0; i < 10'000; ++i) known += memory.Find(hashes[i]).has_value() ? 1 : 0;
  for (size_t i = 10'000; i < 20'000; ++i) invented += memory.Find(hashes[i]).has_value() ? 1 : 0;
  EXPECT_GT(known, 9'000);
  EXPECT_LT(invented, 10);
}

TEST(KeyMemory, GrowsWithoutForgetting) {
  KeyMemory memory;
  const auto hashes = Hashes(1000);
  for (const uint64_t hash : hashes) memory.Remember(hash, 2);
  int before = 0;
  for (const uint64_t hash : hashes) before += memory.Find(hash).has_value() ? 1 : 0;
  memory.MakeRoom(1 << 20);
  int after = 0;
  for (const uint64_t hash : hashes) after += memory.Find(hash).has_value() ? 1 : 0;
  EXPECT_EQ(after, before);
  // From now on the halves are apart: what is written to one is not seen in the other.
  constexpr uint64_t kOther = uint64_t{1} << 19;
  memory.Remember(7, 1);
  memory.Remember(7 + kOther, 3);
  EXPECT_EQ(memory.Find(7), 1);
  EXPECT_EQ(memory.Find(7 + kOther), 3);
}

}  // namespace
}  // namespace mooncake::core

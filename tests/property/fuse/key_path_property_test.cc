// Any key is exactly one path, whatever its bytes.
#include <map>

#include <gtest/gtest.h>

#include "fuse/fs/key_path.h"
#include "master/api/types.h"
#include "tests/support/seeds.h"
#include "transfer/base/rng.h"

namespace mooncake::fs {
namespace {

constexpr uint64_t kSeeds = 20000;

// Bytes that are likely to meet a rule: slashes, dots, percent signs, NULs, the reserved prefix, long runs.
std::string RandomKey(Rng& rng) {
  static const std::string kPieces[] = {
      "/", ".",    "..", "%", "%mc", "%mc:", "%mc=", "%mc+", "%25", "%00", std::string(1, '\0'),
      "a", "\xff", "\n", " "};
  std::string key;
  const uint64_t pieces = rng.Between(1, 12);
  for (uint64_t i = 0; i < pieces; ++i) {
    switch (rng.Below(4)) {
      case 0:
        key += std::string(rng.Between(1, 300), static_cast<char>(rng.Below(256)));
        break;
      case 1:
        key += static_cast<char>(rng.Below(256));
        break;
      default:
        key += kPieces[rng.Below(std::size(kPieces))];
    }
  }
  return key.substr(0, kMaxKeyBytes);
}

bool KernelCanCarry(const std::string& path) {
  size_t start = 0;
  for (;;) {
    const size_t slash = path.find('/', start);
    const std::string name = path.substr(start, slash == std::string::npos ? slash : slash - start);
    if (name.empty() || name == "." || name == ".." || name.size() > kMaxNameBytes) return false;
    if (name.find('\0') != std::string::npos) return false;
    if (slash == std::string::npos) return true;
    start = slash + 1;
  }
}

TEST(KeyPathProperty, EveryKeyRoundTripsThroughAPathThatTheKernelCanCarry) {
  for (const uint64_t seed : testing::Seeds(kSeeds)) {
    Rng rng(seed);
    const std::string key = RandomKey(rng);
    for (const bool beside : {false, true}) {
      const std::string path = KeyToPath(key, beside);
      ASSERT_TRUE(KernelCanCarry(path)) << "seed " << seed;
      const auto decoded = PathToKey(path);
      ASSERT_TRUE(decoded.has_value()) << "seed " << seed << " path " << path;
      ASSERT_EQ(decoded->key, key) << "seed " << seed;
      ASSERT_EQ(decoded->kind, beside ? NameKind::kBesideDirectory : NameKind::kPlain)
          << "seed " << seed;
    }
  }
}

TEST(KeyPathProperty, DifferentKeysNeverShareAPath) {
  std::map<std::string, std::pair<std::string, bool>> seen;
  for (const uint64_t seed : testing::Seeds(kSeeds)) {
    Rng rng(seed);
    const std::string key = RandomKey(rng);
    for (const bool beside : {false, true}) {
      const auto [it, fresh] = seen.emplace(KeyToPath(key, beside), std::pair(key, beside));
      ASSERT_TRUE(fresh || it->second == std::pair(key, beside))
          << "seed " << seed << " path " << it->first;
    }
  }
}

// A path is either the path of the key it decodes to, or decodes to nothing.
TEST(KeyPathProperty, OnlyCanonicalPathsDecode) {
  for (const uint64_t seed : testing::Seeds(kSeeds)) {
    Rng rng(seed);
    const std::string path = RandomKey(rng);
    const auto decoded = PathToKey(path);
    if (!decoded || decoded->kind == NameKind::kPart) continue;
    ASSERT_EQ(KeyToPath(decoded->key, decoded->kind == NameKind::kBesideDirectory), path)
        << "seed " << seed;
  }
}

// Walking a key's path through listings finds it: what NameInDirectory shows, DecodeName understands.
TEST(KeyPathProperty, ListingLeadsToEveryKey) {
  for (const uint64_t seed : testing::Seeds(kSeeds)) {
    Rng rng(seed);
    const std::string key = RandomKey(rng);
    DirectoryPoint at = RootPoint();
    for (int depth = 0;; ++depth) {
      ASSERT_LT(depth, 5000) << "seed " << seed;
      std::string_view rest = std::string_view(key).substr(at.prefix.size());
      const size_t slash = rest.find('/');
      const auto listed = NameInDirectory(at, rest.substr(0, slash));
      ASSERT_TRUE(listed.has_value()) << "seed " << seed;
      const auto decoded = DecodeName(at, listed->name);
      ASSERT_TRUE(decoded.has_value()) << "seed " << seed << " name " << listed->name;
      ASSERT_EQ(decoded->kind == NameKind::kPart, listed->is_part) << "seed " << seed;
      if (listed->is_part) {
        at = decoded->part;
      } else if (slash == std::string_view::npos) {
        ASSERT_EQ(decoded->key, key) << "seed " << seed;
        break;
      } else {
        at = PointOfDirectory(decoded->key);
      }
    }
  }
}

}  // namespace
}  // namespace mooncake::fs

#include "fuse/fs/key_path.h"

#include <gtest/gtest.h>

namespace mooncake::fs {
namespace {

using std::string_literals::operator""s;

std::string KeyOf(std::string_view path) {
  const auto decoded = PathToKey(path);
  return decoded && decoded->kind == NameKind::kPlain ? decoded->key : "<none>";
}

TEST(KeyPath, OrdinaryNamesAreThemselves) {
  for (const std::string key :
       {"a", "a/b/c", "%m", "100%", " ", "...", "caf\xe9", "n\nl", "a%00", "-rf"}) {
    EXPECT_EQ(KeyToPath(key), key);
    EXPECT_EQ(KeyOf(key), key);
  }
}

TEST(KeyPath, EmptyDotAndNulComponentsAreEscaped) {
  const std::pair<std::string, std::string> cases[] = {
      {"/", "%mc:/%mc:"},     {"/lead", "%mc:/lead"}, {"x//y", "x/%mc:/y"},
      {"./p", "%mc:./p"},     {"../q", "%mc:../q"},   {"a/..", "a/%mc:.."},
      {"n\0l"s, "%mc:n%00l"}, {"tail/", "tail/%mc:"}, {"a%\0"s, "%mc:a%25%00"},
      {".", "%mc:."},
  };
  for (const auto& [key, path] : cases) {
    EXPECT_EQ(KeyToPath(key), path);
    EXPECT_EQ(KeyOf(path), key);
  }
}

TEST(KeyPath, TheReservedPrefixIsEscaped) {
  EXPECT_EQ(KeyToPath("%mc"), "%mc:%25mc");
  EXPECT_EQ(KeyToPath("%mc:x"), "%mc:%25mc:x");
  EXPECT_EQ(KeyToPath("a/%mcx/b"), "a/%mc:%25mcx/b");
  EXPECT_EQ(KeyOf("%mc:%25mc:x"), "%mc:x");
}

TEST(KeyPath, NonCanonicalNamesNameNothing) {
  for (const std::string path : {"%mc", "%mcx", "%mc:x", "%mc:%25", "%mc:%41", "%mc:%0", "%mc:a%",
                                 "%mc+short", "%mc!", "a//b", "", "/a", "a/", "%mc=a/b"}) {
    EXPECT_FALSE(PathToKey(path).has_value()) << path;
  }
}

TEST(KeyPath, LongComponentsAreSplitOverPartDirectories) {
  EXPECT_EQ(KeyToPath(std::string(255, 'x')), std::string(255, 'x'));
  const std::string key(256, 'x');
  const std::string path = "%mc+" + std::string(251, 'x') + "/%mc:" + std::string(5, 'x');
  EXPECT_EQ(KeyToPath(key), path);
  EXPECT_EQ(KeyOf(path), key);
  const std::string longest(4096, 'y');
  EXPECT_EQ(KeyOf(KeyToPath(longest)), longest);
  const std::string inner = "d/" + std::string(600, 'z') + "/f";
  EXPECT_EQ(KeyOf(KeyToPath(inner)), inner);
}

TEST(KeyPath, APartIsNeverCutInsideAnEscape) {
  const std::string key = std::string(249, 'x') + "%" + std::string(100, 'y');
  const auto parts = EncodeComponent(key);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0], "%mc+" + std::string(249, 'x'));
  EXPECT_EQ(parts[1], "%mc:%25" + std::string(100, 'y'));
  EXPECT_EQ(KeyOf(KeyToPath(key)), key);
}

TEST(KeyPath, APartThatIsCutTooEarlyNamesNothing) {
  const std::string path = "%mc+" + std::string(250, 'x') + "/%mc:" + std::string(6, 'x');
  EXPECT_FALSE(PathToKey(path).has_value());
}

TEST(KeyPath, APartDirectoryHoldsOnlyReservedNames) {
  EXPECT_FALSE(PathToKey("%mc+" + std::string(251, 'x') + "/y").has_value());
}

TEST(KeyPath, AnObjectBesideADirectoryHasItsOwnName) {
  EXPECT_EQ(KeyToPath("d/a", true), "d/%mc=a");
  const auto decoded = PathToKey("d/%mc=a");
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->kind, NameKind::kBesideDirectory);
  EXPECT_EQ(decoded->key, "d/a");
  EXPECT_EQ(KeyToPath("%mcq", true), "%mc=%25mcq");
  const std::string name255(255, 'x');
  const auto long_one = PathToKey(KeyToPath(name255, true));
  ASSERT_TRUE(long_one.has_value());
  EXPECT_EQ(long_one->key, name255);
}

TEST(KeyPath, ListingShowsTheSameNamesThatDecode) {
  EXPECT_EQ(NameInDirectory(RootPoint(), "a")->name, "a");
  EXPECT_EQ(NameInDirectory(PointOfDirectory("d"), "")->name, "%mc:");
  const std::string big(300, 'x');
  const auto listed = NameInDirectory(RootPoint(), big);
  ASSERT_TRUE(listed.has_value());
  EXPECT_TRUE(listed->is_part);
  const auto part = DecodeName(RootPoint(), listed->name);
  ASSERT_TRUE(part.has_value());
  ASSERT_EQ(part->kind, NameKind::kPart);
  const auto rest = NameInDirectory(part->part, std::string_view(big).substr(251));
  ASSERT_TRUE(rest.has_value());
  EXPECT_FALSE(rest->is_part);
  EXPECT_EQ(DecodeName(part->part, rest->name)->key, big);
}

TEST(KeyPath, APartDirectoryDoesNotShowShortNeighbours) {
  const auto part = DecodeName(RootPoint(), "%mc+" + std::string(251, 'x'));
  ASSERT_TRUE(part.has_value());
  EXPECT_FALSE(
      NameInDirectory(part->part, "").has_value());  // the 251 bytes alone are an ordinary name
  EXPECT_FALSE(NameInDirectory(part->part, "xxxx").has_value());  // so are 255
  EXPECT_TRUE(NameInDirectory(part->part, "xxxxx").has_value());
}

}  // namespace
}  // namespace mooncake::fs

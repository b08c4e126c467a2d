#include "fuse/fs/dir_stream.h"

#include <algorithm>

#include "tests/unit/fuse/fs_fixture.h"

namespace mooncake::fs {
namespace {

using Names = std::vector<std::string>;

class DirStreamTest : public testing::FsTest {
 protected:
  Names Sorted(Names names) {
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(DirStreamTest, ShowsFilesAndDirectoriesOnce) {
  client_.Store("f", "");
  client_.Store("d/x", "");
  client_.Store("d/y", "");
  MakeDirectory("e");
  EXPECT_EQ(List(""), (Names{"d", "e", "f"}));
  EXPECT_EQ(List("d"), (Names{"x", "y"}));
  EXPECT_EQ(List("e"), Names{});
}

TEST_F(DirStreamTest, ShowsFilesThatAreBeingWritten) {
  client_.Store("old", "");
  HandlePtr handle = Create("new");
  EXPECT_EQ(Sorted(List("")), (Names{"new", "old"}));
  Close(std::move(handle));
  EXPECT_EQ(List(""), (Names{"new", "old"}));
}

TEST_F(DirStreamTest, ShowsAnObjectBesideItsDirectoryUnderTheEscapedName) {
  client_.Store("a", "");
  client_.Store("a-b", "");
  client_.Store("a/b", "");
  EXPECT_EQ(Sorted(List("")), (Names{"%mc=a", "a", "a-b"}));
}

TEST_F(DirStreamTest, SeesADirectoryThatComesPagesLater) {
  client_.Store("a", "");
  for (int i = 0; i < 2500; ++i) client_.Store("a-" + std::to_string(10000 + i), "");
  client_.Store("a/b", "");
  const Names names = List("");
  EXPECT_EQ(names.size(), 2502u);
  EXPECT_EQ(names.front(), "%mc=a");
  EXPECT_EQ(std::count(names.begin(), names.end(), "a"), 1);
}

TEST_F(DirStreamTest, AnyOffsetCanBeReturnedTo) {
  for (int i = 0; i < 2500; ++i) client_.Store("k" + std::to_string(10000 + i), "");
  const auto stream = fs_->OpenDirectory(Root());
  std::vector<std::string> all;
  for (uint64_t offset = 0; offset < 2500; ++offset) all.push_back((*stream->At(offset))->name);
  EXPECT_EQ(*stream->At(2500), nullptr);
  for (const uint64_t offset : {2499, 1000, 999, 1500, 0, 2001}) {
    EXPECT_EQ((*stream->At(offset))->name, all[offset]) << offset;
  }
}

TEST_F(DirStreamTest, HoldsOnePageAtATime) {
  for (int i = 0; i < 5000; ++i) client_.Store("k" + std::to_string(10000 + i), "");
  EXPECT_EQ(List("").size(), 5000u);
  // Five pages, and behind each but the last the question whether its last key has a directory beside it.
  EXPECT_EQ(client_.CallsOf("List"), 9);
}

TEST_F(DirStreamTest, LongNamesShareOnePartDirectory) {
  const std::string head(251, 'h');
  client_.Store(head + "aaaaaaaa", "1");
  client_.Store(head + "bbbbbbbb", "2");
  EXPECT_EQ(List(""), Names{"%mc+" + head});
  EXPECT_EQ(List("%mc+" + head), (Names{"%mc:aaaaaaaa", "%mc:bbbbbbbb"}));
}

TEST_F(DirStreamTest, EnteringCountsAsALookup) {
  client_.Store("f", "abc");
  MakeDirectory("d");
  const auto stream = fs_->OpenDirectory(Root());
  const DirItem directory = **stream->At(0);
  auto entry = stream->Enter(directory);
  ASSERT_TRUE(entry.ok() && entry->has_value());
  EXPECT_EQ((*entry)->attributes.mode, 0755u);
  const DirItem file = **stream->At(1);
  entry = stream->Enter(file);
  ASSERT_TRUE(entry.ok() && entry->has_value());
  EXPECT_EQ((*entry)->attributes.size, 3u);
  EXPECT_EQ((*entry)->inode->lookups, 1u);
  EXPECT_EQ((*entry)->inode->id, file.ino);
}

TEST_F(DirStreamTest, TheMastersErrorEndsTheListing) {
  client_.SetFault(
      [](std::string_view, std::string_view) { return Status(ErrorCode::kRpcFail, ""); });
  List("");
  EXPECT_EQ(errno_, EIO);
}

TEST_F(DirStreamTest, EveryListedNameCanBeLookedUp) {
  for (const char* key : {"/", "x//y", "./p", "../q", "%mc", "plain", "x"}) client_.Store(key, "v");
  client_.Store(std::string(300, 'l'), "v");
  client_.Store(std::string("n\0l", 3), "v");
  std::vector<std::string> todo = {""};
  size_t files = 0;
  while (!todo.empty()) {
    const std::string at = todo.back();
    todo.pop_back();
    for (const std::string& name : List(at)) {
      const std::string path = at.empty() ? name : at + "/" + name;
      const InodePtr inode = Walk(path);
      ASSERT_NE(inode, nullptr) << path;
      if (inode->is_directory()) {
        todo.push_back(path);
      } else {
        EXPECT_EQ(ReadFile(path), "v") << path;
        ++files;
      }
    }
  }
  EXPECT_EQ(files, client_.Keys().size());
}

}  // namespace
}  // namespace mooncake::fs

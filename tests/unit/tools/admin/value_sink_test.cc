#include "tools/admin/value_sink.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace mooncake::admin {
namespace {

class Sink : public ::testing::Test {
 protected:
  Sink() {
    std::string name = (std::filesystem::temp_directory_path() / "mc-sink-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Sink() override { std::filesystem::remove_all(folder_); }
  std::string Contents(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t Files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }
  std::string folder_;
};

TEST_F(Sink, AFileAppearsAtCommit) {
  auto sink = OpenSink(folder_ + "/f", -1);
  ASSERT_TRUE(sink.ok()) << sink.message();
  ASSERT_TRUE((*sink)->Write(AsBytes("value")).ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/f"));
  ASSERT_TRUE((*sink)->Commit().ok());
  EXPECT_EQ(Contents("f"), "value");
  sink->reset();
  EXPECT_EQ(Files(), 1u);
}

TEST_F(Sink, WithoutCommitTheOldFileStaysAndNothingElse) {
  std::ofstream(folder_ + "/f") << "old";
  auto sink = OpenSink(folder_ + "/f", -1);
  ASSERT_TRUE(sink.ok());
  ASSERT_TRUE((*sink)->Write(AsBytes("new")).ok());
  sink->reset();
  EXPECT_EQ(Contents("f"), "old");
  EXPECT_EQ(Files(), 1u);
}

TEST_F(Sink, AReplacedFileKeepsItsModeAndALinkStaysALink) {
  std::ofstream(folder_ + "/f") << "old";
  ::chmod((folder_ + "/f").c_str(), 0600);
  std::filesystem::create_symlink("f", folder_ + "/link");
  auto sink = OpenSink(folder_ + "/link", -1);
  ASSERT_TRUE(sink.ok());
  ASSERT_TRUE((*sink)->Write(AsBytes("new")).ok());
  ASSERT_TRUE((*sink)->Commit().ok());
  EXPECT_EQ(Contents("f"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ + "/link"));
  struct stat info {};
  ::stat((folder_ + "/f").c_str(), &info);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(Sink, DevicesAndPipesAreWrittenDirectly) {
  auto null = OpenSink("/dev/null", -1);
  ASSERT_TRUE(null.ok()) << null.message();
  EXPECT_TRUE((*null)->Write(AsBytes("value")).ok());
  EXPECT_TRUE((*null)->Commit().ok());
  auto full = OpenSink("/dev/full", -1);
  ASSERT_TRUE(full.ok());
  EXPECT_EQ((*full)->Write(AsBytes("value")).code(), ErrorCode::kWriteFail);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  auto out = OpenSink("-", ends[1]);
  ASSERT_TRUE(out.ok());
  EXPECT_TRUE((*out)->Write(AsBytes("value")).ok());
  char buffer[8];
  EXPECT_EQ(::read(ends[0], buffer, sizeof(buffer)), 5);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(Sink, AFolderThatIsNotThereIsNamed) {
  const auto sink = OpenSink(folder_ + "/none/f", -1);
  ASSERT_FALSE(sink.ok());
  EXPECT_NE(sink.message().find("none/f"), std::string::npos) << sink.message();
}

}  // namespace
}  // namespace mooncake::admin

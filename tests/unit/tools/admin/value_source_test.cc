#include "tools/admin/value_source.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "transfer/base/units.h"

namespace mooncake::admin {
namespace {

std::string Joined(const ValueSource& source) {
  std::string text;
  for (const ByteSpan part : source.parts()) text += AsText(part);
  return text;
}

class Source : public ::testing::Test {
 protected:
  Source() {
    std::string name = (std::filesystem::temp_directory_path() / "mc-source-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    file_ = folder_ + "/f";
  }
  ~Source() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
  std::string file_;
};

TEST_F(Source, AFileIsReadWhole) {
  std::ofstream(file_) << "value";
  const auto source = OpenSource(file_, -1, kMiB);
  ASSERT_TRUE(source.ok()) << source.message();
  EXPECT_EQ(Joined(**source), "value");
  EXPECT_EQ((*source)->size(), 5u);
  EXPECT_TRUE((*source)->CheckUnchanged().ok());
}

TEST_F(Source, AnEmptyFileIsAnEmptyValue) {
  std::ofstream(file_).close();
  const auto source = OpenSource(file_, -1, kMiB);
  ASSERT_TRUE(source.ok());
  EXPECT_EQ((*source)->size(), 0u);
  EXPECT_EQ(Joined(**source), "");
}

TEST_F(Source, AFileThatIsWrittenMeanwhileIsNoticed) {
  std::ofstream(file_) << "value";
  const auto source = OpenSource(file_, -1, kMiB);
  ASSERT_TRUE(source.ok());
  std::ofstream(file_, std::ios::app) << "more";
  EXPECT_EQ((*source)->CheckUnchanged().code(), ErrorCode::kInvalidRead);
}

TEST_F(Source, APipeIsReadToItsEndWithinABound) {
  const std::string value(3 * kMiB + 17, 'x');
  for (const uint64_t limit : {4 * kMiB, 2 * kMiB}) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    std::thread writer([&] {
      size_t done = 0;
      while (done < value.size()) {
        const ssize_t n = ::write(ends[1], value.data() + done, value.size() - done);
        if (n <= 0) break;
        done += static_cast<size_t>(n);
      }
      ::close(ends[1]);
    });
    const auto source = OpenSource("-", ends[0], limit);
    // Whoever gave up leaves the rest unread: take it, so that the writer ends.
    char rest[65536];
    while (::read(ends[0], rest, sizeof(rest)) > 0) continue;
    writer.join();
    ::close(ends[0]);
    if (limit > value.size()) {
      ASSERT_TRUE(source.ok()) << source.message();
      EXPECT_EQ(Joined(**source), value);
    } else {
      EXPECT_EQ(source.code(), ErrorCode::kBufferOverflow);
    }
  }
}

TEST_F(Source, WhatCannotBeReadIsNamed) {
  EXPECT_NE(OpenSource(folder_ + "/none", -1, kMiB).message().find("none"), std::string::npos);
  EXPECT_NE(OpenSource(folder_, -1, kMiB).message().find("directory"), std::string::npos);
}

TEST_F(Source, FilesOfProcThatSayTheyAreEmptyAreRead) {
  const auto source = OpenSource("/proc/self/stat", -1, kMiB);
  ASSERT_TRUE(source.ok());
  EXPECT_GT((*source)->size(), 0u);
}

}  // namespace
}  // namespace mooncake::admin

#include "tools/bench/trace_reader.h"

#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mooncake::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TraceReader : public testing::Test {
 protected:
  ~TraceReader() override { std::filesystem::remove(path_); }

  Result<Trace> Read(std::string_view text) {
    std::ofstream(path_, std::ios::binary) << text;
    return ReadTrace(path_);
  }
  void Zip(const std::string& text) {
    gzFile file = gzopen(path_.c_str(), "wb");
    ASSERT_NE(file, nullptr);
    ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())),
              static_cast<int>(text.size()));
    ASSERT_EQ(gzclose(file), Z_OK);
  }
  // The message of the refusal.
  std::string Refusal(std::string_view text) {
    const auto trace = Read(text);
    EXPECT_FALSE(trace.ok()) << text;
    if (trace.ok()) return "";
    EXPECT_EQ(trace.status().code(), ErrorCode::kInvalidParams);
    return std::string(trace.status().message());
  }

  const std::string path_ = testing::TempDir() + "trace_reader_test_" +
                            testing::UnitTest::GetInstance()->current_test_info()->name() +
                            ".jsonl";
};

constexpr char kTwoRequests[] =
    "{\"timestamp\": 0, \"input_length\": 1000, \"hash_ids\": [7, 900000000000, 7]}\n"
    "\n"
    "{\"hash_ids\": [900000000000, 3]}";

TEST_F(TraceReader, NumbersBlocksInOrderOfAppearance) {
  const auto trace = Read(kTwoRequests);
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_THAT(trace->uses, ElementsAre(0, 1, 0, 1, 2));
  EXPECT_THAT(trace->chain_ends, ElementsAre(3, 5));
  EXPECT_EQ(trace->blocks, 3u);
}

TEST_F(TraceReader, ReadsGzipAsWell) {
  Zip(kTwoRequests);
  const auto trace = ReadTrace(path_);
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_THAT(trace->uses, ElementsAre(0, 1, 0, 1, 2));
}

TEST_F(TraceReader, ReadsLinesLongerThanItsBuffer) {
  std::string line = "{\"hash_ids\": [0";
  for (int i = 1; i < 50000; ++i) line += ", " + std::to_string(i);
  const auto trace = Read(line + "]}\n{\"hash_ids\": [1]}\n");
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_EQ(trace->blocks, 50000u);
  EXPECT_THAT(trace->chain_ends, ElementsAre(50000, 50001));
}

TEST_F(TraceReader, SaysWhichLineIsWrongAndHow) {
  const std::string good = "{\"hash_ids\": [1]}\n";
  EXPECT_THAT(Refusal(good + good + "{\"hash_ids\": [1}\n"), HasSubstr(":3: not JSON"));
  EXPECT_THAT(Refusal(good + "[1]\n"), HasSubstr(":2: not a JSON object"));
  EXPECT_THAT(Refusal("{\"hashes\": []}\n"), HasSubstr(":1: has no \"hash_ids\""));
  EXPECT_THAT(Refusal("{\"hash_ids\": 4}\n"), HasSubstr(":1: \"hash_ids\" is not an array"));
  EXPECT_THAT(Refusal("{\"hash_ids\": [1, -2]}\n"), HasSubstr(":1: \"hash_ids\" has -2"));
  EXPECT_THAT(Refusal("{\"hash_ids\": [1, \"a\"]}\n"), HasSubstr(":1: \"hash_ids\" has \"a\""));
}

TEST_F(TraceReader, RefusesATraceWithoutBlocks) {
  EXPECT_THAT(Refusal(""), HasSubstr("no request with blocks"));
  EXPECT_THAT(Refusal("{\"hash_ids\": []}\n"), HasSubstr("no request with blocks"));
}

TEST_F(TraceReader, ACutGzipFileIsNotTakenForAShortTrace) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "{\"hash_ids\": [" + std::to_string(i * 7919) + "]}\n";
  Zip(text);
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) / 2);
  const auto trace = ReadTrace(path_);
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.status().code(), ErrorCode::kInvalidRead);
}

TEST_F(TraceReader, AMissingFileIsNamed) {
  const auto trace = ReadTrace(path_ + ".none");
  ASSERT_FALSE(trace.ok());
  EXPECT_EQ(trace.status().code(), ErrorCode::kInvalidParams);
  EXPECT_THAT(std::string(trace.status().message()), HasSubstr(path_ + ".none"));
}

}  // namespace
}  // namespace mooncake::bench

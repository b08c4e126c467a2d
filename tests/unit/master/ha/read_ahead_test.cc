#include "master/ha/read_ahead.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace mooncake {
namespace {

// More than the queue holds: the reader has to wait for room, and all of it arrives in order.
TEST(ReadAheadTest, GivesEverythingInOrderHoweverSlowlyItIsTaken) {
  constexpr int kItems = 10000;
  int expected = 0;
  const std::string answer = ReadAhead<std::unique_ptr<int>>(
      [&](const auto& sink) {
        for (int i = 0; i < kItems; ++i) sink(std::make_unique<int>(i));
        return std::string("all");
      },
      [&](std::unique_ptr<int> item) { ASSERT_EQ(*item, expected++); });
  EXPECT_EQ(expected, kItems);
  EXPECT_EQ(answer, "all");
}

TEST(ReadAheadTest, OfNothingItTellsTheOutcome) {
  EXPECT_EQ(
      ReadAhead<int>([](const auto&) { return 7; }, [](int) { FAIL() << "there was nothing"; }), 7);
}

}  // namespace
}  // namespace mooncake

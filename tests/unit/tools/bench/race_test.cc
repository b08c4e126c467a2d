#include "tools/bench/race.h"

#include <string>

#include <gtest/gtest.h>

#include "transfer/base/manual_clock.h"

namespace mooncake::bench {
namespace {

Contender Taking(std::string name, Duration time, ManualClock& clock, std::string& order) {
  return {.name = name, .run = [&clock, &order, name, time](uint64_t) {
            order += name;
            clock.Advance(time);
            return Status::Ok();
          }};
}

TEST(Race, TakesTurnsAndChangesWhoBegins) {
  ManualClock clock;
  std::string order;
  std::vector<Contender> both = {Taking("a", Millis(1), clock, order),
                                 Taking("b", Millis(3), clock, order)};
  ASSERT_TRUE(Race(both, {.warm_up = 1, .min_rounds = 3, .max_rounds = 3}, clock).ok());
  EXPECT_EQ(order, "abbaabba");
  EXPECT_EQ(both[0].samples.size(), 3u) << "a warm-up does not count";
  EXPECT_EQ(both[0].samples.Median(), Millis(1));
  EXPECT_EQ(both[1].samples.Median(), Millis(3));
}

TEST(Race, EndsWithItsTimeButNotBeforeTheLeastRounds) {
  ManualClock clock;
  std::string order;
  std::vector<Contender> one = {Taking("a", Seconds(1), clock, order)};
  ASSERT_TRUE(Race(one, {.warm_up = 0, .min_rounds = 2, .time = Millis(10)}, clock).ok());
  EXPECT_EQ(order, "aa");
  one[0].samples = {};
  ASSERT_TRUE(Race(one, {.warm_up = 0, .min_rounds = 2, .time = Seconds(5)}, clock).ok());
  EXPECT_EQ(one[0].samples.size(), 5u);
}

TEST(Race, ABatchIsOneSampleOfItsMeanAndIsCleanedUpUnmeasured) {
  ManualClock clock;
  std::string order;
  std::vector<Contender> one = {Taking("a", Millis(2), clock, order)};
  std::vector<uint64_t> cleaned;
  one[0].batch = 4;
  one[0].after = [&](uint64_t i) {
    cleaned.push_back(i);
    clock.Advance(Seconds(1));
  };
  ASSERT_TRUE(Race(one, {.warm_up = 0, .min_rounds = 1, .max_rounds = 1}, clock).ok());
  EXPECT_EQ(one[0].samples.Median(), Millis(2));
  EXPECT_EQ(cleaned, (std::vector<uint64_t>{0, 1, 2, 3}));
}

TEST(Race, TheFirstFailureEndsItAndSaysWhose) {
  ManualClock clock;
  std::vector<Contender> one = {{.name = "broken", .run = [](uint64_t) {
                                   return Status(ErrorCode::kTransferFail, "no way");
                                 }}};
  const Status status = Race(one, {}, clock);
  EXPECT_EQ(status.code(), ErrorCode::kTransferFail);
  EXPECT_EQ(status.message(), "broken: no way");
}

}  // namespace
}  // namespace mooncake::bench

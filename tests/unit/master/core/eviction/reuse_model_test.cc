#include "master/core/eviction/reuse_model.h"

#include <gtest/gtest.h>

namespace mooncake::core {
namespace {

using Known = ReuseClass::Beginning;

constexpr uint64_t Hash(uint64_t key) { return key * 0x9e3779b97f4a7c15; }

TEST(ReuseModel, AClassTellsHowOftenAndWhereInTheChain) {
  ReuseModel model;
  const TimePoint now{Seconds(1)};
  model.SetPlace(ReuseClass::kEnd, 1);
  const uint8_t written = model.Written(now, Hash(1));
  EXPECT_EQ(written, ReuseClass::kEnd);
  const uint8_t place = ReuseClass::PlaceOf(20, Known{.middle = 1});
  model.SetPlace(place, 1);
  EXPECT_EQ(model.Used(now, Hash(1), written), ReuseClass::kPlaces + place);
  uint8_t of = written;
  for (int i = 0; i < 10; ++i) of = model.Used(now, Hash(1), of);
  EXPECT_EQ(of, (ReuseClass::kUses - 1) * ReuseClass::kPlaces + place);
}

TEST(ReuseModel, PlacesDifferByUnknownKeys) {
  const auto place = [](size_t unknown) { return ReuseClass::PlaceOf(unknown, std::nullopt); };
  EXPECT_EQ(place(0), place(7));
  EXPECT_NE(place(7), place(8));
  EXPECT_NE(place(63), place(64));
  EXPECT_EQ(place(64), place(1'000'000));
}

TEST(ReuseModel, PlacesDifferByTurnsOfAConversationAndByUsesOfASharedBeginning) {
  const auto place = [](size_t middle, size_t last) {
    return ReuseClass::PlaceOf(1, Known{.middle = middle, .last = last});
  };
  EXPECT_NE(ReuseClass::PlaceOf(1, std::nullopt), place(0, 0));
  EXPECT_NE(place(0, 0), place(1, 0));
  EXPECT_NE(place(3, 0), place(3, 3));
  EXPECT_NE(place(2, 1), place(2, 2));
  EXPECT_EQ(place(1, 1), place(200, 1));
  EXPECT_EQ(place(3, 3), place(3, 200));
  EXPECT_LT(ReuseClass::PlaceOf(1'000'000, Known{.middle = 200, .last = 200}), ReuseClass::kEnd);
}

TEST(ReuseModel, AWrittenKeyIsWhereItWasMissed) {
  ReuseModel model;
  const uint8_t place = ReuseClass::PlaceOf(10, Known{.middle = 2});
  model.SetPlace(place, 1);
  model.Missed(Hash(1));
  model.SetPlace(ReuseClass::kEnd, 1);
  EXPECT_EQ(model.Written(TimePoint(), Hash(1)), place);
  EXPECT_EQ(model.Written(TimePoint(), Hash(2)), ReuseClass::kEnd);
}

TEST(ReuseModel, AKeyThatComesBackAfterItWasEvictedWasUsedBefore) {
  ReuseModel model;
  const uint8_t first = model.Written(TimePoint(), Hash(1));
  EXPECT_EQ(model.UsesOf(Hash(1)), 0);
  EXPECT_EQ(model.Written(TimePoint(), Hash(1)), first + ReuseClass::kPlaces);
  EXPECT_EQ(model.UsesOf(Hash(1)), 1);
  EXPECT_EQ(model.UsesOf(Hash(2)), std::nullopt);
}

// Keys of one place are read again 100 uses later, those of another never.
TEST(ReuseModel, LearnsWhichPlacesPay) {
  ReuseModel model;
  TimePoint now{};
  const uint8_t good = ReuseClass::PlaceOf(1, std::nullopt);
  const uint8_t bad = ReuseClass::PlaceOf(100, std::nullopt);
  for (uint64_t i = 0; i < 20'000; ++i) {
    now += Millis(1);
    model.SetPlace(i % 2 == 0 ? good : bad, 1);
    model.Written(now, Hash(i));
    if (i >= 100 && i % 2 == 0) {
      model.SetPlace(good, 1);
      model.Used(now, Hash(i - 100), good);
    }
    model.LearnIfDue(1000);
  }
  EXPECT_GT(model.Density(good, now), 10 * model.Density(bad, now));
  EXPECT_FALSE(model.IsStrange(now - Seconds(1)));
  EXPECT_TRUE(model.IsStrange(TimePoint()));
}

}  // namespace
}  // namespace mooncake::core

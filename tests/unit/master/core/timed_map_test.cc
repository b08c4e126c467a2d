#include "master/core/timed_map.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "transfer/base/strong_id.h"

namespace mooncake::core {
namespace {

using Id = StrongId<struct TimedMapTestTag>;

TimePoint At(int64_t seconds) { return TimePoint{Seconds(seconds)}; }

// What is due at `now`, in the order in which it comes, taken out.
std::vector<uint64_t> TakeDue(TimedMap<Id, std::string>& map, TimePoint now) {
  std::vector<uint64_t> ids;
  while (const auto id = map.Due(now)) {
    ids.push_back(id->value);
    map.Take(*id);
  }
  return ids;
}

TEST(TimedMap, WhatIsDueFirstComesFirstAndEqualsInOrderOfId) {
  TimedMap<Id, std::string> map;
  map.Insert(Id{3}, At(20), "late");
  map.Insert(Id{2}, At(10), "b");
  map.Insert(Id{1}, At(10), "a");
  EXPECT_EQ(map.NextDeadline(), At(10));
  EXPECT_EQ(TakeDue(map, At(9)), std::vector<uint64_t>{});
  EXPECT_EQ(TakeDue(map, At(10)), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(TakeDue(map, At(1000)), (std::vector<uint64_t>{3}));
  EXPECT_EQ(map.NextDeadline(), kNever);
}

TEST(TimedMap, AnEarlierDeadlineTakesThePlaceOfALaterOne) {
  TimedMap<Id, std::string> map;
  map.Insert(Id{1}, At(10), "a");
  map.Insert(Id{2}, At(20), "b");
  map.SetDeadline(Id{2}, At(5));
  EXPECT_EQ(TakeDue(map, At(5)), (std::vector<uint64_t>{2}));
  map.SetDeadline(Id{1}, At(30));
  EXPECT_EQ(TakeDue(map, At(29)), std::vector<uint64_t>{});
}

TEST(TimedMap, WhatWasTakenOutIsNeverDue) {
  TimedMap<Id, std::string> map;
  map.Insert(Id{1}, At(10), "a");
  EXPECT_EQ(map.Take(Id{1}).value_or(""), "a");
  EXPECT_FALSE(map.Take(Id{1}).has_value());
  EXPECT_EQ(map.Find(Id{1}), nullptr);
  EXPECT_EQ(TakeDue(map, At(1000)), std::vector<uint64_t>{});
  EXPECT_EQ(map.size(), 0u);
}

}  // namespace
}  // namespace mooncake::core

#include "tests/unit/master/core/core_fixture.h"

namespace mooncake::core {
namespace {

class Listing : public CoreTest {
 protected:
  void PutAll(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) Put(key, 0);
  }
  ListReply List(ListArgs args) {
    const auto reply = core().ListObjects(now_, args);
    EXPECT_TRUE(reply.ok()) << reply.status();
    return reply.value_or({});
  }
  static std::vector<std::string> Names(const ListReply& reply) {
    std::vector<std::string> names;
    for (const ListEntry& e : reply.entries) names.push_back(e.key);
    return names;
  }
  using Strings = std::vector<std::string>;
};

TEST_F(Listing, IsInByteOrderAndKeepsToThePrefix) {
  PutAll({"b", "a", "ab", "\xff", "aa"});
  EXPECT_EQ(Names(List({})), (Strings{"a", "aa", "ab", "b", "\xff"}));
  EXPECT_EQ(Names(List({.prefix = "a"})), (Strings{"a", "aa", "ab"}));
  EXPECT_EQ(Names(List({.prefix = "\xff"})), (Strings{"\xff"}));
  EXPECT_TRUE(List({.prefix = "c"}).entries.empty());
}

TEST_F(Listing, FoldsWhatIsBelowTheDelimiter) {
  PutAll({"d/", "d/x", "d/y/z", "e", "f/g"});
  const ListReply reply = List({.delimiter = "/"});
  EXPECT_EQ(Names(reply), (Strings{"d/", "e", "f/"}));
  EXPECT_TRUE(reply.entries[0].is_prefix);
  EXPECT_FALSE(reply.entries[1].is_prefix);
  EXPECT_EQ(Names(List({.prefix = "d/", .delimiter = "/"})), (Strings{"d/", "d/x", "d/y/"}));
}

TEST_F(Listing, PagesWithoutLossOrRepetition) {
  PutAll({"a", "d/1", "d/2", "e", "f/1", "g"});
  for (uint32_t limit = 1; limit <= 6; ++limit) {
    Strings seen;
    ListArgs args{.delimiter = "/", .limit = limit};
    for (;;) {
      const ListReply reply = List(args);
      for (const std::string& name : Names(reply)) seen.push_back(name);
      if (!reply.truncated) break;
      args.start_after = reply.entries.back().key;
    }
    EXPECT_EQ(seen, (Strings{"a", "d/", "e", "f/", "g"})) << "limit " << limit;
  }
}

TEST_F(Listing, AFullLastPageIsNotTruncated) {
  PutAll({"a", "b"});
  EXPECT_FALSE(List({.limit = 2}).truncated);
  EXPECT_TRUE(List({.limit = 1}).truncated);
}

TEST_F(Listing, StartAfterInsideACommonPrefixSkipsAllOfIt) {
  PutAll({"d/1", "d/2", "e"});
  EXPECT_EQ(Names(List({.delimiter = "/", .start_after = "d/1"})), (Strings{"e"}));
  EXPECT_EQ(Names(List({.start_after = "d/1"})), (Strings{"d/2", "e"}));
  EXPECT_EQ(Names(List({.prefix = "d/", .delimiter = "/", .start_after = "d/1"})),
            (Strings{"d/2"}));
  EXPECT_EQ(Names(List({.prefix = "d/", .start_after = "z"})), (Strings{}));
}

TEST_F(Listing, ADelimiterMayBeLong) {
  PutAll({"a::b", "a::c", "a:d"});
  EXPECT_EQ(Names(List({.delimiter = "::"})), (Strings{"a::", "a:d"}));
}

TEST_F(Listing, ACommonPrefixOfTheLastBytesEndsTheList) {
  PutAll(
      {"\xff\xff"
       "1",
       "\xff\xff"
       "2"});
  EXPECT_EQ(Names(List({.delimiter = "\xff"})), (Strings{"\xff"}));
  EXPECT_FALSE(List({.delimiter = "\xff", .start_after = "\xff"}).truncated);
}

TEST_F(Listing, CarriesTheStatAndGrantsNoLease) {
  Mount("a", kMiB);
  const PutId id = Put("k", 7, {.group = "g"});
  const ListReply reply = List({});
  ASSERT_EQ(reply.entries.size(), 1u);
  EXPECT_EQ(reply.entries[0].stat.put_id, id);
  EXPECT_EQ(reply.entries[0].stat.size, 7u);
  EXPECT_EQ(reply.entries[0].stat.replica_count, 1u);
  EXPECT_EQ(reply.entries[0].stat.group, "g");
  EXPECT_EQ(Remove("k"), Status::Ok());
}

TEST_F(Listing, HidesWritesInProgress) {
  Mount("a", kMiB);
  Start("k", 1).Ignore("never ended");
  EXPECT_TRUE(List({}).entries.empty());
}

TEST_F(Listing, InStepsIsTheSame) {
  for (int i = 0; i < 50; ++i)
    PutAll({"d" + std::to_string(i % 5) + "/" + std::to_string(i), "k" + std::to_string(i)});
  const ListArgs args{.delimiter = "/", .limit = 40};
  auto walk = core().StartListObjects(args);
  ASSERT_TRUE(walk.ok());
  while (!core().Step(now_, walk.value(), 3)) {
  }
  const ListReply whole = List(args);
  EXPECT_EQ(Names(walk.value().reply), Names(whole));
  EXPECT_EQ(walk.value().reply.truncated, whole.truncated);
}

TEST_F(Listing, RefusesSenselessLimits) {
  EXPECT_EQ(core().ListObjects(now_, {.limit = 0}).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(core().ListObjects(now_, {.limit = kMaxListLimit + 1}).code(),
            ErrorCode::kInvalidParams);
  EXPECT_EQ(core().ListObjects(now_, {.delimiter = std::string(17, '/')}).code(),
            ErrorCode::kInvalidParams);
}

}  // namespace
}  // namespace mooncake::core

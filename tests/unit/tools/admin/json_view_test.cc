#include "tools/admin/json_view.h"

#include <gtest/gtest.h>

namespace mooncake::admin {
namespace {

TEST(JsonView, AKeyIsItselfOrHasItsBytesBeside) {
  Json json;
  SetText(json, "key", "caf\u00e9\n\\");
  EXPECT_EQ(json["key"], "caf\u00e9\n\\");
  EXPECT_FALSE(json.contains("key_base64"));
  Json other;
  SetText(other, "key", "caf\xe9");
  EXPECT_EQ(Dump(other), R"({"key":"caf\\xe9","key_base64":"Y2Fm6Q=="})");
}

TEST(JsonView, AnObjectShowsEverything) {
  ObjectStat stat;
  stat.put_id = PutId{1579822699570528257};
  stat.size = 7;
  stat.replica_count = 2;
  stat.created_ms = 1000;
  stat.lease_left = Millis(1500);
  stat.attributes = ObjectAttributes{
      .kind = ObjectKind::kFile, .mode = 0644, .uid = 1, .gid = 2, .mtime_ns = 3000000};
  EXPECT_EQ(
      Dump(ToJson("k", stat)),
      R"({"key":"k","size":7,"version":"1579822699570528257","replicas":2,"created_ms":1000,"lease_left_ms":1500,)"
      R"("soft_pin_left_ms":0,"hard_pin":false,"attributes":{"kind":"file","mode":420,"uid":1,"gid":2,"mtime_ms":3}})");
}

TEST(JsonView, AListEntryIsAnObjectOrAPrefix) {
  ListEntry prefix{.key = "a/", .is_prefix = true, .stat = {}};
  EXPECT_EQ(Dump(ToJson(prefix)), R"({"prefix":"a/"})");
  ListEntry object{.key = "a", .is_prefix = false, .stat = {}};
  EXPECT_EQ(ToJson(object)["key"], "a");
}

TEST(JsonView, AnErrorHasCodeNumberAndCure) {
  const Json json = ToJson(Status(ErrorCode::kObjectHasLease, "key 'k' is read"));
  EXPECT_EQ(json["code"], "OBJECT_HAS_LEASE");
  EXPECT_EQ(json["number"], -706);
  EXPECT_EQ(json["message"], "key 'k' is read");
  EXPECT_TRUE(json.contains("cure"));
}

TEST(JsonView, ASnapshotSaysWhatIsWrongWithItOnlyIfSomethingIs) {
  SnapshotDescriptor snapshot{"1", 2, 3, 4, Term{5}, 6, 7, ""};
  EXPECT_EQ(
      Dump(ToJson(snapshot)),
      R"({"id":"1","usable":true,"records":2,"bytes":3,"begun_ms":4,"term":5,"log_from":6,"log_until":7})");
  snapshot.trouble = "\xff";
  EXPECT_EQ(ToJson(snapshot)["usable"], false);
  EXPECT_EQ(ToJson(snapshot)["trouble"], "\\xff");
}

TEST(JsonView, NothingThatAPeerSendsBreaksTheDocument) {
  SegmentInfo segment;
  segment.descriptor.name = "\xff\"\\";
  segment.descriptor.endpoint = "\x01\xfe";
  segment.status = static_cast<SegmentStatus>(99);
  const Json json = Json::parse(Dump(ToJson(segment)));
  EXPECT_EQ(json["status"], "unknown");
  EXPECT_EQ(json["name_base64"], "/yJc");
}

}  // namespace
}  // namespace mooncake::admin

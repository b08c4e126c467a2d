#include "transfer/coord/etcd_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mooncake::etcd_json {
namespace {

using ::testing::HasSubstr;

TEST(EtcdJson, RequestsAreThoseOfTheGateway) {
  EXPECT_EQ(GetRequest("key"), R"({"key":"a2V5"})");
  EXPECT_EQ(
      SwapRequest(
          {.key = "key", .value = std::string("\0\xff", 2), .expected_revision = 9007199254740993}),
      R"({"compare":[{"key":"a2V5","mod_revision":"9007199254740993","result":"EQUAL","target":"MOD"}],)"
      R"("failure":[{"request_range":{"key":"a2V5"}}],)"
      R"("success":[{"request_put":{"key":"a2V5","value":"AP8="}}]})");
}

// As etcd 3.4 gave them.
TEST(EtcdJson, RepliesAreRead) {
  const auto none = ParseGetReply(
      R"({"header":{"cluster_id":"14841639068965178418","member_id":"10276657743932975437","revision":"1","raft_term":"2"}})");
  ASSERT_TRUE(none.ok()) << none.message();
  EXPECT_EQ(*none, std::nullopt);

  const auto value = ParseGetReply(
      R"({"header":{"revision":"7"},"kvs":[{"key":"a2V5","create_revision":"2","mod_revision":"9007199254740993","version":"3","value":"AP8="}],"count":"1"})");
  ASSERT_TRUE(value.ok()) << value.message();
  EXPECT_EQ(*value, (EtcdValue{std::string("\0\xff", 2), 9007199254740993}));

  const auto empty = ParseGetReply(
      R"({"header":{"revision":"7"},"kvs":[{"key":"a2V5","mod_revision":"6"}],"count":"1"})");
  ASSERT_TRUE(empty.ok()) << empty.message();
  EXPECT_EQ(*empty, (EtcdValue{"", 6}));

  const EtcdSwap swap = {.key = "key", .value = "mine", .expected_revision = 6};
  const auto swapped = ParseSwapReply(
      R"({"header":{"revision":"8"},"succeeded":true,"responses":[{"response_put":{"header":{"revision":"8"}}}]})",
      swap);
  ASSERT_TRUE(swapped.ok()) << swapped.message();
  EXPECT_TRUE(swapped->swapped);
  EXPECT_EQ(swapped->current, (EtcdValue{"mine", 8}));

  const auto not_swapped = ParseSwapReply(
      R"({"header":{"revision":"8"},"responses":[{"response_range":{"header":{"revision":"8"},"kvs":[{"key":"a2V5","mod_revision":"7","value":"YQ=="}],"count":"1"}}]})",
      swap);
  ASSERT_TRUE(not_swapped.ok()) << not_swapped.message();
  EXPECT_FALSE(not_swapped->swapped);
  EXPECT_EQ(not_swapped->current, (EtcdValue{"a", 7}));

  const auto gone = ParseSwapReply(
      R"({"header":{"revision":"8"},"responses":[{"response_range":{"header":{"revision":"8"}}}]})",
      swap);
  ASSERT_TRUE(gone.ok()) << gone.message();
  EXPECT_FALSE(gone->swapped);
  EXPECT_EQ(gone->current, std::nullopt);
}

TEST(EtcdJson, WhatIsNoReplyOfEtcdIsNeverAKeyThatDoesNotExist) {
  for (const char* body :
       {"",
        "{}",
        "[]",
        "null",
        "hello",
        R"({"header":{}})",
        R"({"header":[]})",
        R"({"header":{"revision":7}})",
        R"({"header":{"revision":"0"}})",
        R"({"header":{"revision":"-1"}})",
        R"({"header":{"revision":"7x"}})",
        R"({"header":{"revision":"99999999999999999999"}})",
        R"({"header":{"revision":"7"},"kvs":[]})",
        R"({"header":{"revision":"7"},"kvs":{}})",
        R"({"header":{"revision":"7"},"kvs":[1]})",
        R"({"header":{"revision":"7"},"kvs":[{"mod_revision":"6","value":1}]})",
        R"({"header":{"revision":"7"},"kvs":[{"mod_revision":"6","value":"a"}]})",
        R"({"header":{"revision":"7"},"kvs":[{"value":"YQ=="}]})",
        R"({"header":{"revision":"7"},"kvs":[{"mod_revision":"1"},{"mod_revision":"2"}]})",
        R"({"header":{"revision":"7"})"}) {
    EXPECT_EQ(ParseGetReply(body).code(), ErrorCode::kRpcFail) << body;
    EXPECT_EQ(ParseSwapReply(body, {}).code(), ErrorCode::kRpcFail) << body;
  }
  for (const char* body :
       {R"({"header":{"revision":"7"}})", R"({"header":{"revision":"7"},"succeeded":false})",
        R"({"header":{"revision":"7"},"succeeded":"true"})",
        R"({"header":{"revision":"7"},"responses":[]})",
        R"({"header":{"revision":"7"},"responses":[{"response_put":{}}]})"}) {
    EXPECT_EQ(ParseSwapReply(body, {}).code(), ErrorCode::kRpcFail) << body;
  }
}

TEST(EtcdJson, ErrorsAreToldApartByWhatMayHelp) {
  const auto error = [](int code, const std::string& words) {
    return ErrorOfReply(
        500, R"({"error":")" + words + R"(","message":"","code":)" + std::to_string(code) + "}");
  };
  EXPECT_EQ(error(3, "etcdserver: request is too large").code(), ErrorCode::kInvalidParams);
  EXPECT_THAT(error(3, "etcdserver: request is too large").message(),
              HasSubstr("request is too large"));
  EXPECT_EQ(error(8, "etcdserver: mvcc: database space exceeded").code(),
            ErrorCode::kPersistentFail);
  EXPECT_EQ(error(16, "etcdserver: invalid auth token").code(), ErrorCode::kPersistentFail);
  EXPECT_EQ(error(14, "etcdserver: no leader").code(), ErrorCode::kRpcFail);
  EXPECT_EQ(error(14, std::string(100000, 'x')).code(), ErrorCode::kRpcFail);
  EXPECT_LT(error(14, std::string(100000, 'x')).message().size(), 400u);
  for (const char* body :
       {"", "404 page not found", "{}", R"({"error":1,"code":3})", R"({"error":"x","code":"3"})"}) {
    EXPECT_EQ(ErrorOfReply(404, body).code(), ErrorCode::kRpcFail) << body;
    EXPECT_THAT(ErrorOfReply(404, body).message(), HasSubstr("HTTP status 404"));
  }
}

}  // namespace
}  // namespace mooncake::etcd_json

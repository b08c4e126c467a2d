#include "transfer/coord/etcd_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_etcd.h"
#include "transfer/base/manual_clock.h"

namespace mooncake {
namespace {

using ::testing::ElementsAre;
using testing::FakeEtcd;
using ::testing::HasSubstr;
using Fate = FakeEtcd::Fate;

TEST(EtcdEndpoints, AreGivenWithOrWithoutScheme) {
  const auto endpoints = ParseEtcdEndpoints("10.0.0.1:2379,https://etcd-2:443;http://[::1]:1/");
  ASSERT_TRUE(endpoints.ok()) << endpoints.message();
  EXPECT_THAT(*endpoints,
              ElementsAre("http://10.0.0.1:2379", "https://etcd-2:443", "http://[::1]:1"));
}

TEST(EtcdEndpoints, WhatIsNoneIsRefused) {
  for (const char* list :
       {"", ",", "a:1,", ",a:1", "a", "a:0", "a:65536", "a:1,,b:1", "ftp://a:1", "http://",
        "http://user:pw@a:1", "http://a:1/path", "a b:1", "http://a?x:1", "http://http://a:1"}) {
    EXPECT_EQ(ParseEtcdEndpoints(list).code(), ErrorCode::kInvalidParams) << list;
  }
  EXPECT_THAT(ParseEtcdEndpoints("a:1,bad").message(), HasSubstr("'bad' is none; write HOST:PORT"));
  std::string many = "a:1";
  for (int i = 0; i < 16; ++i) many += ",a:1";
  EXPECT_THAT(ParseEtcdEndpoints(many).message(), HasSubstr("17 etcd endpoints, at most 16"));
}

class EtcdClientTest : public ::testing::Test {
 protected:
  TimePoint Soon() { return clock_.Now() + Seconds(6); }
  // Members whose names are in `names` meet `fate`, the others answer.
  void Let(const std::vector<std::string>& names, Fate fate) {
    etcd_.fate = [names, fate](const HttpRequest& request) {
      for (const std::string& name : names) {
        if (request.url.find("//" + name + ":") != std::string::npos) return fate;
      }
      return Fate::kAnswered;
    };
  }
  std::vector<std::string> AskedUrls() {
    std::vector<std::string> urls;
    for (const HttpRequest& request : etcd_.requests) urls.push_back(request.url);
    etcd_.requests.clear();
    return urls;
  }

  ManualClock clock_;
  FakeEtcd etcd_;
  EtcdClient client_{{"http://a:1", "http://b:1", "http://c:1"}, etcd_.Post(), clock_};
};

TEST_F(EtcdClientTest, TheOneThatAnsweredLastIsAskedFirst) {
  Let({"a"}, Fate::kLost);
  ASSERT_TRUE(client_.Get("key", Soon()).ok());
  EXPECT_THAT(AskedUrls(), ElementsAre("http://a:1/v3/kv/range", "http://b:1/v3/kv/range"));
  ASSERT_TRUE(client_.Get("key", Soon()).ok());
  EXPECT_THAT(AskedUrls(), ElementsAre("http://b:1/v3/kv/range"));
  Let({"b"}, Fate::kLeaderless);
  ASSERT_TRUE(client_.Get("key", Soon()).ok());
  EXPECT_THAT(AskedUrls(), ElementsAre("http://b:1/v3/kv/range", "http://c:1/v3/kv/range"));
  Let({"c"}, Fate::kLost);
  ASSERT_TRUE(client_.Get("key", Soon()).ok());
  EXPECT_THAT(AskedUrls(), ElementsAre("http://c:1/v3/kv/range", "http://a:1/v3/kv/range"));
}

TEST_F(EtcdClientTest, WhenNoneAnswersTheMessageTellsOfEach) {
  Let({"a", "c"}, Fate::kLost);
  etcd_.fate = [before = etcd_.fate](const HttpRequest& request) {
    return request.url.starts_with("http://b") ? Fate::kLeaderless : before(request);
  };
  const auto value = client_.Get("key", Soon());
  EXPECT_EQ(value.code(), ErrorCode::kRpcFail);
  EXPECT_THAT(
      value.message(),
      HasSubstr(
          "http://a:1: lost; http://b:1: etcd says: etcdserver: no leader; http://c:1: lost"));

  Let({"a", "b", "c"}, Fate::kDelayed);
  EXPECT_EQ(client_.Get("key", Soon()).code(), ErrorCode::kRpcTimeout);
}

TEST_F(EtcdClientTest, ASilentMemberGetsItsShareOfTheTimeThatIsLeft) {
  Let({"a", "b", "c"}, Fate::kDelayed);
  etcd_.fate = [this, before = etcd_.fate](const HttpRequest& request) {
    clock_.Advance(request.timeout);
    return before(request);
  };
  EXPECT_EQ(client_.Get("key", Soon()).code(), ErrorCode::kRpcTimeout);
  ASSERT_EQ(etcd_.requests.size(), 3u);
  for (const HttpRequest& request : etcd_.requests) EXPECT_EQ(request.timeout, Seconds(2));
}

TEST_F(EtcdClientTest, WithoutTimeNobodyIsAsked) {
  EXPECT_EQ(client_.Get("key", clock_.Now()).code(), ErrorCode::kRpcTimeout);
  EXPECT_TRUE(etcd_.requests.empty());
}

TEST_F(EtcdClientTest, ARefusalIsNotTriedElsewhere) {
  int asked = 0;
  EtcdClient client(
      {"http://a:1", "http://b:1"},
      [&](const HttpRequest&) -> Result<HttpReply> {
        ++asked;
        return HttpReply{400, R"({"error":"etcdserver: request is too large","code":3})"};
      },
      clock_);
  const auto reply = client.CompareAndSwap({.key = "key", .value = "x"}, Soon());
  EXPECT_EQ(reply.code(), ErrorCode::kInvalidParams);
  EXPECT_THAT(reply.message(),
              HasSubstr("http://a:1: etcd says: etcdserver: request is too large"));
  EXPECT_EQ(asked, 1);
}

TEST_F(EtcdClientTest, ASwapPassesOnTheExpectedRevisionOnly) {
  const auto created = client_.CompareAndSwap({.key = "key", .value = "1"}, Soon());
  ASSERT_TRUE(created.ok()) << created.message();
  ASSERT_TRUE(created->swapped);
  const auto again = client_.CompareAndSwap({.key = "key", .value = "2"}, Soon());
  ASSERT_TRUE(again.ok()) << again.message();
  EXPECT_FALSE(again->swapped);
  EXPECT_EQ(again->current, created->current);
  const auto next = client_.CompareAndSwap({"key", "2", created->current->mod_revision}, Soon());
  ASSERT_TRUE(next.ok()) << next.message();
  EXPECT_TRUE(next->swapped);
  const auto value = client_.Get("key", Soon());
  ASSERT_TRUE(value.ok()) << value.message();
  EXPECT_EQ(*value, next->current);
}

TEST_F(EtcdClientTest, ASwapWhoseAnswerWasLostIsRecognisedAtTheNextMember) {
  Let({"a"}, Fate::kUnheard);
  const auto reply = client_.CompareAndSwap({.key = "key", .value = "mine"}, Soon());
  ASSERT_TRUE(reply.ok()) << reply.message();
  EXPECT_TRUE(reply->swapped);
  const auto value = client_.Get("key", Soon());
  ASSERT_TRUE(value.ok()) << value.message();
  EXPECT_EQ(*value, reply->current);
}

TEST_F(EtcdClientTest, ASwapThatIsDelayedComesTooLate) {
  Let({"a"}, Fate::kDelayed);
  ASSERT_TRUE(client_.CompareAndSwap({.key = "key", .value = "1"}, Soon())->swapped);
  const auto one = client_.Get("key", Soon());
  ASSERT_TRUE(client_.CompareAndSwap({"key", "2", (*one)->mod_revision}, Soon())->swapped);
  etcd_.Deliver();
  EXPECT_EQ(etcd_.Value("key"), "2");
}

}  // namespace
}  // namespace mooncake

#include "client/embedded/embedded_store.h"

#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include <gtest/gtest.h>

#include "master/api/master_api.h"
#include "transfer/base/clock.h"

namespace mooncake {
namespace {

std::unique_ptr<EmbeddedStore> Make(EmbeddedOptions options = {.size = 16 * kMiB}) {
  auto store = EmbeddedStore::Create(options);
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? std::move(*store) : nullptr;
}

std::string GetText(Client& client, std::string_view key) {
  std::string value;
  const Status status = client.Get(key, &value);
  return status.ok() ? value : std::string(ErrorCodeName(status.code()));
}

TEST(EmbeddedStore, IsAWholeStore) {
  const auto store = Make({.size = 16 * kMiB + 1});
  ASSERT_NE(store, nullptr);
  ASSERT_TRUE(store->client().Put("k", AsBytes("value")).ok());
  EXPECT_EQ(GetText(store->client(), "k"), "value");
  EXPECT_EQ(store->capacity(), 16 * kMiB + 4 * kKiB);
  const auto status = store->master().GetStatus(SystemClock().Now() + Seconds(5));
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(status->capacity, store->capacity());
  const auto view = store->client().GetView("k");
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(AsText((*view)->bytes()), "value");
}

TEST(EmbeddedStore, OtherProcessesReachItOverItsPort) {
  const auto store = Make();
  ASSERT_NE(store, nullptr);
  ASSERT_TRUE(store->client().Put("inside", AsBytes("1")).ok());
  for (const bool shared_memory : {true, false}) {
    const auto client =
        Client::Connect({.master = store->rpc_address(), .use_shared_memory = shared_memory});
    ASSERT_TRUE(client.ok()) << client.status();
    EXPECT_EQ(GetText(**client, "inside"), "1");
    const std::string key = shared_memory ? "shm" : "tcp";
    ASSERT_TRUE((*client)->Put(key, AsBytes("2")).ok());
    EXPECT_EQ(GetText(store->client(), key), "2");
    EXPECT_EQ((*client)->GetView("inside").ok(), shared_memory);
  }
}

TEST(EmbeddedStore, SeveralAreIndependent) {
  const auto one = Make({.size = 16 * kMiB, .node_name = "n"});
  const auto two = Make({.size = 16 * kMiB, .node_name = "n"});
  ASSERT_TRUE(one != nullptr && two != nullptr);
  EXPECT_NE(one->rpc_address(), two->rpc_address());
  ASSERT_TRUE(one->client().Put("k", AsBytes("1")).ok());
  EXPECT_EQ(GetText(two->client(), "k"), "OBJECT_NOT_FOUND");
}

TEST(EmbeddedStore, HasClientsForOtherTenants) {
  const auto store = Make();
  ASSERT_NE(store, nullptr);
  const auto other = store->NewClient({.tenant = "other"});
  ASSERT_TRUE(other.ok()) << other.status();
  ASSERT_TRUE((*other)->Put("k", AsBytes("1")).ok());
  EXPECT_EQ(GetText(store->client(), "k"), "OBJECT_NOT_FOUND");
  EXPECT_EQ(GetText(**other, "k"), "1");
}

TEST(EmbeddedStore, WhatCannotBeHadIsSaidAtOnce) {
  EXPECT_EQ(EmbeddedStore::Create({.size = 1}).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(EmbeddedStore::Create({.size = kTiB, .huge_pages = true}).code(),
            ErrorCode::kNoAvailableHandle);
  const auto first = Make();
  ASSERT_NE(first, nullptr);
  const auto port = ParseHostPort(first->rpc_address());
  ASSERT_TRUE(port.ok());
  const auto second = EmbeddedStore::Create({.size = 16 * kMiB, .rpc_port = port->port});
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.message().find(std::to_string(port->port)), std::string::npos)
      << second.status();
}

TEST(EmbeddedStore, AfterStopCallsFailAndNothingHangs) {
  const auto store = Make();
  ASSERT_NE(store, nullptr);
  ASSERT_TRUE(store->client().Put("k", AsBytes("value")).ok());
  auto view = store->client().GetView("k");
  ASSERT_TRUE(view.ok());
  store->Stop();
  store->Stop();
  std::string value;
  EXPECT_FALSE(store->client().Get("k", &value).ok());
  EXPECT_FALSE(store->client().Put("k2", AsBytes("v")).ok());
  EXPECT_FALSE((*view)->Valid());
  EXPECT_FALSE(Client::Connect({.master = store->rpc_address(), .timeout = Millis(500)}).ok());
}

TEST(EmbeddedStore, AForkedChildLeavesTheParentsStoreAlone) {
  auto store = Make();
  ASSERT_NE(store, nullptr);
  ASSERT_TRUE(store->client().Put("k", AsBytes("value")).ok());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::string value;
    const bool refused =
        store->client().Get("k", &value).code() == ErrorCode::kUnavailableInCurrentMode;
    store.reset();
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(GetText(store->client(), "k"), "value");
}

}  // namespace
}  // namespace mooncake

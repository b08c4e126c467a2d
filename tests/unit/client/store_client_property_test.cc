// Random operations of two clients on a small cluster, against a std::map.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "client/store_client.h"
#include "tests/support/cluster.h"
#include "tests/support/seeds.h"
#include "transfer/base/rng.h"

namespace mooncake {
namespace {

using testing::Cluster;
using testing::DataPathKind;

constexpr uint64_t kSeeds = 200;
constexpr int kSteps = 300;

MutableByteSpan BytesOf(std::string& text) {
  return {reinterpret_cast<std::byte*>(text.data()), text.size()};
}

class Model {
 public:
  Model(Cluster& cluster, std::vector<Client*> clients, uint64_t seed)
      : cluster_(cluster), clients_(std::move(clients)), rng_(seed) {}

  void Step() {
    Client& client = *clients_[rng_.Below(clients_.size())];
    switch (rng_.Below(11)) {
      case 0:
      case 1:
        return Put(client, WriteMode::kCreate);
      case 2:
        return Put(client, WriteMode::kReplace);
      case 3:
      case 4:
        return Get(client);
      case 5:
        return GetRange(client);
      case 6:
        return BatchGet(client);
      case 7:
        return Remove(client);
      case 8:
        return Rename(client);
      case 9:
        return List(client);
      case 10:
        return BatchPut(client);
    }
  }

  // Nothing is left when all is removed.
  void End() {
    for (const auto& [key, value] : objects_)
      ASSERT_TRUE(clients_[0]->Remove(key, true).ok()) << key;
    ASSERT_EQ(cluster_.objects(), 0u);
  }

 private:
  std::string Key() {
    return std::string(1, static_cast<char>('a' + rng_.Below(3))) + "/" +
           std::to_string(rng_.Below(8));
  }
  std::string Value() {
    std::string value(rng_.Chance(1, 10) ? 0 : rng_.Below(rng_.Chance(1, 5) ? 200'000 : 300), '\0');
    for (char& c : value) c = static_cast<char>(rng_.Next());
    return value;
  }
  ErrorCode Expected(const std::string& key, WriteMode mode) const {
    return mode == WriteMode::kCreate && objects_.contains(key) ? ErrorCode::kObjectAlreadyExists
                                                                : ErrorCode::kOk;
  }

  void Put(Client& client, WriteMode mode) {
    const std::string key = Key();
    const std::string value = Value();
    const PutOptions options{.config = {.replica_num = static_cast<uint32_t>(rng_.Between(1, 2))},
                             .mode = mode,
                             .checksum = rng_.Chance(1, 2)};
    const Result<PutResult> put = client.Put(key, AsBytes(value), options);
    ASSERT_EQ(put.code(), Expected(key, mode)) << put.status();
    if (put.ok()) objects_[key] = value;
  }
  void BatchPut(Client& client) {
    std::vector<std::string> values;
    std::vector<PutItem> items;
    const size_t count = rng_.Between(1, 5);
    for (size_t i = 0; i < count; ++i) values.push_back(Value());
    for (size_t i = 0; i < count; ++i) items.push_back({Key(), AsBytes(values[i])});
    const auto puts = client.BatchPut(items);
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(puts[i].code(), Expected(items[i].key, WriteMode::kCreate)) << puts[i].status();
      if (puts[i].ok()) objects_[items[i].key] = values[i];
    }
  }
  void Get(Client& client) {
    const std::string key = Key();
    std::string value;
    const Status status = client.Get(key, &value);
    const auto it = objects_.find(key);
    ASSERT_EQ(status.code(), it == objects_.end() ? ErrorCode::kObjectNotFound : ErrorCode::kOk)
        << status;
    ASSERT_EQ(value, it == objects_.end() ? "" : it->second);
  }
  void GetRange(Client& client) {
    const std::string key = Key();
    const uint64_t offset = rng_.Below(250'000);
    std::string buffer(rng_.Below(100'000), '\0');
    const Result<uint64_t> read = client.GetRange(key, offset, BytesOf(buffer));
    const auto it = objects_.find(key);
    ASSERT_EQ(read.code(), it == objects_.end() ? ErrorCode::kObjectNotFound : ErrorCode::kOk)
        << read.status();
    if (!read.ok()) return;
    const std::string& value = it->second;
    ASSERT_EQ(buffer.substr(0, *read),
              offset < value.size() ? value.substr(offset, buffer.size()) : "");
  }
  void BatchGet(Client& client) {
    const size_t count = rng_.Between(1, 6);
    std::vector<std::string> buffers(count, std::string(250'000, '\0'));
    std::vector<GetItem> items;
    for (size_t i = 0; i < count; ++i) items.push_back({Key(), BytesOf(buffers[i])});
    const auto got = client.BatchGet(items);
    for (size_t i = 0; i < count; ++i) {
      const auto it = objects_.find(items[i].key);
      ASSERT_EQ(got[i].code(), it == objects_.end() ? ErrorCode::kObjectNotFound : ErrorCode::kOk)
          << got[i].status();
      ASSERT_EQ(buffers[i].substr(0, got[i].value_or(0)), it == objects_.end() ? "" : it->second);
    }
  }
  void Remove(Client& client) {
    const std::string key = Key();
    const Status status = client.Remove(key, true);
    ASSERT_EQ(status.code(), objects_.erase(key) > 0 ? ErrorCode::kOk : ErrorCode::kObjectNotFound)
        << status;
  }
  void Rename(Client& client) {
    const std::string from = Key();
    const std::string to = Key();
    const bool no_replace = rng_.Chance(1, 2);
    const Status status = client.Rename(from, to, no_replace);
    const auto it = objects_.find(from);
    if (it == objects_.end()) {
      ASSERT_EQ(status.code(), ErrorCode::kObjectNotFound) << status;
    } else if (from != to && no_replace && objects_.contains(to)) {
      ASSERT_EQ(status.code(), ErrorCode::kObjectAlreadyExists) << status;
    } else {
      ASSERT_TRUE(status.ok()) << status;
      if (from == to) return;
      objects_[to] = it->second;
      objects_.erase(from);
    }
  }
  void List(Client& client) {
    std::vector<std::string> keys;
    std::string after;
    for (bool more = true; more;) {
      const Result<ListReply> reply = client.List({.start_after = after, .limit = 5});
      ASSERT_TRUE(reply.ok()) << reply.status();
      for (const ListEntry& entry : reply->entries) {
        keys.push_back(entry.key);
        const auto it = objects_.find(entry.key);
        ASSERT_NE(it, objects_.end()) << entry.key;
        ASSERT_EQ(entry.stat.size, it->second.size());
      }
      more = reply->truncated;
      if (more) after = reply->entries.back().key;
    }
    std::vector<std::string> expected;
    for (const auto& [key, value] : objects_) expected.push_back(key);
    ASSERT_EQ(keys, expected);
  }

  Cluster& cluster_;
  const std::vector<Client*> clients_;
  Rng rng_;
  std::map<std::string, std::string> objects_;
};

TEST(StoreClientProperty, BehavesLikeAMap) {
  testing::ClusterOptions options{.nodes = 3, .segment_size = 32 * kMiB};
  options.master.core.lease_ttl = Millis(250);
  Cluster cluster(options);
  const auto memcpy_client = cluster.NewClient(DataPathKind::kMemcpy);
  const auto shm_client = cluster.NewClient(DataPathKind::kShm);
  const auto tcp_client = cluster.NewClient(DataPathKind::kTcp);
  for (const uint64_t seed : testing::Seeds(kSeeds)) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    Model model(cluster, {memcpy_client.get(), shm_client.get(), tcp_client.get()}, seed);
    for (int step = 0; step < kSteps && !HasFatalFailure(); ++step) {
      SCOPED_TRACE(::testing::Message() << "step " << step);
      model.Step();
    }
    if (!HasFatalFailure()) model.End();
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace mooncake

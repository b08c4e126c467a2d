// What the public API promises, over each data path, against a whole cluster in this process.
#include "client/store_client.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/cluster.h"
#include "tests/support/wait.h"

namespace mooncake {
namespace {

using testing::Cluster;
using testing::DataPathKind;
using testing::Eventually;

std::string Pattern(size_t size, unsigned seed = 1) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(((i + seed) * 2654435761u) >> 13);
  return text;
}

MutableByteSpan BytesOf(std::string& text) {
  return {reinterpret_cast<std::byte*>(text.data()), text.size()};
}

class StoreClientTest : public ::testing::TestWithParam<DataPathKind> {
 protected:
  static testing::ClusterOptions Options() {
    testing::ClusterOptions options{.nodes = 2, .segment_size = 8 * kMiB};
    options.master.core.lease_ttl = Millis(200);
    options.master.core.min_slice_bytes = 64 * kKiB;
    return options;
  }
  PutId Put(std::string_view key, std::string_view value, const PutOptions& options = {}) {
    const Result<PutResult> put = client_->Put(key, AsBytes(value), options);
    EXPECT_TRUE(put.ok()) << put.status();
    return put.ok() ? put->version : kNoPut;
  }
  std::string Get(std::string_view key) {
    std::string value = "untouched";
    const Status status = client_->Get(key, &value);
    EXPECT_TRUE(status.ok()) << status;
    return value;
  }
  ErrorCode GetCode(std::string_view key) {
    std::string value;
    return client_->Get(key, &value).code();
  }

  Cluster cluster_{Options()};
  std::unique_ptr<Client> client_ = cluster_.NewClient(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Paths, StoreClientTest,
                         ::testing::Values(DataPathKind::kMemcpy, DataPathKind::kShm,
                                           DataPathKind::kTcp),
                         [](const auto& path) {
                           return std::string(testing::DataPathName(path.param));
                         });

TEST_P(StoreClientTest, WhatWasPutIsGot) {
  Put("k", "value");
  EXPECT_EQ(Get("k"), "value");
}

TEST_P(StoreClientTest, EverySizeComesBackWhole) {
  for (const size_t size : {0u, 1u, 2u, 63u, 64u, 65u, 511u, 512u, 513u, 4095u, 4096u, 4097u,
                            65535u, 65536u, 65537u, 1048575u, 1048576u, 1048577u}) {
    const std::string key = "size-" + std::to_string(size);
    const std::string value = Pattern(size);
    Put(key, value, {.checksum = size % 2 == 0});
    ASSERT_EQ(Get(key), value) << size;
    ASSERT_EQ(client_->Stat(key)->size, size);
  }
}

TEST_P(StoreClientTest, EmptyAndMissingAreDifferent) {
  Put("empty", "");
  EXPECT_EQ(Get("empty"), "");
  EXPECT_EQ(GetCode("missing"), ErrorCode::kObjectNotFound);
  EXPECT_EQ(client_->ExistKey("empty").value_or(false), true);
  EXPECT_EQ(client_->ExistKey("missing").value_or(true), false);
  EXPECT_EQ(client_->GetInto("empty", {}).value_or(9), 0u);
}

TEST_P(StoreClientTest, ATooSmallBufferStaysUntouched) {
  Put("k", "0123456789");
  std::string buffer(9, 'x');
  EXPECT_EQ(client_->GetInto("k", BytesOf(buffer)).code(), ErrorCode::kBufferOverflow);
  EXPECT_EQ(buffer, std::string(9, 'x'));
  buffer.resize(12, 'x');
  EXPECT_EQ(client_->GetInto("k", BytesOf(buffer)).value_or(0), 10u);
  EXPECT_EQ(buffer, "0123456789xx");
}

TEST_P(StoreClientTest, AFailedGetLeavesNoBytesToMistake) {
  std::string value = "old";
  EXPECT_EQ(client_->Get("missing", &value).code(), ErrorCode::kObjectNotFound);
  EXPECT_EQ(value, "");
}

TEST_P(StoreClientTest, RangesAreCutAtTheEnd) {
  const std::string value = Pattern(100'000);
  Put("k", value);
  const std::vector<std::pair<uint64_t, uint64_t>> ranges = {
      {0, 1},        {0, 100'000}, {99'999, 1},     {50, 20},   {1000, 64'000},
      {99'990, 100}, {100'000, 5}, {UINT64_MAX, 5}, {70'000, 0}};
  for (const auto& [offset, length] : ranges) {
    std::string buffer(length, 'x');
    const Result<uint64_t> read = client_->GetRange("k", offset, BytesOf(buffer));
    ASSERT_TRUE(read.ok()) << read.status();
    const std::string expected = offset < value.size() ? value.substr(offset, length) : "";
    ASSERT_EQ(buffer.substr(0, *read), expected) << offset << "+" << length;
  }
}

TEST_P(StoreClientTest, PartsAreJoined) {
  const std::string a = Pattern(100), b = Pattern(70'000, 2), c = Pattern(1, 3);
  const ByteSpan parts[] = {AsBytes(a), {}, AsBytes(b), AsBytes(c)};
  ASSERT_TRUE(client_->PutParts("small", parts).ok());
  EXPECT_EQ(Get("small"), a + b + c);
  const std::string big = Pattern(2 * kMiB, 4);
  const ByteSpan more[] = {AsBytes(a), AsBytes(big), AsBytes(c)};
  ASSERT_TRUE(client_->PutParts("big", more, {.checksum = true}).ok());
  EXPECT_EQ(Get("big"), a + big + c);
}

TEST_P(StoreClientTest, CreateRefusesAnExistingKeyAndReplaceSwapsIt) {
  const PutId first = Put("k", "one");
  EXPECT_EQ(client_->Put("k", AsBytes("two")).code(), ErrorCode::kObjectAlreadyExists);
  EXPECT_EQ(Get("k"), "one");
  const PutId second = Put("k", "three", {.mode = WriteMode::kReplace});
  EXPECT_NE(first, second);
  EXPECT_EQ(Get("k"), "three");
  EXPECT_EQ(
      client_->Put("k", AsBytes("four"), {.mode = WriteMode::kReplace, .expected = first}).code(),
      ErrorCode::kInvalidVersion);
  Put("k", "five", {.mode = WriteMode::kReplace, .expected = second});
  EXPECT_EQ(Get("k"), "five");
}

TEST_P(StoreClientTest, BatchesAnswerPerKeyInOrderAndTwiceForTwins) {
  const std::string a = Pattern(300), b = Pattern(70'000, 2);
  const PutItem items[] = {
      {"a", AsBytes(a)}, {"", AsBytes(a)}, {"b", AsBytes(b)}, {"a", AsBytes(b)}};
  const auto puts = client_->BatchPut(items);
  ASSERT_EQ(puts.size(), 4u);
  EXPECT_TRUE(puts[0].ok());
  EXPECT_EQ(puts[1].code(), ErrorCode::kInvalidKey);
  EXPECT_TRUE(puts[2].ok());
  EXPECT_EQ(puts[3].code(), ErrorCode::kObjectAlreadyExists);

  std::string first(300, ' '), second(300, ' '), third(70'000, ' '), small(1, ' ');
  const GetItem gets[] = {{"a", BytesOf(first)},
                          {"missing", BytesOf(first)},
                          {"b", BytesOf(third)},
                          {"a", BytesOf(second)},
                          {"b", BytesOf(small)}};
  const auto got = client_->BatchGet(gets);
  ASSERT_EQ(got.size(), 5u);
  EXPECT_EQ(got[0].value_or(0), 300u);
  EXPECT_EQ(got[1].code(), ErrorCode::kObjectNotFound);
  EXPECT_EQ(got[2].value_or(0), 70'000u);
  EXPECT_EQ(got[3].value_or(0), 300u);
  EXPECT_EQ(got[4].code(), ErrorCode::kBufferOverflow);
  EXPECT_EQ(first, a);
  EXPECT_EQ(second, a);
  EXPECT_EQ(third, b);
  const std::string keys[] = {"b", "missing", "b", ""};
  const auto exist = client_->BatchExist(keys);
  EXPECT_EQ(exist[0].value_or(false), true);
  EXPECT_EQ(exist[1].value_or(true), false);
  EXPECT_EQ(exist[2].value_or(false), true);
  EXPECT_EQ(exist[3].code(), ErrorCode::kInvalidKey);
}

TEST_P(StoreClientTest, TwinsOfABatchAreWrittenOneAfterTheOther) {
  const PutItem items[] = {
      {"k", AsBytes("1")}, {"k", AsBytes("2")}, {"other", AsBytes("3")}, {"k", AsBytes("4")}};
  for (const auto& put : client_->BatchPut(items, {.mode = WriteMode::kReplace}))
    EXPECT_TRUE(put.ok()) << put.status();
  EXPECT_EQ(Get("k"), "4");
}

TEST_P(StoreClientTest, ABatchMayBeLongerThanAWindow) {
  constexpr size_t kCount = 1500;
  std::vector<std::string> values, buffers(kCount, std::string(100, ' '));
  std::vector<PutItem> puts;
  std::vector<GetItem> gets;
  for (size_t i = 0; i < kCount; ++i) values.push_back(Pattern(100, static_cast<unsigned>(i)));
  for (size_t i = 0; i < kCount; ++i) {
    puts.push_back({"k" + std::to_string(i), AsBytes(values[i])});
    gets.push_back({"k" + std::to_string(i), BytesOf(buffers[i])});
  }
  for (const auto& put : client_->BatchPut(puts)) ASSERT_TRUE(put.ok()) << put.status();
  for (const auto& get : client_->BatchGet(gets)) ASSERT_EQ(get.value_or(0), 100u);
  EXPECT_EQ(buffers, values);
}

TEST_P(StoreClientTest, AnObjectLargerThanAnyHoleIsSpread) {
  const std::string value = Pattern(12 * kMiB);
  Put("big", value, {.checksum = true});
  EXPECT_EQ(Get("big"), value);
  std::string middle(6 * kMiB, ' ');
  ASSERT_EQ(client_->GetRange("big", 3 * kMiB, BytesOf(middle)).value_or(0), middle.size());
  EXPECT_EQ(middle, value.substr(3 * kMiB, 6 * kMiB));
}

TEST_P(StoreClientTest, ReplicasGoToDistinctNodes) {
  const Result<PutResult> put = client_->Put("k", AsBytes("value"), {.config = {.replica_num = 2}});
  ASSERT_TRUE(put.ok()) << put.status();
  EXPECT_EQ(put->replicas, 2u);
  EXPECT_EQ(client_->Stat("k")->replica_count, 2u);
}

TEST_P(StoreClientTest, ARemovedKeyIsGoneAndItsSpaceBack) {
  Put("k", Pattern(100'000));
  ASSERT_TRUE(client_->Remove("k").ok());
  EXPECT_EQ(GetCode("k"), ErrorCode::kObjectNotFound);
  EXPECT_EQ(client_->Remove("k").code(), ErrorCode::kObjectNotFound);
  EXPECT_EQ(cluster_.used_bytes(), 0u);
}

TEST_P(StoreClientTest, AReaderKeepsItsVersionWhateverBecomesOfTheName) {
  const std::string value = Pattern(100'000);
  Put("k", value);
  auto reader = client_->Open("k");
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ(client_->Remove("k").code(), ErrorCode::kObjectHasLease);
  ASSERT_TRUE(client_->Remove("k", true).ok());
  Put("k", "another");
  std::string buffer(value.size() + 10, ' ');
  // Longer than the lease: it is renewed behind the scenes.
  const TimePoint end = SystemClock().Now() + Millis(700);
  ASSERT_TRUE(Eventually([&] { return SystemClock().Now() > end; }));
  const Result<uint64_t> read = (*reader)->Read(0, BytesOf(buffer));
  ASSERT_EQ(read.value_or(0), value.size()) << read.status();
  EXPECT_EQ(buffer.substr(0, value.size()), value);
  EXPECT_EQ((*reader)->info().size, value.size());
  EXPECT_EQ((*reader)->Read(value.size(), BytesOf(buffer)).value_or(9), 0u);
  EXPECT_EQ(Get("k"), "another");
  reader->reset();
  EXPECT_TRUE(Eventually([&] { return cluster_.used_bytes() < 1000; }));
}

TEST_P(StoreClientTest, AViewShowsTheBytesWhereTheHostHasThem) {
  const std::string value = Pattern(100'000);
  Put("k", value);
  Put("empty", "");
  const auto view = client_->GetView("k");
  if (GetParam() == DataPathKind::kTcp) {
    EXPECT_EQ(view.code(), ErrorCode::kNotSupported);
    return;
  }
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(AsText((*view)->bytes()), value);
  EXPECT_TRUE((*view)->Valid());
  ASSERT_TRUE(client_->Remove("k", true).ok());
  EXPECT_TRUE((*view)->Valid());
  EXPECT_EQ(AsText((*view)->bytes()), value);
  const auto empty = client_->GetView("empty");
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_TRUE((*empty)->bytes().empty() && (*empty)->Valid());
}

TEST_P(StoreClientTest, AViewOfANodeThatLeftIsNotValid) {
  if (GetParam() == DataPathKind::kTcp) return;
  Put("k", "value");
  auto view = client_->GetView("k");
  ASSERT_TRUE(view.ok()) << view.status();
  cluster_.KillNode(0);
  cluster_.KillNode(1);
  EXPECT_FALSE((*view)->Valid());
  EXPECT_EQ((*view)->bytes().size(), 5u);  // still mapped: reading it is harmless
}

TEST_P(StoreClientTest, NamesAreMovedListedAndMatched) {
  for (const char* key : {"d/a", "d/b", "d/e/f", "x"}) Put(key, key);
  ASSERT_TRUE(client_->Rename("x", "y").ok());
  EXPECT_EQ(Get("y"), "x");
  EXPECT_EQ(GetCode("x"), ErrorCode::kObjectNotFound);
  EXPECT_EQ(client_->Rename("y", "d/a", true).code(), ErrorCode::kObjectAlreadyExists);
  EXPECT_EQ(client_->RenamePrefix("d/", "g/").value_or(0), 3u);
  const Result<ListReply> list = client_->List({.prefix = "g/", .delimiter = "/"});
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_EQ(list->entries.size(), 3u);
  EXPECT_EQ(list->entries[0].key, "g/a");
  EXPECT_EQ(list->entries[2].key, "g/e/");
  EXPECT_TRUE(list->entries[2].is_prefix);
  const auto removed = client_->RemoveByRegex({.pattern = "^g/.$"});
  ASSERT_TRUE(removed.ok()) << removed.status();
  EXPECT_EQ(removed->matched, 2u);
  const std::string keys[] = {"g/e/f", "g/a"};
  const std::vector<Status> removals = client_->BatchRemove(keys);
  EXPECT_TRUE(removals[0].ok());
  EXPECT_EQ(removals[1].code(), ErrorCode::kObjectNotFound);
}

TEST_P(StoreClientTest, AttributesAreKept) {
  const ObjectAttributes attributes{
      .kind = ObjectKind::kFile, .mode = 0640, .uid = 5, .gid = 6, .mtime_ns = 77};
  const PutId version = Put("k", "v", {.attributes = attributes});
  EXPECT_EQ(client_->Stat("k")->attributes, attributes);
  ObjectAttributes changed = attributes;
  changed.mode = 0600;
  ASSERT_TRUE(client_->SetAttributes("k", version, changed).ok());
  EXPECT_EQ(client_->Stat("k")->attributes, changed);
  EXPECT_EQ(client_->SetAttributes("k", PutId{version.value + 1}, changed).code(),
            ErrorCode::kInvalidVersion);
}

TEST_P(StoreClientTest, TenantsDoNotSeeEachOther) {
  const auto other = cluster_.NewClient({.path = GetParam(), .options = {.tenant = "other"}});
  Put("k", "mine");
  ASSERT_TRUE(other->Put("k", AsBytes("theirs")).ok());
  EXPECT_EQ(Get("k"), "mine");
  const auto list = other->List({.tenant = "default"});
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->entries.size(), 1u);
  EXPECT_EQ(other->RemoveByRegex({.tenant = "default", .pattern = "."})->removed, 1u);
  EXPECT_EQ(Get("k"), "mine");
}

TEST(StoreClientArguments, AreRefusedBeforeAnythingIsSent) {
  Cluster cluster({.nodes = 0});
  const auto client = cluster.NewClient();
  const int calls = cluster.faults().AllCalls();
  const std::string long_key(kMaxKeyBytes + 1, 'k');
  EXPECT_EQ(client->Put("", {}).code(), ErrorCode::kInvalidKey);
  EXPECT_EQ(client->Put(long_key, {}).code(), ErrorCode::kInvalidKey);
  EXPECT_EQ(client->Put("k", {}, {.config = {.replica_num = 0}}).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(client->Put("k", {}, {.config = {.replica_num = 17}}).code(),
            ErrorCode::kInvalidParams);
  EXPECT_EQ(client->Put("k", {}, {.expected = PutId{1}}).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(client->Put("k", {}, {.timeout = Seconds(-1)}).code(), ErrorCode::kInvalidParams);
  const ByteSpan huge[] = {{static_cast<const std::byte*>(nullptr), kMaxObjectBytes},
                           {static_cast<const std::byte*>(nullptr), 1}};
  EXPECT_EQ(client->PutParts("k", huge).code(), ErrorCode::kInvalidParams);
  const ByteSpan nothing(static_cast<const std::byte*>(nullptr), 7);
  EXPECT_EQ(client->Put("k", nothing).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(client->Get("k", nullptr).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(client->Rename("k", long_key).code(), ErrorCode::kInvalidKey);
  EXPECT_EQ(client->List({.limit = 0}).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(client->RemoveByRegex({.pattern = ""}).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(client->Stat("k", Seconds(25 * 3600)).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(cluster.faults().AllCalls(), calls);
}

TEST(StoreClientOptions, AreChecked) {
  EXPECT_EQ(Client::Connect({.tenant = ""}).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(Client::Connect({.timeout = Duration(1)}).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(Client::Connect({.transfer_threads = 0}).code(), ErrorCode::kInvalidParams);
  EXPECT_EQ(Client::Connect({.master = "nonsense"}).code(), ErrorCode::kInvalidParams);
  const auto nobody = Client::Connect({.master = "127.0.0.1:1", .timeout = Seconds(1)});
  EXPECT_TRUE(nobody.code() == ErrorCode::kRpcFail || nobody.code() == ErrorCode::kRpcTimeout)
      << nobody.status();
}

}  // namespace
}  // namespace mooncake

// Conversions to and from the wire: nothing is lost, nothing malformed gets in, and the bytes do not change by accident.
#include "master/api/wire.h"

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "master/api/gen-cpp/MasterRpc.h"
#include "master/api/wire_protocol.h"
#include "tests/unit/master/api/wire_samples.h"
#include "transfer/base/byte_span.h"

namespace mooncake {
namespace {

using testing::Samples;

constexpr uint64_t kSeed = 20240601;
constexpr int kRounds = 200;

template <typename Wire>
std::string Serialized(const Wire& value) {
  wire::OutFrame out;
  value.write(out.protocol().get());
  return std::string(AsText(ByteSpan(out.bytes()).subspan(4)));
}

template <typename Wire>
Wire Parsed(const std::string& bytes) {
  wire::InFrame in(AsBytes(bytes));
  Wire value;
  value.read(in.protocol().get());
  return value;
}

// What arrives at the other side.
template <typename T>
Result<T> Travelled(const T& value) {
  const auto sent = wire::Encode(value);
  return wire::Decode(Parsed<std::decay_t<decltype(sent)>>(Serialized(sent)));
}

bool Same(const ReplicateConfig& a, const ReplicateConfig& b) {
  return a.replica_num == b.replica_num && a.soft_pin == b.soft_pin &&
         a.soft_pin_ttl == b.soft_pin_ttl && a.hard_pin == b.hard_pin && a.group == b.group &&
         a.preferred_segments == b.preferred_segments &&
         a.excluded_segments == b.excluded_segments && a.host_id == b.host_id &&
         a.prefer_same_node == b.prefer_same_node;
}
bool Same(const ObjectStat& a, const ObjectStat& b) {
  return a.put_id == b.put_id && a.size == b.size && a.replica_count == b.replica_count &&
         a.lease_left == b.lease_left && a.soft_pin_left == b.soft_pin_left &&
         a.hard_pin == b.hard_pin && a.group == b.group && a.attributes == b.attributes &&
         a.created_ms == b.created_ms;
}

TEST(WireRoundTrip, PutStartArgs) {
  Samples samples(kSeed);
  for (int i = 0; i < kRounds; ++i) {
    const PutStartArgs sent = samples.PutStart();
    const auto got = Travelled(sent);
    ASSERT_TRUE(got.ok()) << got.status() << " round " << i << " seed " << kSeed;
    EXPECT_EQ(got->client, sent.client);
    EXPECT_EQ(got->name, sent.name);
    EXPECT_EQ(got->size, sent.size);
    EXPECT_EQ(got->mode, sent.mode);
    EXPECT_EQ(got->expected, sent.expected);
    EXPECT_TRUE(Same(got->config, sent.config)) << "round " << i << " seed " << kSeed;
  }
}

TEST(WireRoundTrip, PutEndAndPutRevokeAndLeaseRef) {
  Samples samples(kSeed);
  for (int i = 0; i < kRounds; ++i) {
    const PutEndArgs end{samples.NewUuid<ClientId>(), samples.Name(),
                         PutId{samples.Number(UINT64_MAX)}, samples.MaybeAttributes()};
    const auto got_end = Travelled(end);
    ASSERT_TRUE(got_end.ok()) << got_end.status();
    EXPECT_TRUE(got_end->client == end.client && got_end->name == end.name &&
                got_end->put_id == end.put_id && got_end->attributes == end.attributes);

    const PutRevokeArgs revoke{samples.NewUuid<ClientId>(), samples.Name(),
                               PutId{samples.Number(UINT64_MAX)}, samples.Coin()};
    const auto got_revoke = Travelled(revoke);
    ASSERT_TRUE(got_revoke.ok()) << got_revoke.status();
    EXPECT_TRUE(got_revoke->client == revoke.client && got_revoke->name == revoke.name &&
                got_revoke->put_id == revoke.put_id && got_revoke->settled == revoke.settled);

    const LeaseRef lease{samples.Name(), PutId{samples.Number(UINT64_MAX)}};
    const auto got_lease = Travelled(lease);
    ASSERT_TRUE(got_lease.ok()) << got_lease.status();
    EXPECT_TRUE(got_lease->name == lease.name && got_lease->put_id == lease.put_id);
  }
}

TEST(WireRoundTrip, RepliesAboutObjects) {
  Samples samples(kSeed);
  for (int i = 0; i < kRounds; ++i) {
    const PutStartReply start{PutId{samples.Number(UINT64_MAX)}, samples.Replicas(),
                              samples.Signed(), samples.Time()};
    const auto got_start = Travelled(start);
    ASSERT_TRUE(got_start.ok()) << got_start.status();
    EXPECT_TRUE(got_start->put_id == start.put_id && got_start->replicas == start.replicas &&
                got_start->write_deadline_ms == start.write_deadline_ms &&
                got_start->grant == start.grant);

    const ReplicaList list = samples.List();
    const auto got_list = Travelled(list);
    ASSERT_TRUE(got_list.ok()) << got_list.status();
    EXPECT_TRUE(got_list->put_id == list.put_id && got_list->size == list.size &&
                got_list->replicas == list.replicas && got_list->lease == list.lease &&
                got_list->attributes == list.attributes && got_list->created_ms == list.created_ms);

    const ObjectStat stat = samples.Stat();
    const auto got_stat = Travelled(stat);
    ASSERT_TRUE(got_stat.ok()) << got_stat.status();
    EXPECT_TRUE(Same(*got_stat, stat));
  }
}

TEST(WireRoundTrip, Listing) {
  Samples samples(kSeed);
  const ListArgs args{samples.Text().substr(0, 99), samples.Key(), "//", samples.Key(), 777};
  const auto got = Travelled(args);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_TRUE(got->tenant == args.tenant && got->prefix == args.prefix &&
              got->delimiter == args.delimiter && got->start_after == args.start_after &&
              got->limit == args.limit);

  const ListReply reply{{{samples.Key(), true, {}}, {samples.Key(), false, samples.Stat()}}, true};
  const auto got_reply = Travelled(reply);
  ASSERT_TRUE(got_reply.ok()) << got_reply.status();
  ASSERT_EQ(got_reply->entries.size(), 2u);
  EXPECT_TRUE(got_reply->entries[0].is_prefix);
  EXPECT_EQ(got_reply->entries[0].key, reply.entries[0].key);
  EXPECT_FALSE(got_reply->entries[1].is_prefix);
  EXPECT_TRUE(Same(got_reply->entries[1].stat, reply.entries[1].stat));
  EXPECT_TRUE(got_reply->truncated);
}

TEST(WireRoundTrip, RemoveByRegex) {
  const RemoveByRegexArgs args{"tenant", "^a.*\\d$", true, true, 7};
  const auto got = Travelled(args);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_TRUE(got->tenant == args.tenant && got->pattern == args.pattern && got->force &&
              got->dry_run && got->sample_limit == 7);
  const RemoveByRegexReply reply{5, 3, 2, {{"a1", 9}, {"a2", 0}}};
  const auto got_reply = Travelled(reply);
  ASSERT_TRUE(got_reply.ok()) << got_reply.status();
  EXPECT_TRUE(got_reply->matched == 5 && got_reply->removed == 3 && got_reply->skipped == 2);
  ASSERT_EQ(got_reply->sample.size(), 2u);
  EXPECT_EQ(got_reply->sample[0].key, "a1");
  EXPECT_EQ(got_reply->sample[0].size, 9u);
}

TEST(WireRoundTrip, SegmentsClientsStatusAndPing) {
  Samples samples(kSeed);
  for (int i = 0; i < kRounds; ++i) {
    const SegmentInfo info{samples.Segment(),
                           SegmentStatus::kUnmounting,
                           samples.Number(kMaxSegmentBytes),
                           samples.Number(kMaxSegmentBytes),
                           samples.Number(1 << 20),
                           samples.Coin()};
    const auto got = Travelled(info);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_TRUE(got->descriptor == info.descriptor && got->status == info.status &&
                got->used == info.used && got->largest_free == info.largest_free &&
                got->object_count == info.object_count && got->quarantined == info.quarantined);
  }
  const auto client =
      Travelled(ClientInfo{samples.NewUuid<ClientId>(), "10.0.0.1:7", Millis(5), 3});
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_TRUE(client->address == "10.0.0.1:7" && client->since_ping == Millis(5) &&
              client->segment_count == 3);

  const ClusterStatus status{Term{9}, "0.1.0", 1, 2, 3, 4, 5, 6, 7, 8, 10, Seconds(11)};
  const auto got = Travelled(status);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_TRUE(got->term == status.term && got->version == "0.1.0" && got->capacity == 1 &&
              got->used == 2 && got->object_count == 3 && got->processing_count == 4 &&
              got->soft_pinned_count == 5 && got->segment_count == 6 && got->client_count == 7 &&
              got->evicted_objects == 8 && got->evicted_bytes == 10 && got->uptime == Seconds(11));

  const auto ping = Travelled(PingReply{PingStatus::kNeedRemount, Term{77}, -5, Seconds(10)});
  ASSERT_TRUE(ping.ok()) << ping.status();
  EXPECT_TRUE(ping->status == PingStatus::kNeedRemount && ping->term == Term{77} &&
              ping->master_now_ms == -5 && ping->client_ttl == Seconds(10));
}

TEST(WireRoundTrip, SnapshotsAndDurability) {
  Samples samples(kSeed);
  for (int i = 0; i < kRounds; ++i) {
    const SnapshotDescriptor snapshot = samples.Snapshot();
    const auto got = Travelled(snapshot);
    ASSERT_TRUE(got.ok()) << got.status() << " round " << i << " seed " << kSeed;
    EXPECT_EQ(*got, snapshot) << "round " << i << " seed " << kSeed;
    const DurabilityStatus status = samples.Durability();
    const auto got_status = Travelled(status);
    ASSERT_TRUE(got_status.ok()) << got_status.status() << " round " << i << " seed " << kSeed;
    EXPECT_EQ(*got_status, status) << "round " << i << " seed " << kSeed;
  }
}

TEST(WireRoundTrip, Quotas) {
  Samples samples(kSeed);
  for (int i = 0; i < kRounds; ++i) {
    const TenantQuota quota = samples.Quota();
    const auto got = Travelled(quota);
    ASSERT_TRUE(got.ok()) << got.status() << " round " << i << " seed " << kSeed;
    EXPECT_EQ(*got, quota) << "round " << i << " seed " << kSeed;
  }
  QuotaList list;
  list.quotas = {samples.Quota(), samples.Quota()};
  list.truncated = true;
  const auto got = Travelled(list);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->quotas, list.quotas);
  EXPECT_TRUE(got->truncated);
}

TEST(WireRefuses, QuotasThatMakeNoSense) {
  thriftgen::TenantQuota quota;
  quota.charged = -1;
  EXPECT_FALSE(wire::Decode(thriftgen::TenantQuota(quota)).ok());
  quota.charged = 0;
  quota.tenant = std::string(kMaxTenantBytes + 1, 'x');
  EXPECT_FALSE(wire::Decode(thriftgen::TenantQuota(quota)).ok());
  thriftgen::ListQuotasReply reply;
  reply.truncated = true;
  EXPECT_FALSE(wire::Decode(thriftgen::ListQuotasReply(reply)).ok()) << "it would go on for ever";
}

TEST(WireRoundTrip, Pins) {
  const SetPinArgs cases[] = {
      {{"t", "k"}, SoftPinAction::kEnable, Seconds(3), true},
      {{"t", "k"}, SoftPinAction::kDisable, std::nullopt, false},
      {{"default", "k"}, SoftPinAction::kPreserve, std::nullopt, std::nullopt},
  };
  for (const SetPinArgs& args : cases) {
    const auto got = Travelled(args);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(got->name, args.name);
    EXPECT_EQ(got->soft, args.soft);
    EXPECT_EQ(got->soft_ttl, args.soft_ttl);
    EXPECT_EQ(got->hard, args.hard);
  }
  thriftgen::SetPin bad = wire::Encode(cases[0]);
  bad.soft = 3;
  EXPECT_FALSE(wire::Decode(thriftgen::SetPin(bad)).ok());
  bad.soft = 1;
  bad.soft_ttl_ns = -1;
  EXPECT_FALSE(wire::Decode(thriftgen::SetPin(bad)).ok());
}

TEST(WireRoundTrip, ActivityAndConfig) {
  const Activity activity{
      {10, 20}, {{"Ping", 4, 4, 1, {1, 2, 1}}, {"Remove", 1, 2, 0, {}}}, 5, 6, 7};
  const auto got = Travelled(activity);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(*got, activity);
  const std::vector<ConfigValue> values = {{"rpc_port", "1", false}, {"v", "0", true}};
  thriftgen::GetConfigReply reply;
  reply.values = wire::EncodeAll<thriftgen::ConfigValue>(std::span<const ConfigValue>(values));
  EXPECT_EQ(wire::Decode(std::move(reply)).value(), values);
}

TEST(WireRefuses, ActivityThatCannotBeTrue) {
  const Activity good{{10, 20}, {{"Ping", 4, 4, 1, {1, 2, 1}}}, 5, 6, 7};
  const std::vector<std::function<void(thriftgen::Activity&)>> faults = {
      [](auto& a) {
        a.latency_bounds_us = {20, 10};
      },
      [](auto& a) { a.latency_bounds_us = {10}; },
      [](auto& a) { a.latency_bounds_us.resize(kMaxLatencyBounds + 1, 30); },
      [](auto& a) { a.calls[0].latencies[1] = -1; },
      [](auto& a) { a.calls[0].failed_items = -1; },
      [](auto& a) { a.calls.resize(kMaxReportedCalls + 1); },
      [](auto& a) { a.hit_bytes = -1; },
  };
  for (const auto& fault : faults) {
    thriftgen::Activity activity = wire::Encode(good);
    fault(activity);
    EXPECT_FALSE(wire::Decode(std::move(activity)).ok());
  }
}

TEST(WireStatus, CarriesCodeAndMessageAndCutsLongMessages) {
  const Status status(ErrorCode::kObjectHasLease, "key 'a' is leased");
  EXPECT_EQ(wire::Decode(wire::Encode(status)), status);
  EXPECT_TRUE(wire::Decode(wire::Encode(Status::Ok())).ok());
  const Status long_one(ErrorCode::kInternal, std::string(100000, 'x'));
  EXPECT_EQ(wire::Decode(wire::Encode(long_one)).message().size(), wire::kMaxMessageBytes);
}

TEST(WireStatus, KeepsTheNumberOfAnUnknownCode) {
  thriftgen::Status unknown;
  unknown.code = -4242;
  const Status status = wire::Decode(std::move(unknown));
  EXPECT_EQ(status.code(), ErrorCode::kInternal);
  EXPECT_NE(status.message().find("-4242"), std::string::npos);
}

TEST(WireTimeout, RoundsUpAndIsBounded) {
  EXPECT_EQ(wire::EncodeTimeout(Duration(-1)), 0);
  EXPECT_EQ(wire::EncodeTimeout(Duration(1)), 1);
  EXPECT_EQ(wire::EncodeTimeout(Seconds(2)), 2000);
  EXPECT_EQ(wire::EncodeTimeout(Seconds(1'000'000'000)), 600'000);
  EXPECT_EQ(wire::DecodeTimeout(-5), Duration::zero());
  EXPECT_EQ(wire::DecodeTimeout(INT32_MAX), Seconds(600));
}

// --- what must not get in ---------------------------------------------------------------------------

thriftgen::PutStart GoodPut() { return wire::Encode(PutStartArgs{{1, 2}, {"t", "k"}, 100}); }

template <typename Change>
ErrorCode CodeOf(Change&& change) {
  thriftgen::PutStart put = GoodPut();
  change(put);
  return wire::Decode(std::move(put)).code();
}

TEST(WireRefuses, BadKeysAndTenants) {
  EXPECT_EQ(CodeOf([](auto&) {}), ErrorCode::kOk);
  EXPECT_EQ(CodeOf([](auto& p) { p.name.key.clear(); }), ErrorCode::kInvalidKey);
  EXPECT_EQ(CodeOf([](auto& p) { p.name.key.assign(kMaxKeyBytes, 'k'); }), ErrorCode::kOk);
  EXPECT_EQ(CodeOf([](auto& p) { p.name.key.assign(kMaxKeyBytes + 1, 'k'); }),
            ErrorCode::kInvalidKey);
  EXPECT_EQ(CodeOf([](auto& p) { p.name.__set_tenant(std::string(kMaxTenantBytes + 1, 't')); }),
            ErrorCode::kInvalidParams);
}

TEST(WireRefuses, NumbersOutOfRange) {
  EXPECT_EQ(CodeOf([](auto& p) { p.size = -1; }), ErrorCode::kInvalidParams);
  EXPECT_EQ(CodeOf([](auto& p) { p.size = static_cast<int64_t>(kMaxObjectBytes) + 1; }),
            ErrorCode::kInvalidParams);
  EXPECT_EQ(CodeOf([](auto& p) { p.mode = 2; }), ErrorCode::kInvalidParams);
  EXPECT_EQ(CodeOf([](auto& p) { p.mode = -1; }), ErrorCode::kInvalidParams);
  EXPECT_EQ(CodeOf([](auto& p) { p.config.replica_num = kMaxReplicas + 1; }),
            ErrorCode::kInvalidParams);
  EXPECT_EQ(CodeOf([](auto& p) { p.config.replica_num = -1; }), ErrorCode::kInvalidParams);
  EXPECT_EQ(CodeOf([](auto& p) { p.config.soft_pin = 3; }), ErrorCode::kInvalidParams);
  EXPECT_EQ(CodeOf([](auto& p) { p.config.__set_soft_pin_ttl_ns(-1); }), ErrorCode::kInvalidParams);
}

TEST(WireRefuses, TooMuchText) {
  const std::string long_name(wire::kMaxNameBytes + 1, 'n');
  EXPECT_EQ(CodeOf([&](auto& p) { p.config.__set_group(long_name); }), ErrorCode::kInvalidParams);
  EXPECT_EQ(CodeOf([&](auto& p) { p.config.__set_host_id(long_name); }), ErrorCode::kInvalidParams);
  EXPECT_EQ(CodeOf([&](auto& p) { p.config.__set_preferred_segments({long_name}); }),
            ErrorCode::kInvalidParams);
  EXPECT_EQ(
      CodeOf([&](auto& p) {
        p.config.__set_excluded_segments(std::vector<std::string>(wire::kMaxSegmentNames + 1));
      }),
      ErrorCode::kInvalidParams);
}

TEST(WireRefuses, IdsThatAreNoneOfASnapshot) {
  EXPECT_EQ(wire::CheckSnapshotId("20260101_000000_000"), Status::Ok());
  EXPECT_EQ(wire::CheckSnapshotId(std::string(40, '7')), Status::Ok());
  for (const std::string& id : {std::string(), std::string("../lock"), std::string("1.sst"),
                                std::string("1\0", 2), std::string(41, '7')}) {
    EXPECT_EQ(wire::CheckSnapshotId(id).code(), ErrorCode::kInvalidParams);
    thriftgen::Snapshot snapshot;
    snapshot.id = id;
    EXPECT_EQ(wire::Decode(std::move(snapshot)).code(), ErrorCode::kInvalidParams);
  }
}

TEST(WireRefuses, MoreDamageThanRecords) {
  thriftgen::VerifySnapshotReply reply;
  reply.records = 1;
  reply.damaged = 2;
  EXPECT_EQ(wire::Decode(std::move(reply)).code(), ErrorCode::kInvalidParams);
}

TEST(WireRefuses, AnUnknownKindOfObject) {
  thriftgen::ObjectAttributes attributes;
  attributes.kind = 3;
  EXPECT_EQ(wire::Decode(std::move(attributes)).code(), ErrorCode::kInvalidParams);
}

TEST(WireRefuses, RepliesThatCannotBeTrue) {
  const auto with_extent = [](int64_t offset, int64_t length, int32_t status) {
    thriftgen::ReplicaList list;
    list.replicas.resize(1);
    list.replicas[0].status = status;
    list.replicas[0].extents.resize(1);
    list.replicas[0].extents[0].offset = offset;
    list.replicas[0].extents[0].length = length;
    return wire::Decode(std::move(list)).code();
  };
  EXPECT_EQ(with_extent(0, 0, 3), ErrorCode::kOk);
  EXPECT_EQ(with_extent(-1, 0, 3), ErrorCode::kInvalidParams);
  EXPECT_EQ(with_extent(0, INT64_MAX, 3), ErrorCode::kInvalidParams);
  EXPECT_EQ(with_extent(0, 0, 1), ErrorCode::kInvalidParams);
  thriftgen::ReplicaList crowd;
  crowd.replicas.resize(kMaxReplicas + 1);
  EXPECT_EQ(wire::Decode(std::move(crowd)).code(), ErrorCode::kInvalidParams);
}

// --- golden bytes: a change here is a change of the protocol, and old peers must still be understood --------------------

std::string Hex(const std::string& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += kDigits[static_cast<unsigned char>(c) >> 4];
    out += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

TEST(WireGolden, PutStart) {
  PutStartArgs args;
  args.client = {0x0102030405060708, 0x1112131415161718};
  args.name = {"ten", "key"};
  args.size = 4096;
  args.mode = WriteMode::kReplace;
  args.config.replica_num = 2;
  args.config.group = "g";
  args.expected = PutId{5};
  EXPECT_EQ(Hex(Serialized(wire::Encode(args))),
            "0c00010b0001000000036b65790b00020000000374656e000a00020000000000001000080003000000010c"
            "0004080001"
            "0000000208000200000000020004000b0005000000016702000900000a000500000000000000050c00060a"
            "0001010203"
            "04050607080a000211121314151617180000");
}

TEST(WireGolden, ReplicaList) {
  ReplicaList list;
  list.put_id = PutId{0x1122334455667788};
  list.size = 100;
  list.replicas = {{ReplicaStatus::kComplete, {{SegmentId{1, 2}, AccessEpoch{3}, 64, 100}}}};
  list.lease = Seconds(10);
  list.attributes = ObjectAttributes{ObjectKind::kFile, 0644, 1000, 1000, 1};
  list.created_ms = 7;
  EXPECT_EQ(Hex(Serialized(wire::Encode(list))),
            "0a000111223344556677880a000200000000000000640f00030c00000001080001000000030f00020c0000"
            "00010c0001"
            "0a000100000000000000010a00020000000000000002000a000200000000000000030a0003000000000000"
            "00400a0004"
            "000000000000006400000a000400000002540be4000c000508000100000000080002000001a40800030000"
            "03e8080004"
            "000003e80a00050000000000000001000a0006000000000000000700");
}

TEST(WireGolden, StatusOfAReply) {
  thriftgen::StatusReply reply;
  reply.status = wire::Encode(Status(ErrorCode::kObjectNotFound, "no"));
  reply.term = 9;
  EXPECT_EQ(Hex(Serialized(reply)),
            "0c0001080001fffffd400b0002000000026e6f000a0002000000000000000900");
}

// A peer of the future may add fields; ours must pass over them.
TEST(WireGolden, UnknownFieldsAreSkipped) {
  // LeaseRef {1: {1: "k"}, 2: 7, 99: "future"}.
  const std::string bytes(
      "\x0c\x00\x01\x0b\x00\x01\x00\x00\x00\x01k\x00"
      "\x0a\x00\x02\x00\x00\x00\x00\x00\x00\x00\x07"
      "\x0b\x00\x63\x00\x00\x00\x06"
      "future\x00",
      37);
  const auto lease = wire::Decode(Parsed<thriftgen::LeaseRef>(bytes));
  ASSERT_TRUE(lease.ok()) << lease.status();
  EXPECT_EQ(lease->name.key, "k");
  EXPECT_EQ(lease->put_id, PutId{7});
}

}  // namespace
}  // namespace mooncake

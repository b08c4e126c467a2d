// Random and fully filled values of the metadata vocabulary, for tests of the wire.
#pragma once

#include <string>

#include "master/api/durability_types.h"
#include "master/api/types.h"
#include "master/api/wire_limits.h"
#include "transfer/base/rng.h"

namespace mooncake::testing {

// Values that a wire must carry: extremes as likely as ordinary ones.
class Samples {
 public:
  explicit Samples(uint64_t seed) : rng_(seed) {}

  uint64_t Number(uint64_t limit) {
    switch (rng_.Below(4)) {
      case 0:
        return 0;
      case 1:
        return limit;
      case 2:
        return rng_.Between(0, std::min<uint64_t>(limit, 100));
      default:
        return rng_.Between(0, limit);
    }
  }
  int64_t Signed() { return static_cast<int64_t>(rng_.Next()); }
  bool Coin() { return rng_.Chance(1, 2); }
  std::string Bytes(size_t low, size_t high) {
    std::string out(rng_.Between(low, rng_.Chance(1, 8) ? high : std::min<size_t>(high, low + 12)),
                    '\0');
    for (char& c : out) c = static_cast<char>(rng_.Next());
    return out;
  }
  std::string Key() { return Bytes(1, kMaxKeyBytes); }
  std::string Text() { return Bytes(0, wire::kMaxNameBytes); }
  template <typename Id>
  Id NewUuid() {
    return Id{rng_.Next(), rng_.Next()};
  }
  Duration Time() { return Duration(static_cast<int64_t>(Number(INT64_MAX))); }
  ObjectName Name() { return {Coin() ? kDefaultTenant : Bytes(0, kMaxTenantBytes), Key()}; }

  ObjectAttributes Attributes() {
    return {static_cast<ObjectKind>(rng_.Below(3)), static_cast<uint32_t>(Number(UINT32_MAX)),
            static_cast<uint32_t>(Number(UINT32_MAX)), static_cast<uint32_t>(Number(UINT32_MAX)),
            Signed()};
  }
  std::optional<ObjectAttributes> MaybeAttributes() {
    return Coin() ? std::optional(Attributes()) : std::nullopt;
  }
  std::vector<std::string> Names() {
    std::vector<std::string> out(rng_.Below(4));
    for (std::string& name : out) name = Text();
    return out;
  }
  ReplicateConfig Config() {
    ReplicateConfig config;
    config.replica_num = static_cast<uint32_t>(Number(kMaxReplicas));
    config.soft_pin = static_cast<SoftPinAction>(rng_.Below(3));
    if (Coin()) config.soft_pin_ttl = Time();
    config.hard_pin = Coin();
    config.group = Text();
    config.preferred_segments = Names();
    config.excluded_segments = Names();
    config.host_id = Text();
    config.prefer_same_node = Coin();
    return config;
  }
  PutStartArgs PutStart() {
    return {NewUuid<ClientId>(),
            Name(),
            Number(kMaxObjectBytes),
            Coin() ? WriteMode::kCreate : WriteMode::kReplace,
            Config(),
            PutId{rng_.Next()}};
  }
  std::vector<ReplicaDescriptor> Replicas() {
    std::vector<ReplicaDescriptor> out(rng_.Below(4));
    for (ReplicaDescriptor& replica : out) {
      replica.status = static_cast<ReplicaStatus>(2 + rng_.Below(4));
      replica.extents.resize(rng_.Below(4));
      for (Extent& extent : replica.extents) {
        extent = {NewUuid<SegmentId>(), AccessEpoch{rng_.Next()}, Number(kMaxSegmentBytes),
                  Number(kMaxSegmentBytes)};
      }
    }
    return out;
  }
  ReplicaList List() {
    return {PutId{rng_.Next()}, Number(kMaxObjectBytes),
            Replicas(),         Time(),
            MaybeAttributes(),  Signed()};
  }
  ObjectStat Stat() {
    return {PutId{rng_.Next()},
            Number(kMaxObjectBytes),
            static_cast<uint32_t>(Number(INT32_MAX)),
            Time(),
            Time(),
            Coin(),
            Text(),
            MaybeAttributes(),
            Signed()};
  }
  SegmentDescriptor Segment() {
    return {NewUuid<SegmentId>(),
            Text(),
            Number(kMaxSegmentBytes),
            AccessEpoch{rng_.Next()},
            NewUuid<ClientId>(),
            Text(),
            Text(),
            Text(),
            Text()};
  }
  SnapshotDescriptor Snapshot() {
    return {std::to_string(rng_.Next()), Number(uint64_t{1} << 62),
            Number(uint64_t{1} << 62),   Signed(),
            Term{rng_.Next()},           Number(uint64_t{1} << 62),
            Number(uint64_t{1} << 62),   Bytes(0, wire::kMaxMessageBytes)};
  }
  TenantQuota Quota() {
    return {Text().substr(0, kMaxTenantBytes),
            Number(kMaxQuotaBytes),
            Number(kMaxQuotaBytes),
            Number(kMaxQuotaBytes),
            Number(kMaxQuotaBytes),
            Number(kMaxQuotaBytes),
            Number(kMaxQuotaBytes),
            Coin()};
  }
  DurabilityStatus Durability() {
    DurabilityStatus status;
    status.sync = Coin();
    status.log_durable = Number(uint64_t{1} << 62);
    status.log_waiting = Number(uint64_t{1} << 62);
    status.held_bytes = Number(uint64_t{1} << 62);
    status.log_trouble = Bytes(0, wire::kMaxMessageBytes);
    status.snapshots_taken = Number(uint64_t{1} << 62);
    status.snapshots_failed = Number(uint64_t{1} << 62);
    status.snapshot_trouble = Bytes(0, wire::kMaxMessageBytes);
    if (Coin()) status.snapshot_age = Time();
    return status;
  }

 private:
  Rng rng_;
};

}  // namespace mooncake::testing

// The vocabulary of the metadata service, without Thrift: what master, nodes, clients and the
// simulator all speak. Plain values; no behaviour beyond trivial helpers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "master/api/segment_types.h"
#include "transfer/base/ids.h"
#include "transfer/base/seal.h"
#include "transfer/base/status.h"
#include "transfer/base/strong_id.h"
#include "transfer/base/time.h"

namespace mooncake {

// Limits that every boundary enforces and states.
inline constexpr size_t kMaxKeyBytes = 4096;
inline constexpr size_t kMaxTenantBytes = 255;
inline constexpr uint64_t kMaxObjectBytes = uint64_t{1} << 46;  // 64 TiB
inline constexpr size_t kMaxBatch = 16384;                      // keys in one request
inline constexpr size_t kMaxListLimit = 10000;                  // entries in one listing page
inline constexpr uint32_t kMaxReplicas = 16;
inline constexpr size_t kMaxPatternBytes = 4096;  // a regular expression
inline constexpr uint64_t kMinSegmentBytes = 1024;
inline constexpr uint64_t kMaxSegmentBytes = uint64_t{1} << 46;

inline constexpr char kDefaultTenant[] = "default";

// (tenant, key). Keys are any bytes, 1 to kMaxKeyBytes.
struct ObjectName {
  std::string tenant = kDefaultTenant;
  std::string key;
  friend auto operator<=>(const ObjectName&, const ObjectName&) = default;
};

// What a file system needs to remember; the master stores it and never looks inside.
enum class ObjectKind : uint8_t { kFile = 0, kDirectory = 1, kSymlink = 2 };
struct ObjectAttributes {
  ObjectKind kind = ObjectKind::kFile;
  uint32_t mode = 0;  // permission bits
  uint32_t uid = 0;
  uint32_t gid = 0;
  int64_t mtime_ns = 0;  // since 1970, UTC
  friend bool operator==(const ObjectAttributes&, const ObjectAttributes&) = default;
};

// A run of bytes of a segment. `length` is the data; the seal follows it (SealOffset).
struct Extent {
  SegmentId segment;
  AccessEpoch epoch;
  uint64_t offset = 0;
  uint64_t length = 0;
  friend bool operator==(const Extent&, const Extent&) = default;
};

enum class ReplicaStatus : uint8_t { kProcessing = 2, kComplete = 3, kRemoved = 4, kFailed = 5 };

// One whole copy: its extents, in order, add up to the object's size. An empty object has none.
struct ReplicaDescriptor {
  ReplicaStatus status = ReplicaStatus::kComplete;
  std::vector<Extent> extents;
  friend bool operator==(const ReplicaDescriptor&, const ReplicaDescriptor&) = default;
};

enum class SoftPinAction : uint8_t { kPreserve = 0, kEnable = 1, kDisable = 2 };

// How an object is to be kept.
struct ReplicateConfig {
  uint32_t replica_num = 1;
  SoftPinAction soft_pin = SoftPinAction::kPreserve;
  std::optional<Duration> soft_pin_ttl;  // with kEnable; the master's default otherwise
  bool hard_pin = false;
  std::string group;                            // "" = none
  std::vector<std::string> preferred_segments;  // names, tried in this order
  std::vector<std::string> excluded_segments;
  std::string host_id;            // of the writer, for local_first
  bool prefer_same_node = false;  // batches: keep the keys of one batch together
};

// kCreate fails on a readable object; kReplace is an upsert: copy on write, swapped at End.
enum class WriteMode : uint8_t { kCreate = 0, kReplace = 1 };

struct PutStartArgs {
  ClientId client;
  ObjectName name;
  uint64_t size = 0;
  WriteMode mode = WriteMode::kCreate;
  ReplicateConfig config;
  // kReplace only: refuse (kInvalidVersion) unless the readable version is this one. kNoPut: any.
  PutId expected{0};
};

struct PutStartReply {
  PutId put_id;
  std::vector<ReplicaDescriptor>
      replicas;  // may be fewer than asked for, never none unless size is 0
  // Nodes refuse writes of this put once the master's clock (carried in every Ping reply) has passed
  // this time. Master's monotonic milliseconds.
  int64_t write_deadline_ms = 0;
  Duration grant;  // the same as a duration from the reply on
};

struct PutEndArgs {
  ClientId client;
  ObjectName name;
  PutId put_id;
  std::optional<ObjectAttributes> attributes;
};

struct PutRevokeArgs {
  ClientId client;
  ObjectName name;
  PutId put_id;
  // True when no write of this put can still be on its way (each was acknowledged, refused, or
  // fenced at its node): the space is reusable at once. False: it is held until the write deadline.
  bool settled = false;
};

struct ReplicaList {
  PutId put_id;  // the version
  uint64_t size = 0;
  std::vector<ReplicaDescriptor>
      replicas;  // complete ones, in stored order, quarantined ones last; empty for an empty object
  Duration lease;  // from before the request was sent
  std::optional<ObjectAttributes> attributes;
  int64_t created_ms = 0;  // wall clock of PutEnd
};

// How an object is pinned from now on; what is not said stays. Soft: it is evicted only when nothing else can be; hard: never.
struct SetPinArgs {
  ObjectName name;
  SoftPinAction soft = SoftPinAction::kPreserve;
  std::optional<Duration> soft_ttl;  // with kEnable; the master's default otherwise
  std::optional<bool> hard;
};

struct LeaseRef {
  ObjectName name;  // under which it was read: finds the shard
  PutId put_id;
};

struct ObjectStat {
  PutId put_id;
  uint64_t size = 0;
  uint32_t replica_count = 0;  // readable ones
  Duration lease_left{};       // 0 = none
  Duration soft_pin_left{};    // 0 = not pinned
  bool hard_pin = false;
  std::string group;
  std::optional<ObjectAttributes> attributes;
  int64_t created_ms = 0;  // wall clock of PutEnd
};

struct ListArgs {
  std::string tenant = kDefaultTenant;
  std::string prefix;       // "" = all
  std::string delimiter;    // "" = none; else at most 16 bytes
  std::string start_after;  // entries after this key or common prefix, in byte order
  uint32_t limit = 1000;    // 1 to kMaxListLimit
};

struct ListEntry {
  std::string key;         // the whole key, or the common prefix including the delimiter
  bool is_prefix = false;  // then `stat` is meaningless, and everything below `key` is skipped
  ObjectStat stat;
};

struct ListReply {
  std::vector<ListEntry> entries;
  bool truncated = false;  // more follow: ask again with start_after = entries.back().key
};

struct RegexMatch {
  std::string key;
  uint64_t size = 0;
};

struct RemoveByRegexArgs {
  std::string tenant = kDefaultTenant;
  std::string pattern;         // RE2; found anywhere in the key (search). Anchor it with ^ and $
  bool force = false;          // leased objects too
  bool dry_run = false;        // count only
  uint32_t sample_limit = 10;  // this many of the matches are named in the reply
};

struct RemoveByRegexReply {
  uint64_t matched = 0;
  uint64_t removed = 0;  // 0 in a dry run
  uint64_t skipped = 0;  // leased, or a write in progress
  std::vector<RegexMatch> sample;
};

}  // namespace mooncake

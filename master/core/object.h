// One key of the object table: its readable version, and the write in progress on it, if any. The layout is compact
// because there may be a hundred million of them; README.md, "Memory", has the sum.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <absl/container/btree_set.h>
#include <absl/container/inlined_vector.h>

#include "master/api/types.h"

namespace mooncake::core {

struct Tenant;
struct Object;

inline constexpr uint32_t kNoSlot = UINT32_MAX;

// Put ids: the master's term in the high bits, a counter below.
inline constexpr uint32_t kPutCounterBits = 34;
inline constexpr PutId FirstPutIdOf(Term term) { return PutId{term.value << kPutCounterBits}; }

// A live block of a segment. `slot` names the segment (segment_pool.h), `block` its allocator's handle.
struct ExtentRef {
  uint32_t slot = kNoSlot;
  uint32_t block = 0;
  uint64_t offset = 0;
  uint64_t length : 56 = 0;  // bytes of data
  uint64_t replica : 8 = 0;  // extents of one replica stand together, in order
};
static_assert(sizeof(ExtentRef) == 24);
using ExtentList = absl::InlinedVector<ExtentRef, 1>;

// Between PutStart and PutEnd.
struct PendingPut {
  PutId put_id;
  ClientId client;
  WriteMode mode = WriteMode::kCreate;
  uint64_t size = 0;
  TimePoint started;
  ExtentList extents;
  ReplicateConfig config;  // its lists of segments are cleared: they have done their work
  PutId expected;
  bool base_removed = false;  // the version that `expected` names was removed meanwhile
};

struct ObjectOrder {
  bool operator()(const Object* a, const Object* b) const;
};

// Objects that are evicted together. A lease on one is a lease on all.
struct Group {
  Tenant* tenant = nullptr;
  std::string name;
  TimePoint lease_until{};
  absl::btree_set<Object*, ObjectOrder> members;  // readable ones
};

// What API objects rarely and files of a mount always have; so it is packed too.
struct ObjectExtra {
  std::unique_ptr<std::vector<ExtentRef>> extents;  // all of them, when there are more than one
  Group* group = nullptr;
  TimePoint soft_pin_until{};  // zero = none

  void SetAttributes(const ObjectAttributes& attributes) {
    mtime_ns = attributes.mtime_ns;
    mode = attributes.mode;
    uid = attributes.uid;
    gid = attributes.gid;
    kind = attributes.kind;
    has_attributes = true;
  }
  std::optional<ObjectAttributes> attributes() const {
    if (!has_attributes) return std::nullopt;
    return ObjectAttributes{kind, mode, uid, gid, mtime_ns};
  }

 private:
  int64_t mtime_ns = 0;
  uint32_t mode = 0;
  uint32_t uid = 0;
  uint32_t gid = 0;
  ObjectKind kind = ObjectKind::kFile;
  bool has_attributes = false;
};
static_assert(sizeof(ObjectExtra) == 48, "see README.md, Memory");

// Which of a segment's queues an object waits in; eviction/eviction_queue.h.
enum class Queue : uint8_t { kUnread = 0, kRead = 1, kSoftUnread = 2, kSoftRead = 3, kNone = 4 };

struct Object {
  static Object* Create(Tenant* tenant, uint32_t hash, std::string_view key);
  static void Destroy(Object* object);

  std::string_view key() const { return {reinterpret_cast<const char*>(this + 1), key_size}; }
  bool has_version() const { return put_id != kNoPut; }
  std::span<const ExtentRef> extents(ExtentRef& scratch) const;
  ObjectExtra& MutableExtra() {
    if (extra == nullptr) extra = std::make_unique<ObjectExtra>();
    return *extra;
  }
  Group* group() const { return extra == nullptr ? nullptr : extra->group; }
  TimePoint soft_pin_until() const {
    return extra == nullptr ? TimePoint{} : extra->soft_pin_until;
  }
  std::optional<ObjectAttributes> attributes() const {
    return extra == nullptr ? std::nullopt : extra->attributes();
  }

  Tenant* tenant = nullptr;
  uint32_t hash = 0;
  uint16_t key_size = 0;
  uint8_t replicas_wanted = 1;
  Queue queue : 3 = Queue::kNone;
  bool leased : 1 = false;  // the last touch granted a lease: it ends at touched + lease_ttl
  bool hard_pin : 1 = false;
  bool renamed : 1 = false;  // State::renamed knows this version: it was renamed while leased
  bool under_replicated : 1 = false;

  // The readable version; put_id is kNoPut when there is none.
  PutId put_id = kNoPut;
  uint64_t size : 56 = 0;
  uint64_t reuse_class : 8 = 0;  // of ReuseModel, if there is one
  TimePoint touched{};
  int64_t created_ms = 0;
  Object* colder = nullptr;  // neighbours in `queue`
  Object* warmer = nullptr;
  uint32_t home = kNoSlot;  // slot of the first extent, whose queues hold the object
  uint32_t block = 0;       // with home and offset: the only extent, unless extra->extents has them
  uint64_t offset = 0;

  std::unique_ptr<PendingPut> pending;
  std::unique_ptr<ObjectExtra> extra;
  // The key's bytes follow.
};
static_assert(sizeof(Object) == 96, "see README.md, Memory, before you let it grow");

inline bool ObjectOrder::operator()(const Object* a, const Object* b) const {
  return a->key() < b->key();
}

// All extents of the readable version. `scratch` backs the answer when there is just one.
inline std::span<const ExtentRef> Object::extents(ExtentRef& scratch) const {
  if (extra != nullptr && extra->extents != nullptr) return *extra->extents;
  if (home == kNoSlot) return {};
  scratch.slot = home;
  scratch.block = block;
  scratch.offset = offset;
  scratch.length = size;
  scratch.replica = 0;
  return {&scratch, 1};
}

}  // namespace mooncake::core

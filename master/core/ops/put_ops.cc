// PutStart, PutEnd, PutRevoke: the write side of an object's life.
#include <algorithm>
#include <utility>

#include "master/core/checks.h"
#include "master/core/eviction/evictor.h"
#include "master/core/eviction/hole_maker.h"
#include "master/core/eviction/tenant_evictor.h"
#include "master/core/ops/ops.h"
#include "master/core/prefix_rename.h"
#include "master/core/quota.h"
#include "master/core/replicas.h"
#include "master/core/versions.h"
#include "master/core/writes.h"
#include "transfer/base/check.h"
#include "transfer/base/seal.h"

namespace mooncake::core {
namespace {

std::string Ms(Duration d) { return std::to_string(ToMillis(d)) + " ms"; }

PutId NextPutId(State& state) {
  MC_CHECK(++state.put_count < uint64_t{1} << kPutCounterBits)
      << "put ids of this term are used up";
  return {FirstPutIdOf(state.term).value | state.put_count};
}

Status CheckCreate(const State& state, TimePoint now, const Object* object) {
  if (object == nullptr) return Status::Ok();
  if (object->has_version()) {
    return {ErrorCode::kObjectAlreadyExists,
            "key " + Quote(object->key()) + " has a readable version"};
  }
  const Duration age = now - object->pending->started;
  if (age > state.options.put_start_discard_timeout) return Status::Ok();
  return {ErrorCode::kObjectAlreadyExists,
          "key " + Quote(object->key()) + " has a write in progress since " + Ms(age) +
              ", it can be preempted after " + Ms(state.options.put_start_discard_timeout)};
}

Status CheckReplace(const Object* object, const PutStartArgs& args) {
  const PutId readable = object == nullptr ? kNoPut : object->put_id;
  if (args.expected != kNoPut && args.expected != readable) {
    return {ErrorCode::kInvalidVersion, "key " + Quote(args.name.key) + " has version " +
                                            std::to_string(readable.value) + ", expected was " +
                                            std::to_string(args.expected.value)};
  }
  if (readable == kNoPut || args.config.group.empty()) return Status::Ok();
  const Group* group = object->group();
  if (group != nullptr && group->name == args.config.group) return Status::Ok();
  return {ErrorCode::kInvalidParams,
          "key " + Quote(args.name.key) + " is in " +
              (group == nullptr ? std::string("no group") : "group " + Quote(group->name)) +
              ", an upsert cannot move it to " + Quote(args.config.group)};
}

Status NoRoom(const State& state, uint64_t size) {
  uint64_t largest = 0;
  for (const uint32_t slot : state.pool.allocatable()) {
    largest = std::max(largest, state.pool.at(slot).allocator->LargestFree());
  }
  const auto is_away = [&](const auto& mounted) { return !state.pool.at(mounted.second).attached; };
  if (std::any_of(state.pool.by_name().begin(), state.pool.by_name().end(), is_away)) {
    return {ErrorCode::kUnavailableInCurrentStatus,
            "no room for " + std::to_string(size) +
                " bytes while segments are not ready: their nodes have not mounted again since the "
                "master's restart, or that is being written to its log"};
  }
  return {ErrorCode::kNoAvailableHandle,
          std::to_string(size) + " bytes wanted, " +
              std::to_string(state.pool.capacity() - state.pool.used()) + " of " +
              std::to_string(state.pool.capacity()) + " free in " +
              std::to_string(state.pool.allocatable().size()) + " segments, the largest hole has " +
              std::to_string(largest)};
}

std::vector<uint32_t> SlotsOf(const State& state, const Object* object) {
  std::vector<uint32_t> slots;
  if (object == nullptr || !object->has_version()) return slots;
  ExtentRef scratch;
  for (const ExtentRef& extent : object->extents(scratch)) {
    if (state.pool.live(extent.slot)) slots.push_back(extent.slot);
  }
  return slots;
}

// Evicts for the put; true when something was done. Bytes are freed where it is coldest, and when that
// is not enough in one piece, a hole is made.
bool EvictFor(State& state, const PlacementRequest& request, TimePoint now) {
  const uint64_t wanted = ExtentFootprint(request.size);
  std::vector<uint32_t> excluded;
  for (const std::string& name : request.excluded) {
    const uint32_t slot = state.pool.FindByName(name);
    if (slot != kNoSlot) excluded.push_back(slot);
  }
  const auto allowed = [&](uint32_t slot) {
    return std::find(excluded.begin(), excluded.end(), slot) == excluded.end();
  };
  const auto slots = state.pool.allocatable();
  if (wanted > state.pool.capacity() || std::none_of(slots.begin(), slots.end(), allowed))
    return false;
  const uint64_t before = state.counters.evicted_objects;
  const uint32_t limit = state.options.inline_eviction_limit;
  if (state.pool.capacity() - state.pool.in_use() < wanted)
    Evict(state, {wanted, limit, kNoSlot}, now);
  const auto has_hole = [&](uint32_t slot) {
    return allowed(slot) && state.pool.at(slot).allocator->HasHole(wanted);
  };
  // Space that the log will free may be the hole: it is not looked for a second time meanwhile.
  if (state.pool.held() < wanted && std::none_of(slots.begin(), slots.end(), has_hole)) {
    MakeHole(state, wanted, excluded, limit, now);
  }
  state.counters.evicted_inline += state.counters.evicted_objects - before;
  // The background goes on, so that the next attempt finds more.
  const auto share = static_cast<uint64_t>(state.options.eviction_ratio *
                                           static_cast<double>(state.pool.capacity()));
  state.eviction_wish = std::max({state.eviction_wish, wanted * request.replicas, share});
  state.hole_wish = std::max(state.hole_wish, wanted);
  return true;
}

// Space for the put, evicting for it once. kNoAvailableHandle.
Result<ExtentList> FindSpace(State& state, TimePoint now, const PutStartArgs& args,
                             const Object* object) {
  const std::vector<uint32_t> old_slots = SlotsOf(state, object);
  const PlacementRequest request = {.size = args.size,
                                    .replicas = args.config.replica_num,
                                    .preferred = args.config.preferred_segments,
                                    .excluded = args.config.excluded_segments,
                                    .old_slots = old_slots,
                                    .host_id = args.config.host_id,
                                    .key = args.name.key};
  ExtentList extents = state.placer.Place(request, state.rng);
  if (!extents.empty()) return extents;
  const uint64_t eviction_wish = state.eviction_wish;
  const uint64_t hole_wish = state.hole_wish;
  if (EvictFor(state, request, now)) extents = state.placer.Place(request, state.rng);
  if (!extents.empty()) {
    state.eviction_wish = eviction_wish;
    state.hole_wish = hole_wish;
    return extents;
  }
  ++state.counters.placement_failures;
  return NoRoom(state, args.size);
}

uint64_t BytesOf(const State& state, const ExtentList& extents) {
  uint64_t bytes = 0;
  for (const ExtentRef& extent : extents) bytes += state.pool.BytesOf(extent);
  return bytes;
}

// True: there is room below the quota for so many bytes more, perhaps because objects of the tenant were evicted.
bool MakeQuota(State& state, Tenant& tenant, uint64_t bytes, TimePoint now) {
  TenantBooks& books = tenant.books;
  if (WithinQuota(state, tenant, bytes)) return true;
  if (bytes > books.effective) return false;
  const uint64_t lacking = books.charged - (books.effective - bytes);
  const EvictionOutcome outcome =
      EvictFromTenant(state, tenant, lacking, state.options.inline_eviction_limit, now);
  if (WithinQuota(state, tenant, bytes)) return true;
  if (outcome.exhausted) return false;
  if (books.wish == 0) state.wishing.push_back(tenant.name);
  books.wish = std::max(books.wish, lacking - std::min(lacking, outcome.bytes));
  return false;
}

// Space for the put within the tenant's quota. kNoAvailableHandle, kTenantQuotaExceeded.
Result<ExtentList> FindRoom(State& state, TimePoint now, const PutStartArgs& args,
                            const Object* object) {
  if (args.size == 0) return ExtentList();
  if (!state.options.multi_tenants) return FindSpace(state, now, args, object);
  Tenant& tenant = state.table.FindOrAddTenant(TenantOf(args.name.tenant));
  // What is placed may be less, when segments are few, or more: pieces have seals of their own, slabs are rounded up.
  uint64_t bytes = ExtentFootprint(args.size) * args.config.replica_num;
  for (int round = 0; round < 2 && MakeQuota(state, tenant, bytes, now); ++round) {
    ASSIGN_OR_RETURN(const ExtentList extents, FindSpace(state, now, args, object));
    bytes = BytesOf(state, extents);
    if (WithinQuota(state, tenant, bytes)) return extents;
    for (const ExtentRef& extent : extents) state.pool.Release(extent);
  }
  return QuotaExceeded(state, tenant, bytes);
}

uint32_t ReplicaCount(const ExtentList& extents) {
  return extents.empty() ? 0 : static_cast<uint32_t>(extents.back().replica) + 1;
}

PutStartReply ReplyOf(const State& state, const PendingPut& put) {
  PutStartReply reply;
  reply.put_id = put.put_id;
  reply.replicas = Describe(state, put.extents, ReplicaStatus::kProcessing);
  reply.grant = WriteGrantOf(state.options);
  reply.write_deadline_ms = ToMillis((put.started + reply.grant).time_since_epoch());
  return reply;
}

Status NoSuchWrite(const State& state, const Object* object, const ObjectName& name, PutId put_id) {
  if (object == nullptr || (object->pending == nullptr && !IsReadable(state, *object))) {
    return {ErrorCode::kObjectNotFound,
            "key " + Quote(name.key) + " has neither version nor write"};
  }
  const std::string current =
      object->pending == nullptr ? "none" : "put " + std::to_string(object->pending->put_id.value);
  return {ErrorCode::kInvalidWrite, "put " + std::to_string(put_id.value) + " of key " +
                                        Quote(name.key) + " is not in progress; in progress is " +
                                        current};
}

Status CheckWriter(const PendingPut& put, const ClientId& client) {
  if (put.client == client) return Status::Ok();
  return {ErrorCode::kIllegalClient, "put " + std::to_string(put.put_id.value) +
                                         " belongs to client " + put.client.ToString() +
                                         ", not to " + client.ToString()};
}

// The pending write of `object` becomes its version.
void CommitWrite(State& state, Object* object, TimePoint now, int64_t wall_ms,
                 const std::optional<ObjectAttributes>& attributes) {
  NewVersion version;
  const Group* old_group = object->group();
  version.group = old_group != nullptr ? old_group->name : object->pending->config.group;
  version.hard_pin = object->pending->config.hard_pin || object->hard_pin;
  version.soft_pin_until =
      SoftPinOf(state, object->pending->config.soft_pin, object->pending->config.soft_pin_ttl,
                object->soft_pin_until(), now);
  if (object->has_version()) {
    ++state.counters.replaced_objects;
    DropVersion(state, object, now);  // the write in progress keeps the object
  }
  const std::unique_ptr<PendingPut> put = TakeWrite(state, *object);
  version.put_id = put->put_id;
  version.size = put->size;
  version.created_ms = wall_ms;
  version.extents = std::move(put->extents);
  version.replicas_wanted = static_cast<uint8_t>(put->config.replica_num);
  version.attributes = attributes;
  Commit(state, *object, std::move(version), now);
  ++state.counters.puts_ended;
}

}  // namespace

Result<PutStartReply> PutStart(State& state, TimePoint now, const PutStartArgs& args) {
  RETURN_IF_ERROR(CheckPutStart(args, state.options.soft_pin_max_ttl));
  const std::string_view tenant = TenantOf(args.name.tenant);
  RETURN_IF_ERROR(CheckRegistered(state, tenant));
  Object* object = DropIfLost(state, LookupToCreate(state, now, args.name), now);
  RETURN_IF_ERROR(args.mode == WriteMode::kCreate ? CheckCreate(state, now, object)
                                                  : CheckReplace(object, args));

  // The old value must survive whatever becomes of this write, so eviction leaves it alone from here on.
  const bool was_queued = object != nullptr && object->queue != Queue::kNone;
  if (was_queued) Dequeue(state, *object);
  auto extents = FindRoom(state, now, args, object);
  if (!extents.ok()) {
    if (was_queued) Enqueue(state, *object, now);
    return extents.status();
  }
  if (object != nullptr && object->pending != nullptr) {
    ++state.counters.puts_preempted;
    object = AbandonWrite(state, object, InFlight::kPerhaps, now);
    if (object != nullptr) Dequeue(state, *object);
  }
  if (object == nullptr) object = state.table.Insert(tenant, args.name.key);

  auto put = std::make_unique<PendingPut>();
  put->put_id = NextPutId(state);
  put->client = args.client;
  put->mode = args.mode;
  put->size = args.size;
  put->started = now;
  put->extents = std::move(extents).value();
  put->config = args.config;
  put->config.preferred_segments = {};
  put->config.excluded_segments = {};
  put->expected = args.expected;
  const uint32_t got = ReplicaCount(put->extents);
  if (args.size > 0 && got < args.config.replica_num) ++state.counters.partial_placements;
  if (put->extents.size() > got) ++state.counters.split_placements;
  ++state.counters.puts_started;
  PutStartReply reply = ReplyOf(state, *put);
  BeginWrite(state, *object, std::move(put));
  return reply;
}

Status PutEnd(State& state, TimePoint now, int64_t wall_ms, const PutEndArgs& args) {
  RETURN_IF_ERROR(CheckName(args.name));
  if (args.attributes.has_value()) RETURN_IF_ERROR(CheckAttributes(*args.attributes));
  Object* object = Lookup(state, now, args.name);
  if (object == nullptr || object->pending == nullptr || object->pending->put_id != args.put_id) {
    // A repeated End, whose first answer was lost.
    const bool ended = object != nullptr && args.put_id != kNoPut && object->put_id == args.put_id;
    if (ended && IsReadable(state, *object)) return Status::Ok();
    return NoSuchWrite(state, object, args.name, args.put_id);
  }
  PendingPut& put = *object->pending;
  RETURN_IF_ERROR(CheckWriter(put, args.client));
  if (put.base_removed) {
    AbandonWrite(state, object, InFlight::kNothing, now);
    return {ErrorCode::kInvalidVersion, "key " + Quote(args.name.key) + ": the version which put " +
                                            std::to_string(args.put_id.value) +
                                            " was to replace was removed"};
  }
  ReleaseDeadReplicas(state, *object->tenant, put.extents);
  if (put.size > 0 && put.extents.empty()) {
    AbandonWrite(state, object, InFlight::kNothing, now);
    return {ErrorCode::kInvalidWrite, "put " + std::to_string(args.put_id.value) + " of key " +
                                          Quote(args.name.key) +
                                          ": every segment that it was written to is gone"};
  }
  CommitWrite(state, object, now, wall_ms, args.attributes);
  return Status::Ok();
}

Status PutRevoke(State& state, TimePoint now, const PutRevokeArgs& args) {
  RETURN_IF_ERROR(CheckName(args.name));
  Object* object = Lookup(state, now, args.name);
  if (object == nullptr || object->pending == nullptr || object->pending->put_id != args.put_id) {
    if (args.settled) ReleaseDiscarded(state, args.put_id);  // preempted, and now known to be over
    const bool ended = object != nullptr && args.put_id != kNoPut && object->put_id == args.put_id;
    if (ended && IsReadable(state, *object)) {
      return {ErrorCode::kObjectAlreadyExists, "key " + Quote(args.name.key) + ": put " +
                                                   std::to_string(args.put_id.value) +
                                                   " was ended and is the readable version"};
    }
    return NoSuchWrite(state, object, args.name, args.put_id);
  }
  RETURN_IF_ERROR(CheckWriter(*object->pending, args.client));
  ++state.counters.puts_revoked;
  AbandonWrite(state, object, args.settled ? InFlight::kNothing : InFlight::kPerhaps, now);
  return Status::Ok();
}

}  // namespace mooncake::core

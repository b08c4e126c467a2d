// Clients, and the segments that they lend.
#include <algorithm>
#include <utility>

#include "master/core/allocator/slab_allocator.h"
#include "master/core/checks.h"
#include "master/core/ops/ops.h"
#include "master/core/persist/outcomes.h"
#include "master/core/quota.h"

namespace mooncake::core {
namespace {

constexpr size_t kMaxAddressBytes = 1024;

// The client, registered and alive from now on for another ttl.
ClientState& Hear(State& state, TimePoint now, const ClientId& id, bool& is_new) {
  const TimePoint deadline = SaturatingAdd(now, state.options.client_ttl);
  auto* item = state.clients.Find(id);
  is_new = item == nullptr;
  ClientState& client = is_new ? state.clients.Insert(id, deadline, ClientState{}) : item->value;
  client.last_ping = now;
  if (!is_new) state.clients.SetDeadline(id, deadline);
  return client;
}

// The capacity is to be shared anew afterwards; so is it after DoMount.
void Kill(State& state, uint32_t slot, bool owner_must_remount) {
  const SegmentDescriptor& descriptor = state.pool.at(slot).descriptor;
  auto* owner = state.clients.Find(descriptor.owner);
  state.leaving.Take(descriptor.id);
  state.quarantined.Take(descriptor.id);
  LogSegmentGone(state, descriptor.id);
  ForgetCharges(state, slot);
  state.pool.Kill(slot);
  if (owner == nullptr) return;
  --owner->value.segments;
  if (owner_must_remount) owner->value.needs_remount = true;
}

// May `segment` be mounted beside, or instead of, what is there?
Status CheckMount(const State& state, const SegmentDescriptor& segment) {
  if (state.options.memory_allocator == MemoryAllocator::kCachelib &&
      segment.size % SlabAllocator::kSlabBytes != 0) {
    return {ErrorCode::kInvalidParams,
            "segment " + Quote(segment.name) + " has " + std::to_string(segment.size) +
                " bytes; with memory_allocator=cachelib it must be a multiple of " +
                std::to_string(SlabAllocator::kSlabBytes)};
  }
  const uint32_t slot = state.pool.FindById(segment.id);
  if (slot == kNoSlot) return Status::Ok();
  const SegmentDescriptor& mounted = state.pool.at(slot).descriptor;
  if (mounted.owner != segment.owner || mounted.name != segment.name ||
      mounted.size != segment.size) {
    return {ErrorCode::kInvalidParams,
            "segment " + segment.id.ToString() + " is mounted as " + Quote(mounted.name) + " by " +
                mounted.owner.ToString() + " with " + std::to_string(mounted.size) +
                " bytes, now " + Quote(segment.name) + " by " + segment.owner.ToString() +
                " with " + std::to_string(segment.size)};
  }
  // A restored segment comes back with a newer epoch only: whoever read or wrote under its old one is then refused by the node.
  const bool restored = !state.pool.at(slot).attached && state.pool.at(slot).usable_from == 0;
  if (segment.epoch < mounted.epoch || (restored && segment.epoch == mounted.epoch)) {
    return {ErrorCode::kInvalidVersion, "segment " + segment.id.ToString() + " has access epoch " +
                                            std::to_string(mounted.epoch.value) + ", now came " +
                                            std::to_string(segment.epoch.value)};
  }
  return Status::Ok();
}

// The slot of a segment that `id` may unmount; kNoSlot when there is no such segment.
Result<uint32_t> FindOwned(const State& state, const ClientId& id, const SegmentId& segment) {
  const uint32_t slot = state.pool.FindById(segment);
  if (slot == kNoSlot) return kNoSlot;
  const ClientId owner = state.pool.at(slot).descriptor.owner;
  if (owner == id) return slot;
  return {ErrorCode::kInvalidParams, "segment " + segment.ToString() + " belongs to client " +
                                         owner.ToString() + ", not to " + id.ToString()};
}

// The segment is checked and its owner registered.
void DoMount(State& state, ClientState& owner, const SegmentDescriptor& segment) {
  const uint32_t known = state.pool.FindById(segment.id);
  if (known != kNoSlot) {
    // The memory is the same, so what is in it stays; only transfers of the old epoch are refused by the node.
    Segment& mounted = state.pool.at(known);
    const bool newer = mounted.descriptor.epoch < segment.epoch;
    mounted.descriptor = segment;
    ForgetFailures(state, known);
    LogSegment(state, known);
    if (newer) AwaitMount(state, known);
    return;
  }
  const uint32_t earlier_life = state.pool.FindByName(segment.name);
  if (earlier_life != kNoSlot) {
    ++state.counters.replaced_segments;
    Kill(state, earlier_life, /*owner_must_remount=*/true);
  }
  const uint32_t slot = state.pool.Mount(segment);
  ++owner.segments;
  LogSegment(state, slot);
  AwaitMount(state, slot);
}

// Somebody heard of a later state than the one that was restored: what was removed or replaced since is not known here, so all that was
// restored goes. Nodes mount again with nothing in their segments.
void DropRestored(State& state) {
  std::vector<uint32_t> restored;
  for (const auto& [name, slot] : state.pool.by_name()) {
    if (state.pool.at(slot).restored) restored.push_back(slot);
  }
  for (const uint32_t slot : restored) Kill(state, slot, /*owner_must_remount=*/true);
  state.counters.distrusted_segments += restored.size();
}

}  // namespace

Result<PingReply> Ping(State& state, TimePoint now, const ClientId& id,
                       const std::string& address) {
  if (id.IsNil()) return {ErrorCode::kInvalidParams, "the client's id is nil"};
  if (address.size() > kMaxAddressBytes) {
    return {ErrorCode::kInvalidParams, "the address has " + std::to_string(address.size()) +
                                           " bytes, at most " + std::to_string(kMaxAddressBytes) +
                                           " are allowed"};
  }
  bool is_new = false;
  ClientState& client = Hear(state, now, id, is_new);
  if (is_new) client.needs_remount = true;
  client.address = address;
  PingReply reply;
  reply.status = client.needs_remount ? PingStatus::kNeedRemount : PingStatus::kOk;
  reply.term = state.term;
  reply.master_now_ms = ToMillis(now.time_since_epoch());
  reply.client_ttl = state.options.client_ttl;
  if (state.journal.on()) reply.log_position = state.journal.durable();
  return reply;
}

Status MountSegment(State& state, TimePoint now, const ClientId& id,
                    const SegmentDescriptor& segment) {
  RETURN_IF_ERROR(CheckSegment(id, segment));
  RETURN_IF_ERROR(CheckMount(state, segment));
  if (state.leaving.Find(segment.id) != nullptr) {
    return {ErrorCode::kUnavailableInCurrentStatus,
            "segment " + Quote(segment.name) + " is being unmounted gracefully"};
  }
  bool is_new = false;
  ClientState& client = Hear(state, now, id, is_new);
  DoMount(state, client, segment);
  ShareCapacity(state);
  // A client that was never told to remount has no other segment to tell of.
  if (is_new) client.needs_remount = false;
  return Status::Ok();
}

Status ReMountSegments(State& state, TimePoint now, const ClientId& id,
                       std::span<const SegmentDescriptor> segments, uint64_t seen_log_position) {
  if (id.IsNil()) return {ErrorCode::kInvalidParams, "the client's id is nil"};
  RETURN_IF_ERROR(CheckBatch("segments", segments.size()));
  for (const SegmentDescriptor& segment : segments) {
    RETURN_IF_ERROR(CheckSegment(id, segment));
    RETURN_IF_ERROR(CheckMount(state, segment));
  }
  if (seen_log_position > state.restored_upto) DropRestored(state);
  bool is_new = false;
  ClientState& client = Hear(state, now, id, is_new);
  std::vector<uint32_t> gone;
  for (const auto& [name, slot] : state.pool.by_name()) {
    const SegmentDescriptor& mounted = state.pool.at(slot).descriptor;
    const bool named = std::any_of(segments.begin(), segments.end(),
                                   [&](const SegmentDescriptor& s) { return s.id == mounted.id; });
    if (mounted.owner == id && !named) gone.push_back(slot);
  }
  for (const uint32_t slot : gone) Kill(state, slot, /*owner_must_remount=*/false);
  for (const SegmentDescriptor& segment : segments) DoMount(state, client, segment);
  ShareCapacity(state);
  client.needs_remount = false;
  return Status::Ok();
}

Status UnmountSegment(State& state, const ClientId& id, const SegmentId& segment) {
  ASSIGN_OR_RETURN(const uint32_t slot, FindOwned(state, id, segment));
  if (slot == kNoSlot) return Status::Ok();
  Kill(state, slot, /*owner_must_remount=*/false);
  ShareCapacity(state);
  return Status::Ok();
}

Status GracefulUnmountSegment(State& state, TimePoint now, const ClientId& id,
                              const SegmentId& segment, Duration grace) {
  if (grace < Duration::zero()) {
    return {ErrorCode::kInvalidParams,
            "the grace is " + std::to_string(ToMillis(grace)) + " ms, it must not be negative"};
  }
  ASSIGN_OR_RETURN(const uint32_t slot, FindOwned(state, id, segment));
  if (slot == kNoSlot) return Status::Ok();
  const TimePoint end = SaturatingAdd(now, grace);
  if (const auto* leaving = state.leaving.Find(segment)) {
    state.leaving.SetDeadline(segment, std::min(leaving->deadline, end));
    return Status::Ok();
  }
  state.pool.SetStatus(slot, SegmentStatus::kGracefullyUnmounting);
  state.leaving.Insert(segment, end, slot);
  return Status::Ok();
}

void UnmountLeaving(State& state, TimePoint now, uint32_t& budget) {
  const uint32_t before = budget;
  for (; budget > 0; --budget) {
    const auto id = state.leaving.Due(now);
    if (!id.has_value()) break;
    Kill(state, state.leaving.Find(*id)->value, /*owner_must_remount=*/false);
  }
  if (budget < before) ShareCapacity(state);
}

void RemoveClient(State& state, const ClientId& id) {
  std::vector<uint32_t> owned;
  for (const auto& [name, slot] : state.pool.by_name()) {
    if (state.pool.at(slot).descriptor.owner == id) owned.push_back(slot);
  }
  for (const uint32_t slot : owned) Kill(state, slot, /*owner_must_remount=*/false);
  if (!owned.empty()) ShareCapacity(state);
  state.clients.Take(id);
}

}  // namespace mooncake::core

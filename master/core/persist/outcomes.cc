#include "master/core/persist/outcomes.h"

#include <algorithm>
#include <utility>

#include "master/core/quota.h"
#include "transfer/base/check.h"

namespace mooncake::core {
namespace {

// Extents of replicas whose segments are all alive.
std::vector<PlacedExtent> Placed(const State& state, std::span<const ExtentRef> extents) {
  std::vector<PlacedExtent> placed;
  bool whole = true;
  size_t begin = 0;
  for (size_t i = 0; i < extents.size(); ++i) {
    const ExtentRef& extent = extents[i];
    if (i > 0 && extent.replica != extents[i - 1].replica) {
      whole = true;
      begin = placed.size();
    }
    whole = whole && state.pool.live(extent.slot);
    if (!whole) {
      placed.resize(begin);
      continue;
    }
    placed.push_back({state.pool.at(extent.slot).descriptor.id, extent.offset, extent.length,
                      static_cast<uint8_t>(extent.replica)});
  }
  return placed;
}

void Attach(State& state, uint32_t slot) {
  Segment& segment = state.pool.at(slot);
  segment.attached = true;
  // While it leaves it stays as it is.
  if (segment.status == SegmentStatus::kUndefined) state.pool.SetStatus(slot, SegmentStatus::kOk);
}

}  // namespace

VersionRecord DescribeVersion(const State& state, const Object& object) {
  VersionRecord record;
  record.tenant = object.tenant->name;
  record.key = std::string(object.key());
  record.put_id = object.put_id;
  record.size = object.size;
  record.created_ms = object.created_ms;
  ExtentRef scratch;
  record.extents = Placed(state, object.extents(scratch));
  record.replicas_wanted = object.replicas_wanted;
  record.hard_pin = object.hard_pin;
  if (const Group* group = object.group()) record.group = group->name;
  record.attributes = object.attributes();
  return record;
}

void LogCommit(State& state, const Object& object) {
  Journal& journal = state.journal;
  if (!journal.on()) return;
  // Where it replaces a version, the name was pended when that one was dropped.
  const uint64_t sequence = journal.Append(DescribeVersion(state, object));
  if (journal.sync()) journal.Pend(object.tenant->name, object.key(), sequence);
}

uint64_t LogChange(State& state, const Object& object) {
  Journal& journal = state.journal;
  if (!journal.on()) return 0;
  const uint64_t sequence = journal.Append(DescribeVersion(state, object));
  journal.Pend(object.tenant->name, object.key(), sequence);
  return sequence;
}

void LogMove(State& state, std::string_view old_key, const Object& object) {
  Journal& journal = state.journal;
  if (!journal.on()) return;
  const uint64_t sequence = journal.Append(DescribeVersion(state, object));
  journal.Pend(object.tenant->name, object.key(), sequence);
  journal.Pend(object.tenant->name, old_key, sequence);
}

uint64_t LogNameGone(State& state, const Object& object) {
  Journal& journal = state.journal;
  if (!journal.on()) return 0;
  const uint64_t sequence =
      journal.Append(NameGoneRecord{object.tenant->name, std::string(object.key()), object.put_id});
  journal.Pend(object.tenant->name, object.key(), sequence);
  return sequence;
}

void LogPrefixRename(State& state, const PrefixRename& rename) {
  Journal& journal = state.journal;
  if (!journal.on()) return;
  journal.PendAll(journal.Append(PrefixRenamedRecord{rename.tenant, rename.from, rename.to}));
}

void LogSegment(State& state, uint32_t slot) {
  if (!state.journal.on()) return;
  state.journal.Append(SegmentRecord{state.pool.at(slot).descriptor});
}

void LogSegmentGone(State& state, const SegmentId& id) {
  // What lay in it is not found from now on, under whatever name; that must not be undone.
  if (state.journal.on()) state.journal.PendAll(state.journal.Append(SegmentGoneRecord{id}));
}

void AwaitMount(State& state, uint32_t slot) {
  Journal& journal = state.journal;
  Segment& segment = state.pool.at(slot);
  segment.usable_from = journal.last();
  if (!journal.on()) return Attach(state, slot);
  segment.attached = false;
  if (segment.status == SegmentStatus::kOk) state.pool.SetStatus(slot, SegmentStatus::kUndefined);
  journal.Hold({segment.usable_from, {}, segment.descriptor.id});
}

void ReleaseAfter(State& state, Tenant& tenant, std::span<const ExtentRef> extents,
                  uint64_t sequence) {
  Uncharge(state, tenant, extents);
  Journal& journal = state.journal;
  ExtentList held;
  for (const ExtentRef& extent : extents) {
    if (journal.on() && sequence > journal.durable() && state.pool.live(extent.slot)) {
      state.pool.Hold(extent);
      held.push_back(extent);
    } else {
      state.pool.Release(extent);
    }
  }
  if (!held.empty()) journal.Hold({sequence, std::move(held), {}});
}

void LogDurable(State& state, uint64_t sequence) {
  state.journal.Durable(sequence);
  Journal::Held held;
  while (state.journal.NextFree(held)) {
    for (const ExtentRef& extent : held.extents) state.pool.ReleaseHeld(extent);
    if (held.mounted.IsNil()) continue;
    const uint32_t slot = state.pool.FindById(held.mounted);
    if (slot == kNoSlot) continue;
    // It may have been mounted anew since, and wait for that.
    if (state.pool.at(slot).usable_from <= sequence) Attach(state, slot);
  }
}

}  // namespace mooncake::core

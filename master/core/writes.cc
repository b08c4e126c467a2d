#include "master/core/writes.h"

#include <utility>

#include "master/core/quota.h"
#include "master/core/versions.h"
#include "transfer/base/check.h"

namespace mooncake::core {
namespace {

void DropDiscarded(State& state, PutId put_id) {
  auto put = state.discarded.Take(put_id);
  MC_CHECK(put.has_value());
  state.pool.SubtractNameless(Nameless::kDiscarded, put->extents);
  ReleaseAll(state, *put->tenant, put->extents);
  --put->tenant->books.nameless;
  state.table.ForgetIfUnused(put->tenant);
}

}  // namespace

void BeginWrite(State& state, Object& object, std::unique_ptr<PendingPut> put) {
  MC_CHECK(object.pending == nullptr);
  state.writes.Insert(
      put->put_id, SaturatingAdd(put->started, state.options.put_start_release_timeout), &object);
  Charge(state, *object.tenant, put->extents);
  object.pending = std::move(put);
  object.tenant->writing.insert(&object);
}

std::unique_ptr<PendingPut> TakeWrite(State& state, Object& object) {
  MC_CHECK(object.pending != nullptr);
  state.writes.Take(object.pending->put_id);
  object.tenant->writing.erase(&object);
  return std::move(object.pending);
}

Object* AbandonWrite(State& state, Object* object, InFlight in_flight, TimePoint now) {
  const std::unique_ptr<PendingPut> put = TakeWrite(state, *object);
  const TimePoint held_until = SaturatingAdd(put->started, state.options.put_start_release_timeout);
  if (in_flight == InFlight::kPerhaps && held_until > now && !put->extents.empty()) {
    state.pool.AddNameless(Nameless::kDiscarded, put->extents);
    ++object->tenant->books.nameless;
    state.discarded.Insert(put->put_id, held_until,
                           DiscardedPut{object->tenant, std::move(put->extents)});
  } else {
    ReleaseAll(state, *object->tenant, put->extents);
  }
  if (object->has_version()) {
    Enqueue(state, *object, now);  // it could not be evicted while its successor was being written
    return object;
  }
  state.table.Erase(object);
  return nullptr;
}

bool ReleaseDiscarded(State& state, PutId put_id) {
  if (state.discarded.Find(put_id) == nullptr) return false;
  DropDiscarded(state, put_id);
  return true;
}

void ExpireWrites(State& state, TimePoint now, uint32_t& budget) {
  while (budget > 0) {
    const auto id = state.writes.Due(now);
    if (!id.has_value()) return;
    --budget;
    ++state.counters.puts_expired;
    AbandonWrite(state, state.writes.Find(*id)->value, InFlight::kNothing, now);
  }
}

void ExpireDiscarded(State& state, TimePoint now, uint32_t& budget) {
  while (budget > 0) {
    const auto id = state.discarded.Due(now);
    if (!id.has_value()) return;
    --budget;
    DropDiscarded(state, *id);
  }
}

}  // namespace mooncake::core

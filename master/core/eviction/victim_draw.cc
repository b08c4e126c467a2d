#include "master/core/eviction/victim_draw.h"

#include <algorithm>

#include "transfer/base/check.h"

namespace mooncake::core {

VictimDraw::VictimDraw(State& state, uint32_t only_slot) : state_(state) {
  MC_CHECK(state.reuse != nullptr);
  const auto add = [&](uint32_t slot) {
    const uint64_t before = ends_.empty() ? 0 : ends_.back();
    slots_.push_back(slot);
    ends_.push_back(before + state.pool.at(slot).allocator->HandleCount());
  };
  if (only_slot != kNoSlot) {
    add(only_slot);
  } else {
    for (const auto& [name, slot] : state.pool.by_name()) add(slot);
  }
}

Object* VictimDraw::Draw() {
  if (ends_.empty() || ends_.back() == 0) return nullptr;
  const uint64_t drawn = state_.rng.Below(ends_.back());
  const auto end = std::upper_bound(ends_.begin(), ends_.end(), drawn);
  const auto index = static_cast<size_t>(end - ends_.begin());
  const auto handle = static_cast<uint32_t>(drawn - (index == 0 ? 0 : ends_[index - 1]));
  const uint32_t slot = slots_[index];
  if (!state_.pool.at(slot).allocator->IsLive(handle)) return nullptr;
  return state_.pool.Owner(slot, handle);
}

void VictimDraw::Consider(Object* object, Best& best) const {
  ++best.seen;
  constexpr ColderFirst colder;
  if (best.coldest == nullptr || colder(*object, *best.coldest)) best.coldest = object;
  const double density = state_.reuse->Density(object->reuse_class, object->touched);
  const bool less = best.least_dense == nullptr || density < best.density ||
                    (density == best.density && colder(*object, *best.least_dense));
  if (!less) return;
  best.least_dense = object;
  best.density = density;
}

Object* VictimDraw::Choose(const Best& best) const {
  if (best.coldest == nullptr) return nullptr;
  return state_.reuse->IsStrange(best.coldest->touched) ? best.coldest : best.least_dense;
}

}  // namespace mooncake::core

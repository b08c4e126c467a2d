#include "master/core/prefix_rename.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "master/core/checks.h"
#include "master/core/persist/outcomes.h"
#include "master/core/replicas.h"
#include "master/core/versions.h"
#include "transfer/base/check.h"

namespace mooncake::core {
namespace {

constexpr size_t kMaxRenames = 64;
constexpr size_t kMaxResults = 1024;

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool Overlap(std::string_view a, std::string_view b) {
  return StartsWith(a, b) || StartsWith(b, a);
}

// The first key with this prefix in the index; null when there is none.
const Object* FirstWithPrefix(const KeyIndex& index, std::string_view prefix) {
  const auto it = index.lower_bound(prefix);
  if (it == index.end() || !StartsWith((*it)->key(), prefix)) return nullptr;
  return *it;
}

// Moves what has the name `key` into place, if it is still under its old name.
void Settle(State& state, PrefixRename& rename, std::string_view key, bool create, TimePoint now) {
  const bool old_name = StartsWith(key, rename.from);
  if (!old_name && !StartsWith(key, rename.to)) return;
  const std::string_view rest = key.substr(old_name ? rename.from.size() : rename.to.size());
  if (rest < rename.next || rename.settled.contains(rest)) return;
  const std::string source = rename.from + std::string(rest);
  Object* object = state.table.Find(rename.tenant, source);
  if (object != nullptr && IsReadable(state, *object)) {
    const std::string target = rename.to + std::string(rest);
    DropIfLost(state, state.table.Find(rename.tenant, target), now);
    MoveObject(state, object, target, now);
    ++rename.moved;
  }
  if (create && old_name) rename.settled.insert(std::string(rest));
}

Object* LookupIn(State& state, TimePoint now, const ObjectName& name, bool create) {
  const std::string_view tenant = TenantOf(name.tenant);
  for (PrefixRename& rename : state.renames) {
    if (rename.tenant == tenant) Settle(state, rename, name.key, create, now);
  }
  return state.table.Find(tenant, name.key);
}

// Moves the next objects. True when none is left.
bool Advance(State& state, TimePoint now, PrefixRename& rename, uint32_t& budget) {
  const Tenant* tenant = state.table.FindTenant(rename.tenant);
  if (tenant == nullptr) return true;
  std::vector<Object*> batch;
  auto it = tenant->readable.lower_bound(rename.from + rename.next);
  const auto below = [&] {
    return it != tenant->readable.end() && StartsWith((*it)->key(), rename.from);
  };
  for (; below() && batch.size() < budget; ++it) batch.push_back(*it);
  const bool last = !below();
  budget -= static_cast<uint32_t>(batch.size());
  for (Object* object : batch) {
    const std::string rest(object->key().substr(rename.from.size()));
    rename.next = rest + '\0';
    const bool newer = rename.settled.erase(rest) > 0;
    if (newer || !IsReadable(state, *object)) continue;
    const std::string target = rename.to + rest;
    DropIfLost(state, state.table.Find(rename.tenant, target), now);
    MoveObject(state, object, target, now);
    ++rename.moved;
  }
  return last;
}

void Finish(State& state, size_t index) {
  const PrefixRename& rename = state.renames[index];
  state.rename_results[rename.id] = rename.moved;
  if (state.rename_results.size() > kMaxResults)
    state.rename_results.erase(state.rename_results.begin());
  state.renames.erase(state.renames.begin() + static_cast<std::ptrdiff_t>(index));
}

Status CheckNames(const Tenant& tenant, const std::string& from, const std::string& to) {
  if (Overlap(from, to)) {
    return {ErrorCode::kInvalidParams,
            "one of the prefixes " + Quote(from) + " and " + Quote(to) + " begins with the other"};
  }
  for (const std::string* prefix : {&from, &to}) {
    if (const Object* writing = FirstWithPrefix(tenant.writing, *prefix)) {
      return {ErrorCode::kObjectReplicaBusy,
              "key " + Quote(writing->key()) + " has a write in progress"};
    }
  }
  if (to.size() <= from.size() || tenant.longest_key + to.size() - from.size() <= kMaxKeyBytes) {
    return Status::Ok();
  }
  // Only with keys near the limit, which are rare.
  for (auto it = tenant.readable.lower_bound(from);
       it != tenant.readable.end() && StartsWith((*it)->key(), from); ++it) {
    const size_t size = (*it)->key().size() + to.size() - from.size();
    if (size <= kMaxKeyBytes) continue;
    return {ErrorCode::kInvalidKey, "the new name of " + Quote((*it)->key()) + " would have " +
                                        std::to_string(size) + " bytes, at most " +
                                        std::to_string(kMaxKeyBytes) + " are allowed"};
  }
  return Status::Ok();
}

// Looks from the side with fewer keys, without counting them first.
Status CheckTargets(const State& state, const Tenant& tenant, const std::string& from,
                    const std::string& to) {
  const KeyIndex& index = tenant.readable;
  auto source = index.lower_bound(from);
  auto target = index.lower_bound(to);
  const auto conflict = [&](const Object* here, const std::string& prefix,
                            const std::string& other) -> const Object* {
    if (!IsReadable(state, *here)) return nullptr;
    const std::string twin = other + std::string(here->key().substr(prefix.size()));
    const Object* there = state.table.Find(tenant, twin);
    if (there == nullptr || !IsReadable(state, *there)) return nullptr;
    return &other == &to ? there : here;
  };
  for (;; ++source, ++target) {
    if (source == index.end() || !StartsWith((*source)->key(), from)) return Status::Ok();
    if (target == index.end() || !StartsWith((*target)->key(), to)) return Status::Ok();
    const Object* taken = conflict(*source, from, to);
    if (taken == nullptr) taken = conflict(*target, to, from);
    if (taken == nullptr) continue;
    return {ErrorCode::kObjectAlreadyExists,
            "key " + Quote(taken->key()) + " has a readable version"};
  }
}

}  // namespace

Object* Lookup(State& state, TimePoint now, const ObjectName& name) {
  return LookupIn(state, now, name, /*create=*/false);
}

Object* LookupToCreate(State& state, TimePoint now, const ObjectName& name) {
  return LookupIn(state, now, name, /*create=*/true);
}

void MoveObject(State& state, Object* object, std::string_view key, TimePoint now) {
  MC_CHECK(object->pending == nullptr);
  Object* target = state.table.Insert(object->tenant->name, key);
  MoveVersion(state, object, target, now);
  state.table.Erase(object);
}

Result<RenamePrefixWalk> StartRenamePrefix(State& state, TimePoint now,
                                           const std::string& tenant_name, const std::string& from,
                                           const std::string& to) {
  RETURN_IF_ERROR(CheckTenant(tenant_name));
  if (from.empty() || to.empty()) return {ErrorCode::kInvalidParams, "a prefix is empty"};
  RenamePrefixWalk walk;
  walk.done = true;
  const std::string tenant(TenantOf(tenant_name));
  // Whoever would see names half way of an earlier one finishes it.
  for (size_t i = state.renames.size(); i-- > 0;) {
    PrefixRename& rename = state.renames[i];
    const bool touches = Overlap(rename.from, from) || Overlap(rename.from, to) ||
                         Overlap(rename.to, from) || Overlap(rename.to, to);
    if (state.renames.size() < kMaxRenames && (rename.tenant != tenant || !touches)) continue;
    uint32_t unbounded = UINT32_MAX;
    MC_CHECK(Advance(state, now, rename, unbounded));
    Finish(state, i);
  }
  const Tenant* found = state.table.FindTenant(tenant);
  if (found == nullptr || from == to) return walk;
  RETURN_IF_ERROR(CheckNames(*found, from, to));
  RETURN_IF_ERROR(CheckTargets(state, *found, from, to));
  walk.id = ++state.rename_count;
  walk.done = false;
  PrefixRename& rename = state.renames.emplace_back();
  rename.id = walk.id;
  rename.tenant = tenant;
  rename.from = from;
  rename.to = to;
  LogPrefixRename(state, rename);
  return walk;
}

void StepWalk(State& state, TimePoint now, RenamePrefixWalk& walk, uint32_t max_keys) {
  if (walk.done) return;
  for (size_t i = 0; i < state.renames.size(); ++i) {
    if (state.renames[i].id != walk.id) continue;
    uint32_t budget = std::max<uint32_t>(max_keys, 1);
    if (!Advance(state, now, state.renames[i], budget)) return;
    Finish(state, i);
    break;
  }
  walk.done = true;
  const auto result = state.rename_results.find(walk.id);
  if (result == state.rename_results.end()) return;
  walk.moved = result->second;
  state.rename_results.erase(result);
}

bool FinishRenames(State& state, TimePoint now, const std::string* tenant, uint32_t& budget) {
  for (size_t i = state.renames.size(); i-- > 0 && budget > 0;) {
    if (tenant != nullptr && state.renames[i].tenant != *tenant) continue;
    if (Advance(state, now, state.renames[i], budget)) Finish(state, i);
  }
  return std::none_of(state.renames.begin(), state.renames.end(), [&](const PrefixRename& rename) {
    return tenant == nullptr || rename.tenant == *tenant;
  });
}

}  // namespace mooncake::core

// Renames of whole prefixes: every name changes in the same instant, the objects move to their new
// names bit by bit. Until the last has moved, names must be looked up through here.
#pragma once

#include <string>

#include "master/core/state.h"
#include "master/core/walks.h"
#include "transfer/base/result.h"

namespace mooncake::core {

// The object of that name; null when there is neither version nor write.
Object* Lookup(State& state, TimePoint now, const ObjectName& name);
// The same for whoever may make a version of that name: what is there from now on stays there.
Object* LookupToCreate(State& state, TimePoint now, const ObjectName& name);

// `object` must have a version and no write, nothing may be under `key`.
void MoveObject(State& state, Object* object, std::string_view key, TimePoint now);

// See MetadataCore::StartRenamePrefix.
Result<RenamePrefixWalk> StartRenamePrefix(State& state, TimePoint now, const std::string& tenant,
                                           const std::string& from, const std::string& to);
void StepWalk(State& state, TimePoint now, RenamePrefixWalk& walk, uint32_t max_keys);

// Walks over a tenant come after the renames in it: true when there is none left. Takes from the
// budget.
bool FinishRenames(State& state, TimePoint now, const std::string* tenant, uint32_t& budget);

}  // namespace mooncake::core

// Where the state tells its journal what happened, and where space waits for the log. Each call is a test of one flag while
// nothing is persisted.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "master/core/state.h"

namespace mooncake::core {

// As it is now. Replicas that touch a dead segment are left out.
VersionRecord DescribeVersion(const State& state, const Object& object);

// A version was committed. Answers wait for it only if the name had a version before, or always when durability is kSync:
// without it the name has none, as if the version had been evicted.
void LogCommit(State& state, const Object& object);
// Something about a version that has its name for longer changed. The sequence that space which it gave up has to wait for.
uint64_t LogChange(State& state, const Object& object);
// It has another name now.
void LogMove(State& state, std::string_view old_key, const Object& object);
// It is about to lose its name. The sequence that its space has to wait for.
uint64_t LogNameGone(State& state, const Object& object);
void LogPrefixRename(State& state, const PrefixRename& rename);
void LogSegment(State& state, uint32_t slot);
void LogSegmentGone(State& state, const SegmentId& id);
// The segment was just mounted, with nothing in it or with a newer epoch: it is used when that is durable. If it was here before, its
// death must be so before bytes of that life are written over. And whoever is told of an epoch must be refused after a restart:
// only an epoch that the log knows is refused then.
void AwaitMount(State& state, uint32_t slot);

// Gives space back: at once, or when `sequence` is durable; the tenant is not charged for it any more. Dead segments have nothing that
// could be used again.
void ReleaseAfter(State& state, Tenant& tenant, std::span<const ExtentRef> extents,
                  uint64_t sequence);
// Up to here the log is durable.
void LogDurable(State& state, uint64_t sequence);

}  // namespace mooncake::core

// Everything the metadata core remembers. Operations (ops/) and the parts below them (versions, writes, eviction/)
// are functions over it; metadata_core.cc is their list.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>

#include "master/core/counters.h"
#include "master/core/eviction/reuse_model.h"
#include "master/core/object_table.h"
#include "master/core/options.h"
#include "master/core/persist/journal.h"
#include "master/core/placement/placer.h"
#include "master/core/segment_pool.h"
#include "master/core/timed_map.h"
#include "transfer/base/rng.h"

namespace mooncake::core {

// Space of a write that is over for its client, but whose bytes may still arrive: held until nobody can write.
struct DiscardedPut {
  Tenant* tenant = nullptr;  // the charge is its
  ExtentList extents;
};

// A version without a name, kept for the holders of leases.
struct DetachedVersion {
  Tenant* tenant = nullptr;  // the charge is its
  ExtentList extents;
  uint64_t released_by = 0;  // sequence of the record that took its name
  PutId part_of = kNoPut;    // only the living rest of a replica; see State::rests
};

struct ClientState {
  std::string address;
  TimePoint last_ping{};
  uint32_t segments = 0;
  // It has lost segments here, or never told of any: Ping answers kNeedRemount until it mounts.
  bool needs_remount = false;
};

// Names change at once, objects move one by one; prefix_rename.h.
struct PrefixRename {
  uint64_t id = 0;
  std::string tenant;
  std::string from;
  std::string to;
  std::string next;  // what follows `from` in the next key to move
  // Behind `next`: under `from` there is, or may come to be, a newer object that stays there.
  absl::btree_set<std::string, std::less<>> settled;
  uint64_t moved = 0;
};

struct State {
  State(const CoreOptions& core_options, Term core_term, uint64_t seed)
      : options(core_options),
        term(core_term),
        rng(seed),
        journal(core_options.durability),
        table(core_options.table_parts),
        pool(core_options.memory_allocator),
        placer(pool, core_options.allocation_strategy, core_options.min_slice_bytes) {
    if (options.eviction_policy == EvictionPolicyKind::kHitDensity)
      reuse = std::make_unique<ReuseModel>();
  }

  const CoreOptions options;
  const Term term;
  Rng rng;
  uint64_t put_count = 0;  // low bits of the last put id

  Journal journal;
  uint64_t answer_after = 0;  // MetadataCore::AnswerAfter
  // After a restore: nothing is acknowledged before `quiet_until`, and versions of earlier terms are leased until `old_leases_end`,
  // since a predecessor may have granted leases that long.
  TimePoint quiet_until{};
  TimePoint old_leases_end{};
  uint64_t restored_upto = 0;  // position in the log

  ObjectTable table;
  SegmentPool pool;
  Placer placer;

  TimedMap<PutId, Object*> writes;            // until the release timeout
  TimedMap<PutId, DiscardedPut> discarded;    // until nobody can write
  TimedMap<PutId, DetachedVersion> detached;  // until the last lease ends
  TimedMap<PutId, Object*> soft_pins;         // until the pin ends
  // A replica over several segments of which one died is gone, but its readers may go on with the others. So the rest is kept like
  // a detached version, under an id of its own, as long as the leases on the version whose replica it was. By that version.
  absl::flat_hash_map<PutId, std::vector<PutId>> rests;
  // Versions renamed while leased: their readers know the old name. Until the lease ends.
  TimedMap<PutId, Object*> renamed;
  TimedMap<ClientId, ClientState> clients;    // until the client's ttl
  TimedMap<SegmentId, uint32_t> leaving;      // slots; until they are unmounted
  TimedMap<SegmentId, uint32_t> quarantined;  // slots; until it is over

  std::unique_ptr<ReuseModel> reuse;  // null: the policy is least recently used
  bool evicting = false;              // above the watermark a while ago, not yet below the low mark
  uint64_t eviction_wish = 0;         // bytes that a PutStart lacked
  uint64_t hole_wish = 0;             // bytes that it lacked in one piece
  uint64_t quota_count = 0;           // tenants with a policy
  std::vector<std::string> wishing;   // tenants with a wish, each once
  uint64_t rename_count = 0;
  std::vector<PrefixRename> renames;                   // not finished; no two touch the same keys
  absl::btree_map<uint64_t, uint64_t> rename_results;  // moved objects, until the walk asks

  Counters counters;  // those of "since start", and those kept as we go
};

}  // namespace mooncake::core

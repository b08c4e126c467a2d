// Plain numbers that the core keeps; the server turns them into metrics.
#pragma once

#include <cstdint>

namespace mooncake::core {

struct Counters {
  // Since start.
  uint64_t puts_started = 0;
  uint64_t puts_ended = 0;
  uint64_t puts_revoked = 0;
  uint64_t puts_preempted = 0;           // by a later PutStart on the same key
  uint64_t puts_expired = 0;             // by the release timeout
  uint64_t partial_placements = 0;       // fewer replicas than asked for
  uint64_t split_placements = 0;         // a replica in more than one extent
  uint64_t placement_failures = 0;       // kNoAvailableHandle
  uint64_t quota_rejections = 0;         // kTenantQuotaExceeded, over all tenants
  uint64_t unregistered_rejections = 0;  // kTenantNotRegistered
  uint64_t leases_granted = 0;
  uint64_t removed_objects = 0;   // by Remove, RemoveByRegex, RemoveAll
  uint64_t replaced_objects = 0;  // by an upsert or a rename
  uint64_t evicted_objects = 0;
  uint64_t evicted_bytes = 0;
  uint64_t evicted_inline = 0;  // of evicted_objects: inside a PutStart
  uint64_t lost_objects = 0;    // the last replica was on a segment that went away
  uint64_t expired_clients = 0;
  uint64_t quarantines = 0;
  uint64_t replaced_segments = 0;  // a new life under the same name

  // Now.
  uint64_t objects = 0;  // readable; those of dead segments count until they are swept
  uint64_t puts_in_progress = 0;
  uint64_t discarded_puts = 0;  // preempted or revoked unsettled, space still held
  uint64_t discarded_bytes = 0;
  uint64_t detached_versions = 0;  // without a name, kept for the holders of leases
  uint64_t detached_bytes = 0;
  uint64_t soft_pinned_objects = 0;
  uint64_t hard_pinned_objects = 0;
  uint64_t under_replicated_objects = 0;
  uint64_t groups = 0;
  uint64_t capacity = 0;
  uint64_t used = 0;
  uint64_t held = 0;  // of used: free once the log is durable
  uint64_t segments = 0;
  uint64_t quarantined_segments = 0;
  uint64_t distrusted_segments =
      0;                       // restored, and emptied since a node had heard of a later state
  uint64_t dead_segments = 0;  // not yet swept
  uint64_t clients = 0;
};

}  // namespace mooncake::core

// Makes room within one tenant, whose quota is used up. There are no queues by tenant: a hand goes round the tenant's keys, and of
// every few dozen objects under it the ones go that are worth least.
#pragma once

#include <cstdint>

#include "master/core/eviction/evictor.h"

namespace mooncake::core {

// Evicts until `bytes` are free, `limit` objects were looked at or evicted, or nothing is left. Soft-pinned objects only in a
// round of the hand that met nothing else, and if the options allow it. Groups go as in evictor.h.
EvictionOutcome EvictFromTenant(State& state, Tenant& tenant, uint64_t bytes, uint32_t limit,
                                TimePoint now);

// What puts lacked and did not get inline; takes from the budget. True: more is to be done.
bool GrantWishes(State& state, TimePoint now, uint32_t& budget);

}  // namespace mooncake::core

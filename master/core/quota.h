// Who pays for which bytes, and how much each may have. README.md, "Quotas".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "master/core/state.h"

namespace mooncake::core {

// What each gets of `capacity`, in the order of `requested` (none is 0; names in ascending order): what it asked for, if that is there
// for all; else its share, rounded down, and the bytes that are left over go one by one to the largest remainders, the first in
// case of ties. The sum is never more than `capacity`.
std::vector<uint64_t> SharesOf(uint64_t capacity, std::span<const uint64_t> requested);

// Makes the tenants' effective quotas fit the policies and the capacity there are now. It looks at every tenant, so an operation that
// changes either does it once, at its end.
void ShareCapacity(State& state);

// The blocks of these extents are the tenant's from now on; are so no more. Those on dead segments cost nothing.
void Charge(State& state, Tenant& tenant, std::span<const ExtentRef> extents);
void Uncharge(State& state, Tenant& tenant, std::span<const ExtentRef> extents);
// The segment is about to die: nobody pays for what is in it.
void ForgetCharges(State& state, uint32_t slot);

// May `tenant` begin a write? kTenantNotRegistered: it has no policy, or that is about to go.
Status CheckRegistered(State& state, std::string_view tenant);
// So many bytes more without being over the quota. Always true while options.multi_tenants is off.
bool WithinQuota(const State& state, const Tenant& tenant, uint64_t bytes);
// kTenantQuotaExceeded in words, and counted.
Status QuotaExceeded(State& state, Tenant& tenant, uint64_t bytes);

}  // namespace mooncake::core

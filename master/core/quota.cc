#include "master/core/quota.h"

#include <algorithm>
#include <numeric>

#include "master/core/checks.h"
#include "transfer/base/check.h"

namespace mooncake::core {

std::vector<uint64_t> SharesOf(uint64_t capacity, std::span<const uint64_t> requested) {
  using Wide = unsigned __int128;
  Wide sum = 0;
  for (const uint64_t bytes : requested) sum += bytes;
  if (sum <= capacity) return {requested.begin(), requested.end()};
  std::vector<uint64_t> shares;
  std::vector<Wide> remainders;
  uint64_t left = capacity;
  for (const uint64_t bytes : requested) {
    const Wide product = Wide{capacity} * bytes;
    shares.push_back(static_cast<uint64_t>(product / sum));
    remainders.push_back(product % sum);
    left -= shares.back();
  }
  std::vector<size_t> order(shares.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return remainders[a] > remainders[b]; });
  for (size_t i = 0; i < left; ++i) ++shares[order[i]];  // left < number of shares
  return shares;
}

void ShareCapacity(State& state) {
  if (state.quota_count == 0) return;
  std::vector<TenantBooks*> books;
  std::vector<uint64_t> requested;
  for (const auto& [name, tenant] : state.table.tenants()) {
    if (tenant->books.requested == 0) continue;
    books.push_back(&tenant->books);
    requested.push_back(tenant->books.requested);
  }
  const std::vector<uint64_t> shares = SharesOf(state.pool.capacity(), requested);
  for (size_t i = 0; i < shares.size(); ++i) books[i]->effective = shares[i];
}

void Charge(State& state, Tenant& tenant, std::span<const ExtentRef> extents) {
  for (const ExtentRef& extent : extents) {
    Segment& segment = state.pool.at(extent.slot);
    if (!segment.live) continue;
    const uint64_t bytes = state.pool.BytesOf(extent);
    if (segment.charged.size() <= tenant.number) segment.charged.resize(tenant.number + 1);
    segment.charged[tenant.number] += bytes;
    tenant.books.charged += bytes;
  }
}

void Uncharge(State& state, Tenant& tenant, std::span<const ExtentRef> extents) {
  for (const ExtentRef& extent : extents) {
    Segment& segment = state.pool.at(extent.slot);
    if (!segment.live) continue;
    const uint64_t bytes = state.pool.BytesOf(extent);
    MC_CHECK(tenant.number < segment.charged.size() && segment.charged[tenant.number] >= bytes)
        << "tenant " << tenant.name;
    segment.charged[tenant.number] -= bytes;
    tenant.books.charged -= bytes;
  }
}

void ForgetCharges(State& state, uint32_t slot) {
  std::vector<uint64_t>& charged = state.pool.at(slot).charged;
  for (uint32_t number = 0; number < charged.size(); ++number) {
    if (charged[number] > 0) state.table.tenant(number).books.charged -= charged[number];
  }
  charged.clear();
}

Status CheckRegistered(State& state, std::string_view tenant) {
  if (!state.options.multi_tenants) return Status::Ok();
  const Tenant* known = state.table.FindTenant(tenant);
  if (known != nullptr && known->books.requested > 0 && !known->books.closed) return Status::Ok();
  ++state.counters.unregistered_rejections;
  const std::string why =
      known != nullptr && known->books.closed ? " is about to lose its quota" : " has no quota";
  return {ErrorCode::kTenantNotRegistered,
          "tenant " + Quote(tenant) + why +
              ", so it may not write; mooncake-admin quota set gives it one"};
}

bool WithinQuota(const State& state, const Tenant& tenant, uint64_t bytes) {
  if (!state.options.multi_tenants) return true;
  const TenantBooks& books = tenant.books;
  return bytes <= books.effective && books.charged <= books.effective - bytes;
}

Status QuotaExceeded(State& state, Tenant& tenant, uint64_t bytes) {
  TenantBooks& books = tenant.books;
  ++books.rejected;
  ++state.counters.quota_rejections;
  std::string words = std::to_string(bytes) + " bytes wanted by tenant " + Quote(tenant.name) +
                      ", which has " + std::to_string(books.charged) + " of " +
                      std::to_string(books.effective) + " (" + std::to_string(books.requested) +
                      " were asked for it)";
  if (books.wish > 0) words += "; its unused objects are being evicted, try again";
  return {ErrorCode::kTenantQuotaExceeded, std::move(words)};
}

}  // namespace mooncake::core

#include "master/core/eviction/tenant_evictor.h"

#include <algorithm>
#include <vector>

#include "master/core/versions.h"

namespace mooncake::core {
namespace {

// As many candidates are compared at a time; the better half of them stays.
constexpr size_t kWindow = 32;

class TenantRun {
 public:
  TenantRun(State& state, Tenant& tenant, uint64_t bytes, uint32_t limit, TimePoint now)
      : state_(state), tenant_(tenant), bytes_(bytes), limit_(limit), now_(now) {}

  EvictionOutcome Do() {
    const bool soft_allowed = state_.options.allow_evict_soft_pinned;
    while (!Enough()) {
      const TenantBooks& books = tenant_.books;
      const uint64_t round = tenant_.readable.size();
      // After a round without a victim the soft-pinned ones are met in another.
      if (books.looked >= (soft_allowed ? 2 * round : round)) {
        outcome_.exhausted = true;
        tenant_.books.looked = 0;
        break;
      }
      soft_ = books.looked >= round;
      EvictBest(NextWindow());
    }
    // Whoever comes next looks for unpinned ones first.
    if (outcome_.bytes >= bytes_) tenant_.books.looked = 0;
    return outcome_;
  }

 private:
  bool Enough() const { return outcome_.bytes >= bytes_ || work_ >= limit_; }

  bool MayGo(const Object& object) const {
    const bool plain = object.queue == Queue::kUnread || object.queue == Queue::kRead;
    const bool soft = object.queue == Queue::kSoftUnread || object.queue == Queue::kSoftRead;
    return (plain || (soft && soft_)) && !IsLeased(state_, object, now_);
  }

  // What the hand meets: at most a window of candidates, and no more objects than the limit.
  std::vector<Object*> NextWindow() {
    std::vector<Object*> window;
    TenantBooks& books = tenant_.books;
    const KeyIndex& keys = tenant_.readable;
    const uint64_t left_of_round = keys.size() - books.looked % keys.size();
    uint64_t looks = std::min<uint64_t>(left_of_round, limit_ - work_);
    auto it = keys.upper_bound(std::string_view(books.hand));
    Object* last = nullptr;
    for (; looks > 0 && window.size() < kWindow; --looks) {
      if (it == keys.end()) it = keys.begin();
      last = *it;
      ++it;
      ++work_;
      ++books.looked;
      if (MayGo(*last)) window.push_back(last);
    }
    if (last != nullptr) books.hand = std::string(last->key());
    return window;
  }

  // Worth least first: by hit density where that is learnt, by last use otherwise.
  void Sort(std::vector<Object*>& window) const {
    constexpr ColderFirst colder;
    if (state_.reuse == nullptr) {
      std::sort(window.begin(), window.end(),
                [&](const Object* a, const Object* b) { return colder(*a, *b); });
      return;
    }
    std::vector<std::pair<double, Object*>> rated;
    for (Object* object : window)
      rated.emplace_back(state_.reuse->Density(object->reuse_class, object->touched), object);
    std::sort(rated.begin(), rated.end(), [&](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : colder(*a.second, *b.second);
    });
    for (size_t i = 0; i < rated.size(); ++i) window[i] = rated[i].second;
  }

  void EvictBest(std::vector<Object*> window) {
    if (window.empty()) return;
    Sort(window);
    tenant_.books.looked = soft_ ? tenant_.readable.size() : 0;
    window.resize((window.size() + 1) / 2);
    // One at a time from its list: a group may take others of the window along.
    absl::btree_set<Object*> gone;
    for (Object* object : window) {
      if (Enough()) return;
      if (gone.contains(object)) continue;
      for (Object* member : MembersToEvict(object, limit_, soft_)) {
        outcome_.bytes += EvictObject(state_, member, now_);
        ++outcome_.objects;
        ++work_;
        gone.insert(member);
      }
    }
  }

  State& state_;
  Tenant& tenant_;
  const uint64_t bytes_;
  const uint32_t limit_;
  const TimePoint now_;
  bool soft_ = false;
  uint32_t work_ = 0;
  EvictionOutcome outcome_;
};

}  // namespace

EvictionOutcome EvictFromTenant(State& state, Tenant& tenant, uint64_t bytes, uint32_t limit,
                                TimePoint now) {
  // Only those with a quota are evicted from, so the tenant outlives its last object.
  const EvictionOutcome outcome = TenantRun(state, tenant, bytes, limit, now).Do();
  tenant.books.evicted_bytes += outcome.bytes;
  return outcome;
}

bool GrantWishes(State& state, TimePoint now, uint32_t& budget) {
  while (budget > 0 && !state.wishing.empty()) {
    Tenant* tenant = state.table.FindTenant(state.wishing.back());
    if (tenant == nullptr || tenant->books.requested == 0) {
      state.wishing.pop_back();
      continue;
    }
    uint64_t& wish = tenant->books.wish;
    const EvictionOutcome outcome = EvictFromTenant(state, *tenant, wish, budget, now);
    wish -= std::min(wish, outcome.bytes);
    if (wish > 0 && !outcome.exhausted) {
      budget = 0;
      return true;
    }
    budget -= std::min(budget, static_cast<uint32_t>(outcome.objects) + 1);
    wish = 0;
    state.wishing.pop_back();
  }
  return !state.wishing.empty();
}

}  // namespace mooncake::core

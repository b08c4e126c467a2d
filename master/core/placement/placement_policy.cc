#include "master/core/placement/placement_policy.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace mooncake::core {
namespace {

// a.first/a.second < b.first/b.second, exactly.
bool SmallerRatio(std::pair<uint64_t, uint64_t> a, std::pair<uint64_t, uint64_t> b) {
  return static_cast<unsigned __int128>(a.first) * b.second <
         static_cast<unsigned __int128>(b.first) * a.second;
}

// Draws without replacement, one at a time. The permutation is kept between orders: shuffling a shuffled list is
// as random, and costs nothing to begin.
class RandomDraw {
 public:
  void Begin(uint32_t count, Rng& rng) {
    rng_ = &rng;
    drawn_ = 0;
    if (order_.size() == count) return;
    order_.resize(count);
    for (uint32_t i = 0; i < count; ++i) order_[i] = i;
  }
  std::optional<uint32_t> Next() {
    const auto count = static_cast<uint32_t>(order_.size());
    if (drawn_ == count) return std::nullopt;
    std::swap(order_[drawn_], order_[drawn_ + rng_->Below(count - drawn_)]);
    return order_[drawn_++];
  }

 private:
  Rng* rng_ = nullptr;
  uint32_t drawn_ = 0;
  std::vector<uint32_t> order_;
};

class RandomPolicy : public PlacementPolicy {
 public:
  void Begin(const PlacementHints&, const SegmentLoads& loads, Rng& rng) override {
    draw_.Begin(loads.size(), rng);
  }
  std::optional<uint32_t> Next() override { return draw_.Next(); }

 private:
  RandomDraw draw_;
};

// A list of indices first, then the others at random.
class ListedFirstPolicy : public PlacementPolicy {
 public:
  std::optional<uint32_t> Next() override {
    if (next_ < first_.size()) return first_[next_++];
    while (auto index = draw_.Next()) {
      if (std::find(first_.begin(), first_.end(), *index) == first_.end()) return index;
    }
    return std::nullopt;
  }

 protected:
  void Restart(uint32_t count, Rng& rng) {
    first_.clear();
    next_ = 0;
    draw_.Begin(count, rng);
  }
  std::vector<uint32_t> first_;

 private:
  size_t next_ = 0;
  RandomDraw draw_;
};

class FreeRatioPolicy : public ListedFirstPolicy {
 public:
  explicit FreeRatioPolicy(bool ssd) : ssd_(ssd) {}

  void Begin(const PlacementHints& hints, const SegmentLoads& loads, Rng& rng) override {
    constexpr uint64_t kSamplesPerReplica = 6;
    const uint32_t count = loads.size();
    Restart(count, rng);
    if (count == 0) return;
    const uint64_t samples = std::min<uint64_t>(kSamplesPerReplica * hints.replicas, count);
    const uint64_t start = rng.Below(count);
    struct Scored {
      std::pair<uint64_t, uint64_t> ratio;
      uint32_t index;
    };
    std::vector<Scored> scored;
    for (uint64_t i = 0; i < samples; ++i) {
      const auto index = static_cast<uint32_t>((start + i) % count);
      scored.push_back({Ratio(loads.at(index)), index});
    }
    std::stable_sort(scored.begin(), scored.end(), [](const Scored& a, const Scored& b) {
      return SmallerRatio(b.ratio, a.ratio);
    });
    for (const Scored& s : scored) first_.push_back(s.index);
  }

 private:
  std::pair<uint64_t, uint64_t> Ratio(const SegmentLoad& load) const {
    if (!ssd_) return {load.free, std::max<uint64_t>(load.capacity, 1)};
    if (load.ssd_capacity == 0) return {1, 1};
    return {load.ssd_capacity - std::min(load.ssd_used, load.ssd_capacity), load.ssd_capacity};
  }
  const bool ssd_;
};

bool HostIsKnown(std::string_view host) {
  return !host.empty() && host != "localhost" && host.substr(0, 4) != "127." && host != "::1" &&
         host != "0.0.0.0" && host != "::";
}

class LocalFirstPolicy : public ListedFirstPolicy {
 public:
  void Begin(const PlacementHints& hints, const SegmentLoads& loads, Rng& rng) override {
    const uint32_t count = loads.size();
    Restart(count, rng);
    if (!HostIsKnown(hints.host_id)) return;
    for (uint32_t i = 0; i < count; ++i) first_.push_back(i);
    // Hosts from the writer's on, then from the first; the loads come in order of name, and a stable sort keeps it.
    const auto wrapped = [&](uint32_t i) { return loads.at(i).host_id < hints.host_id; };
    std::stable_sort(first_.begin(), first_.end(), [&](uint32_t a, uint32_t b) {
      if (wrapped(a) != wrapped(b)) return wrapped(b);
      return loads.at(a).host_id < loads.at(b).host_id;
    });
    for (size_t begin = 0, end = 0; begin < first_.size(); begin = end) {
      while (end < first_.size() &&
             loads.at(first_[end]).host_id == loads.at(first_[begin]).host_id)
        ++end;
      const auto from = first_.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto to = first_.begin() + static_cast<std::ptrdiff_t>(end);
      std::rotate(from, from + static_cast<std::ptrdiff_t>(hints.key_hash % (end - begin)), to);
    }
  }
};

class PreferredOnlyPolicy : public PlacementPolicy {
 public:
  void Begin(const PlacementHints&, const SegmentLoads&, Rng&) override {}
  std::optional<uint32_t> Next() override { return std::nullopt; }
};

}  // namespace

std::unique_ptr<PlacementPolicy> MakePlacementPolicy(AllocationStrategy strategy) {
  switch (strategy) {
    case AllocationStrategy::kRandom:
      return std::make_unique<RandomPolicy>();
    case AllocationStrategy::kFreeRatioFirst:
      return std::make_unique<FreeRatioPolicy>(false);
    case AllocationStrategy::kSsdFreeRatioFirst:
      return std::make_unique<FreeRatioPolicy>(true);
    case AllocationStrategy::kLocalFirst:
      return std::make_unique<LocalFirstPolicy>();
    case AllocationStrategy::kCxl:
      return std::make_unique<PreferredOnlyPolicy>();
  }
  return nullptr;
}

}  // namespace mooncake::core

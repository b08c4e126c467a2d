#include "master/core/placement/placer.h"

#include <algorithm>

#include "transfer/base/check.h"
#include "transfer/base/seal.h"

namespace mooncake::core {
namespace {

bool Contains(const std::vector<uint32_t>& list, uint32_t slot) {
  return std::find(list.begin(), list.end(), slot) != list.end();
}

// FNV-1a: for the order of local_first, which must be the same in every run.
uint64_t StableHash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

class Placer::Loads : public SegmentLoads {
 public:
  explicit Loads(const SegmentPool& pool) : pool_(pool) {}
  uint32_t size() const override { return static_cast<uint32_t>(pool_.allocatable().size()); }
  SegmentLoad at(uint32_t index) const override {
    const Segment& s = pool_.at(pool_.allocatable()[index]);
    return {s.descriptor.name, s.descriptor.host_id, s.capacity(), s.allocator->free_bytes(), 0, 0};
  }

 private:
  const SegmentPool& pool_;
};

Placer::Placer(SegmentPool& pool, AllocationStrategy strategy, uint64_t min_slice_bytes)
    : pool_(pool),
      min_slice_bytes_(min_slice_bytes),
      policy_(MakePlacementPolicy(strategy)),
      loads_(std::make_unique<Loads>(pool)) {}

Placer::~Placer() = default;

void Placer::Resolve(const PlacementRequest& request) {
  order_.clear();
  excluded_.clear();
  taken_.clear();
  exhausted_ = false;
  for (const std::string& name : request.excluded) {
    const uint32_t slot = pool_.FindByName(name);
    if (slot != kNoSlot) excluded_.push_back(slot);
  }
  for (const std::string& name : request.preferred) {
    const uint32_t slot = pool_.FindByName(name);
    if (slot != kNoSlot && !Contains(order_, slot)) order_.push_back(slot);
  }
  preferred_count_ = order_.size();
  for (const uint32_t slot : request.old_slots) {
    if (!Contains(order_, slot)) order_.push_back(slot);
  }
}

// The slot at `index` of the order, drawn from the policy when needed.
bool Placer::Candidate(size_t index, uint32_t& slot) {
  while (index >= order_.size() && !exhausted_) {
    const auto next = policy_->Next();
    if (!next.has_value()) {
      exhausted_ = true;
    } else {
      order_.push_back(pool_.allocatable()[*next]);
    }
  }
  if (index >= order_.size()) return false;
  slot = order_[index];
  return true;
}

bool Placer::Usable(uint32_t slot) const {
  return pool_.at(slot).takes_new() && !Contains(excluded_, slot) && !Contains(taken_, slot);
}

bool Placer::HostTaken(uint32_t slot) const {
  return std::any_of(taken_.begin(), taken_.end(),
                     [&](uint32_t other) { return pool_.at(other).host == pool_.at(slot).host; });
}

bool Placer::PlaceWhole(uint8_t replica, uint64_t size, bool other_host, ExtentList& out) {
  uint32_t slot = 0;
  for (size_t i = 0; Candidate(i, slot); ++i) {
    if (!Usable(slot) || (other_host && i >= preferred_count_ && HostTaken(slot))) continue;
    ExtentRef extent;
    if (!pool_.Allocate(slot, size, replica, extent)) continue;
    out.push_back(extent);
    taken_.push_back(slot);
    return true;
  }
  return false;
}

bool Placer::PlaceSplit(uint8_t replica, uint64_t size, ExtentList& out) {
  const size_t first = out.size();
  uint64_t left = size;
  for (const bool other_host : {true, false}) {
    uint32_t slot = 0;
    for (size_t i = 0; left > 0 && Candidate(i, slot); ++i) {
      if (!Usable(slot) || (other_host && HostTaken(slot))) continue;
      ExtentRef extent;
      while (left > 0 && out.size() - first < kMaxExtentsPerReplica &&
             pool_.AllocateUpTo(slot, left, min_slice_bytes_, replica, extent)) {
        left -= extent.length;
        out.push_back(extent);
      }
    }
    if (taken_.empty()) break;  // no host to avoid: the second pass would be the same
  }
  if (left > 0) {
    for (size_t i = first; i < out.size(); ++i) pool_.Release(out[i]);
    out.resize(first);
    return false;
  }
  for (size_t i = first; i < out.size(); ++i) {
    if (!Contains(taken_, out[i].slot)) taken_.push_back(out[i].slot);
  }
  return true;
}

ExtentList Placer::Place(const PlacementRequest& request, Rng& rng) {
  MC_CHECK(request.size > 0);
  ExtentList out;
  if (pool_.capacity() - pool_.used() < ExtentFootprint(request.size)) return out;
  Resolve(request);
  policy_->Begin({request.host_id, StableHash(request.key), request.replicas}, *loads_, rng);
  const bool may_be_whole = ExtentFootprint(request.size) <= pool_.largest_capacity();
  for (uint32_t replica = 0; replica < request.replicas; ++replica) {
    const auto number = static_cast<uint8_t>(replica);
    if (may_be_whole && !taken_.empty() && PlaceWhole(number, request.size, true, out)) continue;
    if (may_be_whole && PlaceWhole(number, request.size, false, out)) continue;
    if (!PlaceSplit(number, request.size, out)) break;
  }
  return out;
}

}  // namespace mooncake::core

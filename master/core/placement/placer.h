// Finds room for the replicas of one object. Rules that every policy shares: each replica in segments of its own, on
// another host while one has room; preferred segments first, in their order; excluded ones never; best effort,
// so that fewer replicas than asked for may come back; a replica that fits no hole may be split over several.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "master/core/placement/placement_policy.h"
#include "master/core/segment_pool.h"
#include "transfer/base/rng.h"

namespace mooncake::core {

struct PlacementRequest {
  uint64_t size = 0;  // > 0
  uint32_t replicas = 1;
  std::span<const std::string> preferred;
  std::span<const std::string> excluded;
  std::span<const uint32_t> old_slots;  // an upsert comes after `preferred` where the old value is
  std::string_view host_id;
  std::string_view key;
};

// A replica has at most so many extents.
inline constexpr size_t kMaxExtentsPerReplica = 256;

// Not thread-safe: it keeps its scratch lists between requests.
class Placer {
 public:
  Placer(SegmentPool& pool, AllocationStrategy strategy, uint64_t min_slice_bytes);
  ~Placer();

  // Extents of up to request.replicas replicas, numbered from 0; empty when not even one has room.
  ExtentList Place(const PlacementRequest& request, Rng& rng);

 private:
  class Loads;
  bool Candidate(size_t index, uint32_t& slot);
  bool PlaceWhole(uint8_t replica, uint64_t size, bool other_host, ExtentList& out);
  bool PlaceSplit(uint8_t replica, uint64_t size, ExtentList& out);
  bool Usable(uint32_t slot) const;
  bool HostTaken(uint32_t slot) const;
  void Resolve(const PlacementRequest& request);

  SegmentPool& pool_;
  const uint64_t min_slice_bytes_;
  const std::unique_ptr<PlacementPolicy> policy_;
  const std::unique_ptr<Loads> loads_;
  // Of the request at hand.
  std::vector<uint32_t> order_;  // slots as far as they were drawn
  size_t preferred_count_ = 0;   // the first so many of order_ were asked for by name
  bool exhausted_ = false;
  std::vector<uint32_t> excluded_;
  std::vector<uint32_t> taken_;  // by an earlier replica
};

}  // namespace mooncake::core

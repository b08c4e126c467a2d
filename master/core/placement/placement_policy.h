// Port: in which order segments are tried for a replica. A policy is pure: it sees the segments' loads and an Rng, and
// has no say in the rules that hold for every policy (distinct segments, hosts, preferred and excluded ones: placer.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "master/core/options.h"
#include "transfer/base/rng.h"

namespace mooncake::core {

// What a policy may know about a segment.
struct SegmentLoad {
  std::string_view name;
  std::string_view host_id;
  uint64_t capacity = 0;
  uint64_t free = 0;
  uint64_t ssd_capacity = 0;  // 0 = unknown
  uint64_t ssd_used = 0;
};

// Access to the loads by index, in order of name, without building a list for each request.
class SegmentLoads {
 public:
  virtual ~SegmentLoads() = default;
  virtual uint32_t size() const = 0;
  virtual SegmentLoad at(uint32_t index) const = 0;
};

struct PlacementHints {
  std::string_view host_id;  // of the writer
  uint64_t key_hash = 0;     // equal in every run
  uint32_t replicas = 1;
};

// One order at a time: Begin, then Next until it has had enough. Each index comes at most once. Suite:
// tests/unit/master/core/placement_policy_test.cc.
class PlacementPolicy {
 public:
  virtual ~PlacementPolicy() = default;
  // `loads` and `rng` outlive the order.
  virtual void Begin(const PlacementHints& hints, const SegmentLoads& loads, Rng& rng) = 0;
  virtual std::optional<uint32_t> Next() = 0;
};

//  random                every segment, in uniformly random order
//  free_ratio_first      a random run of 6 per replica, the emptiest first; then the others at random
//  ssd_free_ratio_first  the same by SSD; a segment of unknown SSD counts as empty
//  local_first           hosts in order of id beginning with the writer's, inside a host rotated by the key's hash;
//                        random when the writer's host is not known
//  cxl                   none: only preferred segments are used
std::unique_ptr<PlacementPolicy> MakePlacementPolicy(AllocationStrategy strategy);

}  // namespace mooncake::core

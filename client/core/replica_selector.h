// Which replica to read first: near ones before far ones, sound ones before suspects, then by load, then in turn. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "master/api/types.h"
#include "transfer/base/time.h"

namespace mooncake {

enum class Locality : uint8_t { kSameProcess = 0, kSameHost = 1, kRemote = 2 };

// What is known of a replica before it is read. For one of several segments: the worst of them.
struct ReplicaView {
  Locality locality = Locality::kRemote;
  bool suspect = false;
  bool reachable = true;  // its segments are known; others are left out
  uint64_t load = 0;      // bytes on their way between us and its nodes
};

// Indices of the reachable replicas, best first. `turn` rotates equals, so that readers spread.
std::vector<size_t> OrderReplicas(std::span<const ReplicaView> replicas, uint64_t turn);

// Segments whose last transfer failed. A suspect is tried last until its time is up. (That a dead peer fails fast when there is
// no other is the transfer engine's doing.) Thread-compatible.
class SuspectTable {
 public:
  static constexpr Duration kFirst = Millis(250);
  static constexpr Duration kLongest = Seconds(5);
  static constexpr size_t kMaxEntries = 4096;  // beyond that, the one that ends first is forgotten

  void OnFailure(const SegmentId& segment, TimePoint now);
  void OnSuccess(const SegmentId& segment);
  // Until when the segment is to be left alone; a time in the past if it may be tried.
  TimePoint SuspectUntil(const SegmentId& segment) const;
  bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    Duration length{};
    TimePoint until{};
  };
  std::unordered_map<SegmentId, Entry> entries_;
};

}  // namespace mooncake

// The part of the vocabulary that tells operators what a master does and how it was started.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transfer/base/config_value.h"

namespace mooncake {

inline constexpr size_t kMaxLatencyBounds = 64;
inline constexpr size_t kMaxReportedCalls = 1024;
inline constexpr size_t kMaxConfigValues = 1024;

// Since the start, all of it.
struct CallActivity {
  std::string name;  // of the call in the protocol
  uint64_t calls = 0;
  uint64_t items = 0;  // keys, where a call is about several
  uint64_t failed_items = 0;
  // Of RPCs only, from the whole request to the whole reply: how many took at most each of the bounds, and more than the last one.
  std::vector<uint64_t> latencies;
  friend bool operator==(const CallActivity&, const CallActivity&) = default;
};

struct Activity {
  std::vector<uint64_t> latency_bounds_us;  // ascending
  std::vector<CallActivity> calls;          // those that were made
  uint64_t put_bytes = 0;                   // of writes that were started
  uint64_t hit_bytes = 0;                   // of objects whose replicas were handed out
  uint64_t puts_without_room = 0;
  friend bool operator==(const Activity&, const Activity&) = default;
};

}  // namespace mooncake

// How often each call was made, how it ended, how long it took. Plain counters; call_names.h gives them names.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transfer/base/time.h"

namespace mooncake {

enum class MasterCall : uint8_t {
  kPing,
  kPutStart,
  kPutEnd,
  kPutRevoke,
  kGetReplicaList,
  kRenewLease,
  kExistKey,
  kStat,
  kRemove,
  kReplicaClear,
  kRemoveByRegex,
  kRemoveAll,
  kGetReplicaListByRegex,
  kListObjects,
  kRename,
  kRenamePrefix,
  kSetAttributes,
  kSetPin,
  kMountSegment,
  kReMountSegment,
  kUnmountSegment,
  kGracefulUnmountSegment,
  kReportReplicaFailure,
  kGetSegments,
  kGetClients,
  kQueryIp,
  kGetStatus,
  kGetActivity,
  kGetConfig,
  kTakeSnapshot,
  kListSnapshots,
  kVerifySnapshot,
  kGetDurability,
  kGetQuota,
  kSetQuota,
  kDeleteQuota,
  kListQuotas,
};
inline constexpr size_t kMasterCalls = static_cast<size_t>(MasterCall::kListQuotas) + 1;

// Values are statistics: the atomics pair with nothing. A call without a batch has one item.
struct CallCounters {
  std::atomic<uint64_t> requests{0};
  std::atomic<uint64_t> failures{0};           // requests of which no item succeeded
  std::atomic<uint64_t> partial_successes{0};  // some items did
  std::atomic<uint64_t> items{0};
  std::atomic<uint64_t> failed_items{0};

  void Count(uint64_t of, uint64_t failed) {
    constexpr auto kRelaxed = std::memory_order_relaxed;
    requests.fetch_add(1, kRelaxed);
    items.fetch_add(of, kRelaxed);
    if (failed == 0) return;
    failed_items.fetch_add(failed, kRelaxed);
    (failed == of ? failures : partial_successes).fetch_add(1, kRelaxed);
  }
};

// Microseconds, to 20 s: what lies above is a call that waited for something.
inline constexpr std::array<uint64_t, 20> kLatencyBoundsUs = {
    10,      20,        50,        100,       200,        500,       1'000,
    2'000,   5'000,     10'000,    20'000,    50'000,     100'000,   200'000,
    500'000, 1'000'000, 2'000'000, 5'000'000, 10'000'000, 20'000'000};

// How long the RPCs of one kind took: how many at most each bound; last: longer than all.
struct CallLatency {
  std::array<std::atomic<uint64_t>, kLatencyBoundsUs.size() + 1> counts{};
  std::atomic<uint64_t> total_us{0};

  void Count(Duration took) {
    const auto us = static_cast<uint64_t>(
        std::max<int64_t>(0, std::chrono::ceil<std::chrono::microseconds>(took).count()));
    const auto bucket =
        static_cast<size_t>(std::lower_bound(kLatencyBoundsUs.begin(), kLatencyBoundsUs.end(), us) -
                            kLatencyBoundsUs.begin());
    counts[bucket].fetch_add(1, std::memory_order_relaxed);
    total_us.fetch_add(us, std::memory_order_relaxed);
  }
  bool empty() const {
    return std::all_of(counts.begin(), counts.end(), [](const auto& count) { return count == 0; });
  }
};

using CallLatencies = std::array<CallLatency, kMasterCalls>;

// Sizes of objects for which a put was started: how many are at most each bound.
inline constexpr std::array<uint64_t, 8> kValueSizeBounds = {
    uint64_t{4} << 10, uint64_t{64} << 10, uint64_t{256} << 10, uint64_t{1} << 20,
    uint64_t{4} << 20, uint64_t{16} << 20, uint64_t{64} << 20,  uint64_t{1} << 30};

struct MasterCounters {
  std::array<CallCounters, kMasterCalls> calls;
  CallLatencies latencies;  // counted by who serves them as RPCs
  std::array<std::atomic<uint64_t>, kValueSizeBounds.size() + 1>
      value_sizes{};  // last: larger than all bounds
  std::atomic<uint64_t> value_bytes{0};
  std::atomic<uint64_t> hit_bytes{0};  // of replica lists handed out

  CallCounters& of(MasterCall call) { return calls[static_cast<size_t>(call)]; }
  const CallCounters& of(MasterCall call) const { return calls[static_cast<size_t>(call)]; }

  CallLatency& latency_of(MasterCall call) { return latencies[static_cast<size_t>(call)]; }
  const CallLatency& latency_of(MasterCall call) const {
    return latencies[static_cast<size_t>(call)];
  }

  void CountValue(uint64_t bytes) {
    size_t bucket = 0;
    while (bucket < kValueSizeBounds.size() && bytes > kValueSizeBounds[bucket]) ++bucket;
    value_sizes[bucket].fetch_add(1, std::memory_order_relaxed);
    value_bytes.fetch_add(bytes, std::memory_order_relaxed);
  }
};

}  // namespace mooncake

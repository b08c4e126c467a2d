// How often each call was made and how it ended. Plain counters; metrics_text.h gives them names.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

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
  kMountSegment,
  kReMountSegment,
  kUnmountSegment,
  kGracefulUnmountSegment,
  kReportReplicaFailure,
  kGetSegments,
  kGetClients,
  kQueryIp,
  kGetStatus,
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

// Sizes of objects for which a put was started: how many are at most each bound.
inline constexpr std::array<uint64_t, 8> kValueSizeBounds = {
    uint64_t{4} << 10, uint64_t{64} << 10, uint64_t{256} << 10, uint64_t{1} << 20,
    uint64_t{4} << 20, uint64_t{16} << 20, uint64_t{64} << 20,  uint64_t{1} << 30};

struct MasterCounters {
  std::array<CallCounters, kMasterCalls> calls;
  std::array<std::atomic<uint64_t>, kValueSizeBounds.size() + 1>
      value_sizes{};  // last: larger than all bounds
  std::atomic<uint64_t> value_bytes{0};
  std::atomic<uint64_t> hit_bytes{0};  // of replica lists handed out

  CallCounters& of(MasterCall call) { return calls[static_cast<size_t>(call)]; }
  const CallCounters& of(MasterCall call) const { return calls[static_cast<size_t>(call)]; }

  void CountValue(uint64_t bytes) {
    size_t bucket = 0;
    while (bucket < kValueSizeBounds.size() && bytes > kValueSizeBounds[bucket]) ++bucket;
    value_sizes[bucket].fetch_add(1, std::memory_order_relaxed);
    value_bytes.fetch_add(bytes, std::memory_order_relaxed);
  }
};

}  // namespace mooncake

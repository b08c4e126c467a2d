// The part of the vocabulary that is about what a master keeps beyond its own life: snapshots and the log.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "master/api/segment_types.h"
#include "transfer/base/time.h"

namespace mooncake {

inline constexpr size_t kMaxSnapshotIdBytes = 40;

// Ids become names of files, so nothing else gets in: 1 to kMaxSnapshotIdBytes digits and underscores.
inline bool IsSnapshotId(std::string_view id) {
  return !id.empty() && id.size() <= kMaxSnapshotIdBytes &&
         std::all_of(id.begin(), id.end(),
                     [](char c) { return c == '_' || (c >= '0' && c <= '9'); });
}

struct SnapshotDescriptor {
  std::string id;
  uint64_t records = 0;
  uint64_t bytes = 0;
  int64_t begun_ms = 0;  // wall clock, since 1970
  Term term;             // of the master that took it
  // It was made in steps while the state changed: what the log has up to `from` is in it, what it has up to `until` may be.
  uint64_t from = 0;
  uint64_t until = 0;
  std::string trouble;  // why it cannot be used; "": it can. With trouble the numbers may be 0
  friend bool operator==(const SnapshotDescriptor&, const SnapshotDescriptor&) = default;
};

// Of reading all of a snapshot.
struct SnapshotVerdict {
  uint64_t records = 0;  // damaged ones included
  uint64_t damaged = 0;
  friend bool operator==(const SnapshotVerdict&, const SnapshotVerdict&) = default;
};

struct DurabilityStatus {
  bool sync = false;             // the answer to a write waits for the log
  uint64_t log_durable = 0;      // sequence of the last record that is safe
  uint64_t log_waiting = 0;      // records
  uint64_t held_bytes = 0;       // of segments, used only until the log is durable
  std::string log_trouble;       // of the last attempt to write; "": it worked
  uint64_t snapshots_taken = 0;  // since the master started
  uint64_t snapshots_failed = 0;
  std::string snapshot_trouble;          // of the last attempt; "": it worked, or there was none
  std::optional<Duration> snapshot_age;  // of the newest: taken since the start, or restored
  friend bool operator==(const DurabilityStatus&, const DurabilityStatus&) = default;
};

}  // namespace mooncake

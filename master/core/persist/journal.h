// The records that were made and not yet taken by whoever writes them, and what has to wait until they are durable: answers,
// and space that is free only then. Knows names and sequences, no objects.
#pragma once

#include <cstdint>
#include <deque>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "master/core/object.h"
#include "master/core/options.h"
#include "master/core/persist/record.h"

namespace mooncake::core {

// Not thread-safe.
class Journal {
 public:
  explicit Journal(Durability durability)
      : durability_(durability), on_(durability != Durability::kNone) {}

  // Off: nothing is recorded, held back or waited for.
  bool on() const { return on_; }
  bool sync() const { return durability_ == Durability::kSync; }

  // While a restore fills the state nothing is recorded; what comes after it goes on from `sequence`.
  void Pause() { on_ = false; }
  void Resume(uint64_t sequence);

  // The record's sequence. A name that lost its version in the record just before and gets one now did both at once: the log must
  // never end between the two, or an upsert whose End failed would have taken the old value with it.
  uint64_t Append(Record record);
  std::vector<LogRecord> Take();
  uint64_t last() const { return last_; }
  uint64_t durable() const { return durable_; }

  // From now on answers about the name wait for `sequence`; about any name.
  void Pend(std::string_view tenant, std::string_view key, uint64_t sequence);
  void PendAll(uint64_t sequence) { pend_all_ = pend_any_ = sequence; }
  // What an answer about this name, or about many, has to wait for; 0: nothing.
  uint64_t ShownBy(std::string_view tenant, std::string_view key) const;
  uint64_t ShownByAny() const { return pend_any_ > durable_ ? pend_any_ : 0; }

  // Waits until `sequence` is durable: extents that are free then, or a segment that may be used then.
  struct Held {
    uint64_t sequence = 0;
    ExtentList extents;
    SegmentId mounted;
  };
  // May be let go later than at its sequence, never earlier.
  void Hold(Held held);
  const std::deque<Held>& held() const { return held_; }

  // All records up to here are durable. Then take out what waited for that, one by one.
  void Durable(uint64_t sequence);
  bool NextFree(Held& out);

 private:
  static uint64_t HashOf(std::string_view tenant, std::string_view key);

  const Durability durability_;
  bool on_;
  uint64_t last_ = 0;
  uint64_t durable_ = 0;
  std::vector<LogRecord> untaken_;
  uint64_t pend_all_ = 0;  // of any name
  uint64_t pend_any_ = 0;  // of some name
  // By hash of the name: two names that share one wait for each other, which does no harm.
  absl::flat_hash_map<uint64_t, uint64_t> pending_;
  std::deque<std::pair<uint64_t, uint64_t>> pending_order_;  // sequence, hash
  std::deque<Held> held_;                                    // in order of sequence
};

}  // namespace mooncake::core

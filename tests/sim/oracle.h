// What happened, as the world's omniscient observer sees it, and the checks of promises P1 to P3 against it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "master/api/types.h"
#include "master/core/persist/record.h"
#include "tests/sim/node_actor.h"
#include "tests/sim/world.h"

namespace mooncake::sim {

class Oracle {
 public:
  explicit Oracle(const World& world) : world_(world) {}
  // Nothing is acknowledged before the log has it.
  void ExpectSync() { sync_ = true; }

  // What the master of that term did, at the moment it did it. One that has a successor may go on for a while; what it does then
  // is not part of the history, and must not be shown to anybody as if it were.
  void Started(uint64_t term, const std::string& key, const PutStartReply& reply, uint64_t size,
               uint64_t token);
  void Committed(uint64_t term, const std::string& key, PutId put_id);
  // Only a version without a lease may go when the caller did not insist.
  void Removed(uint64_t term, const std::string& key, bool force);
  void CheckUnleased(uint64_t term, const std::string& key);
  void Renamed(uint64_t term, const std::string& from, const std::string& to);
  // Only what the reader was told of; a replica that was lost before is nobody's.
  void Leased(uint64_t term, const ReplicaList& list);
  void Renewed(uint64_t term, PutId put_id, Duration lease);
  // Mounted with nothing in it.
  void SegmentForgotten(uint64_t term, const SegmentId& segment);
  // Something was evicted, or went away with its segment: what the master does not have any more is gone from now on.
  void Losses(uint64_t term, const std::function<bool(const std::string&, PutId)>& has);
  // What happened until that moment is durable.
  void Durable(uint64_t term, uint64_t moment) {
    if (!Outdated(term)) durable_ = std::max(durable_, moment);
  }
  // A new term began with these versions; `disk_lost`: of which nothing is expected. A predecessor may go on to show what it had
  // for so long.
  void Restored(uint64_t term, const std::vector<core::VersionRecord>& versions, bool disk_lost,
                Duration overlap);
  void MasterLostAll();
  // A moment between two operations; an answer that showed the state of `key` at that moment was given.
  uint64_t Now() { return ++moment_; }
  void Shown(uint64_t term, const std::string& key, uint64_t moment);
  std::vector<std::string> KeysUnder(const std::string& prefix) const;

  // What clients were told.
  void PutReturned(const std::string& key, PutId put_id, const Status& status);
  void GetReturned(const std::string& key, TimePoint started, PutId put_id, uint64_t size,
                   const std::vector<Piece>& pieces);
  void NotFoundReturned(const std::string& key, TimePoint started);
  void FoundReturned(const std::string& key, TimePoint started);
  void StatReturned(const std::string& key, TimePoint started, const ObjectStat& stat);
  // All keys with the prefix.
  void ListReturned(const std::string& prefix, TimePoint started, const ListReply& reply);

  void Violation(const std::string& what);
  const std::optional<std::string>& violation() const { return violation_; }
  uint64_t reads_checked() const { return reads_checked_; }

 private:
  struct Put {
    std::string key;
    uint64_t size = 0;
    uint64_t token = 0;
    bool refused = false;  // its writer was told that it failed
    bool committed = false;
    bool in_history = false;
    bool has_name = false;  // now
    struct Part {
      Extent extent;
      TimePoint leased_until{};
    };
    std::vector<Part> parts;
    TimePoint leased_until{};
    TimePoint PartLeasedUntil(const SegmentId& segment, uint64_t offset) const;
    void EndLeases();
  };
  struct Interval {
    PutId put_id;
    TimePoint from;
    TimePoint to;  // kNever: still
    uint64_t began = 0;
    uint64_t ended = 0;  // moments
  };
  struct Place {
    uint64_t end = 0;
    PutId put_id;
  };
  using Places = std::map<uint64_t, Place>;  // by offset

  void Close(const std::string& key, Duration after = {});
  void Open(const std::string& key, PutId put_id);
  const Interval* OpenOne(const std::string& key) const;
  // It had some version all the time since then.
  bool HeldSince(const std::string& key, TimePoint started) const;
  // The put had the name at some time since then.
  bool HadName(const std::string& key, PutId put_id, TimePoint started) const;
  bool Outdated(uint64_t term) const { return term < term_; }
  Put* Leasable(uint64_t term, PutId put_id);
  void CheckPlaces(const std::string& key, PutId put_id);
  void CheckRestored(const core::VersionRecord& version);

  const World& world_;
  bool sync_ = false;
  std::map<uint64_t, Put> puts_;
  std::map<std::string, std::vector<Interval>> history_;
  std::map<SegmentId, Places> places_;     // who was given which bytes last
  std::map<std::string, uint64_t> shown_;  // moment
  uint64_t term_ = 0;
  TimePoint overlap_end_{};  // until then the predecessor may answer
  uint64_t moment_ = 0;
  uint64_t durable_ = 0;  // moment
  uint64_t reads_checked_ = 0;
  std::optional<std::string> violation_;
};

}  // namespace mooncake::sim

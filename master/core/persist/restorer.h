// Takes the records of a snapshot and then those of the log after it, and keeps what they add up to. Nothing is reserved yet, so that
// records may come twice, and those of a snapshot may be younger than the first ones of the log. restore.h makes a state of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_map.h>

#include "master/core/persist/record.h"

namespace mooncake::core {

// Not thread-safe.
class Restorer {
 public:
  // False: the record makes no sense and is passed over; it costs nothing but itself.
  bool Apply(Record record);
  // A record that could not even be read.
  void CountBad() { ++bad_records_; }
  // Something between the records so far and the next ones is missing: it may have taken any version from its name.
  void ForgetVersions();

  struct Version {
    VersionRecord record;
    std::vector<uint32_t> lives;  // of the segment of each extent, when this was said
  };
  // By segment: nothing while it is gone.
  struct SegmentState {
    std::optional<SegmentDescriptor> descriptor;
    uint32_t life = 0;
  };

  const absl::flat_hash_map<PutId, Version>& versions() const { return versions_; }
  const std::map<SegmentId, SegmentState>& segments() const { return segments_; }
  uint64_t bad_records() const { return bad_records_; }
  // Extent `index` lies in a segment that is still the one that it was written to.
  bool Lives(const Version& version, size_t index) const;
  // Some replica does.
  bool Lives(const Version& version) const;

 private:
  using Name = std::pair<std::string, std::string>;  // tenant, key

  void Take(VersionRecord record);
  void Take(const NameGoneRecord& record);
  void Take(const PrefixRenamedRecord& record);
  void Take(SegmentRecord record);
  void Take(const SegmentGoneRecord& record);
  void Forget(PutId put_id);
  void SetName(PutId put_id, Name name);

  absl::flat_hash_map<PutId, Version> versions_;
  absl::btree_map<Name, PutId> names_;
  std::map<SegmentId, SegmentState> segments_;
  uint64_t bad_records_ = 0;
};

}  // namespace mooncake::core

// Takes the records of a snapshot and then those of the log after it, and keeps what they add up to. Nothing is reserved yet, so that
// records may come twice, and those of a snapshot may be younger than the first ones of the log. restore.h makes a state of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>
#include <absl/container/inlined_vector.h>

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
    absl::InlinedVector<uint32_t, 2> lives;  // of the segment of each extent, when this was said
  };
  // Pointers, since versions are large and there are many of them.
  using Versions = absl::flat_hash_map<PutId, std::unique_ptr<Version>>;
  // By segment: nothing while it is gone.
  struct SegmentState {
    std::optional<SegmentDescriptor> descriptor;
    uint32_t life = 0;
  };

  const Versions& versions() const { return versions_; }
  const std::map<SegmentId, SegmentState>& segments() const { return segments_; }
  uint64_t bad_records() const { return bad_records_; }
  // Extent `index` lies in a segment that is still the one that it was written to.
  bool Lives(const Version& version, size_t index) const;
  // Some replica does.
  bool Lives(const Version& version) const;

 private:
  using Name = std::pair<std::string_view, std::string_view>;  // tenant, key
  static Name NameOf(const VersionRecord& record) { return {record.tenant, record.key}; }
  static const Name& NameOf(const Name& name) { return name; }
  static Name NameOf(const Version* version) { return NameOf(version->record); }
  struct ByName {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return NameOf(a) < NameOf(b);
    }
  };

  void Take(VersionRecord record);
  void Take(const NameGoneRecord& record);
  void Take(const PrefixRenamedRecord& record);
  void Take(SegmentRecord record);
  void Take(const SegmentGoneRecord& record);
  void Forget(PutId put_id);
  // Whoever has its name loses it.
  void Enter(Version* version);

  Versions versions_;
  absl::btree_set<Version*, ByName> names_;
  std::map<SegmentId, SegmentState> segments_;
  uint64_t bad_records_ = 0;
};

}  // namespace mooncake::core

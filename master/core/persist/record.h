// What is worth remembering beyond the life of a process: outcomes, not attempts. A log is a sequence of these records, and a
// snapshot is one too. Each says the whole of what it is about, so that saying it twice changes nothing; README.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "master/api/types.h"

namespace mooncake::core {

// One extent of a replica, by the segment's id: slots and blocks mean nothing to another process.
struct PlacedExtent {
  SegmentId segment;
  uint64_t offset = 0;
  uint64_t length = 0;  // of data
  uint8_t replica = 0;  // extents of one replica stand together, in order
  friend bool operator==(const PlacedExtent&, const PlacedExtent&) = default;
};

// This name has this version now. Whatever else had the name has none any more, and whatever name the version had before is free.
struct VersionRecord {
  std::string tenant;
  std::string key;
  PutId put_id;
  uint64_t size = 0;
  int64_t created_ms = 0;
  std::vector<PlacedExtent> extents;
  uint8_t replicas_wanted = 1;
  bool hard_pin = false;
  std::string group;  // "" = none
  std::optional<ObjectAttributes> attributes;
  friend bool operator==(const VersionRecord&, const VersionRecord&) = default;
};

// The version has no name any more: removed, evicted or lost. Its extents may be used again once this is durable.
struct NameGoneRecord {
  std::string tenant;
  std::string key;
  PutId put_id;
  friend bool operator==(const NameGoneRecord&, const NameGoneRecord&) = default;
};

// Every name that begins with `from` begins with `to` instead.
struct PrefixRenamedRecord {
  std::string tenant;
  std::string from;
  std::string to;
  friend bool operator==(const PrefixRenamedRecord&, const PrefixRenamedRecord&) = default;
};

// Mounted, or mounted again with a newer epoch.
struct SegmentRecord {
  SegmentDescriptor descriptor;
  friend bool operator==(const SegmentRecord&, const SegmentRecord&) = default;
};

// Nothing that was in the segment until now is there any more, even if it is mounted again under its id.
struct SegmentGoneRecord {
  SegmentId id;
  friend bool operator==(const SegmentGoneRecord&, const SegmentGoneRecord&) = default;
};

using Record = std::variant<VersionRecord, NameGoneRecord, PrefixRenamedRecord, SegmentRecord,
                            SegmentGoneRecord>;

// Sequences are consecutive and never 0.
struct LogRecord {
  uint64_t sequence = 0;
  Record record;
  friend bool operator==(const LogRecord&, const LogRecord&) = default;
};

}  // namespace mooncake::core

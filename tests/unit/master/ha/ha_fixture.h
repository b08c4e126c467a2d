// Records and stores for the tests of master/ha.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/memory_state_store.h"

namespace mooncake::testing {

inline SegmentDescriptor ASegment(uint64_t number) {
  SegmentDescriptor segment;
  segment.id = SegmentId{7, number};
  segment.name = "segment" + std::to_string(number);
  segment.size = uint64_t{1} << 30;
  segment.epoch = AccessEpoch{1};
  segment.owner = ClientId{8, number};
  segment.host_id = "host";
  segment.protocol = "tcp";
  segment.endpoint = "h:1";
  return segment;
}

// Each at a place of its own in segment 1.
inline core::VersionRecord AVersion(uint64_t number) {
  core::VersionRecord version;
  version.tenant = kDefaultTenant;
  version.key = "key" + std::to_string(number);
  version.put_id = PutId{number};
  version.size = 100;
  version.extents = {{SegmentId{7, 1}, number * 192, 100, 0}};
  return version;
}

inline core::Record Gone(uint64_t number) {
  return core::NameGoneRecord{kDefaultTenant, "key" + std::to_string(number), PutId{number}};
}

inline std::vector<core::LogRecord> Numbered(uint64_t first, std::vector<core::Record> records) {
  std::vector<core::LogRecord> numbered;
  for (core::Record& record : records) numbered.push_back({first++, std::move(record)});
  return numbered;
}

}  // namespace mooncake::testing

// Operations that visit many keys, in steps, so that their owner can let others in between two steps.
// A walk holds its place as a key, never a pointer: anything may change between steps. Objects that appear
// or vanish behind its back may be seen or not; every other object is seen exactly once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "master/api/types.h"
#include "master/core/persist/record.h"

namespace re2 {
class RE2;
}

namespace mooncake::core {

// Compiled within fixed memory; shared by copies of a walk.
using Pattern = std::shared_ptr<const re2::RE2>;

// Where a walk over one or all tenants is.
struct WalkPosition {
  std::string tenant;  // the one being walked
  bool all_tenants = false;
  std::string after;  // last key visited; meaningful when `started`
  bool started = false;
  bool done = false;
};

struct RemoveByRegexWalk {
  RemoveByRegexArgs args;
  Pattern pattern;
  WalkPosition position;
  RemoveByRegexReply reply;  // complete when position.done
};

struct RemoveAllWalk {
  bool force = false;
  WalkPosition position;
  uint64_t removed = 0;  // complete when position.done
};

struct ReplicaListByRegexWalk {
  Pattern pattern;
  uint32_t limit = 0;
  WalkPosition position;
  std::vector<std::pair<std::string, ReplicaList>> found;  // complete when position.done
};

struct ListWalk {
  ListArgs args;
  std::string from;  // next key to look at, inclusive
  bool done = false;
  ListReply reply;  // complete when done
};

// The whole state as records. Those of the log from `from` to `until` belong to it: they say what changed meanwhile, and until all
// of them are durable the snapshot is of no use.
struct SnapshotWalk {
  uint64_t from = 0;   // exclusive
  uint64_t until = 0;  // complete when position.done
  WalkPosition position;
  std::vector<Record>
      records;  // of the steps so far; the owner may take them out between two steps
};

// Atomic for everybody else, whatever the number of steps: the names change in the first step.
struct RenamePrefixWalk {
  uint64_t id = 0;
  uint64_t moved = 0;  // complete when done
  bool done = false;
};

}  // namespace mooncake::core

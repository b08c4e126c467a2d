// Traces of LLM requests: JSON lines, plain or gzipped, each with the blocks of one prompt in order as `hash_ids`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "transfer/base/result.h"

namespace mooncake::bench {

struct Trace {
  // Uses of blocks in order. Blocks are numbered from 0 in the order in which they first appear.
  std::vector<uint32_t> uses;
  std::vector<size_t> chain_ends;  // a request is the uses up to here
  uint32_t blocks = 0;             // distinct ones

  void Add(const std::vector<uint32_t>& chain);
};

// kInvalidParams with the number of the line for anything that is not such a trace; kInvalidRead when reading fails.
Result<Trace> ReadTrace(const std::string& path);

}  // namespace mooncake::bench

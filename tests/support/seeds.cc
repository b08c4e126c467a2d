#include "tests/support/seeds.h"

#include <cstdlib>
#include <numeric>

namespace mooncake::testing {

std::vector<uint64_t> Seeds(uint64_t count) {
  if (const char* const one = std::getenv("MC_SEED"); one != nullptr)
    return {std::strtoull(one, nullptr, 10)};
  if (const char* const many = std::getenv("MC_SEEDS"); many != nullptr)
    count = std::strtoull(many, nullptr, 10);
  std::vector<uint64_t> seeds(count);
  std::iota(seeds.begin(), seeds.end(), 1);
  return seeds;
}

}  // namespace mooncake::testing

#include "tests/support/seeds.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace mooncake::testing {

namespace {

uint64_t Count(const char* wish, uint64_t usual) {
  char* end = nullptr;
  const uint64_t number = std::strtoull(wish, &end, 10);
  return *end == '%' ? std::max<uint64_t>(1, usual * number / 100) : number;
}

}  // namespace

std::vector<uint64_t> Seeds(uint64_t count) {
  if (const char* const one = std::getenv("MC_SEED"); one != nullptr)
    return {std::strtoull(one, nullptr, 10)};
  if (const char* const many = std::getenv("MC_SEEDS"); many != nullptr) count = Count(many, count);
  std::vector<uint64_t> seeds(count);
  std::iota(seeds.begin(), seeds.end(), 1);
  return seeds;
}

}  // namespace mooncake::testing

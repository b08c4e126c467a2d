#include "tools/bench/limits.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "tools/bench/tcp_echo.h"
#include "transfer/base/units.h"

namespace mooncake::bench {

uint64_t BatchFor(uint64_t bytes) {
  return std::max<uint64_t>(1, 256 * kKiB / std::max<uint64_t>(bytes, 1));
}

Contender MemcpyLimit(uint64_t bytes, uint64_t area) {
  // Written, so that there are pages to copy from.
  auto from = std::make_shared<std::vector<char>>(std::max(area, bytes), 'x');
  auto to = std::make_shared<std::vector<char>>(bytes, 'y');
  const uint64_t places = from->size() / bytes;
  return {.name = "memcpy",
          .run =
              [from, to, bytes, places](uint64_t i) {
                std::memcpy(to->data(), from->data() + i % places * bytes, bytes);
                // The copy has to happen, though nobody looks.
                asm volatile("" : : "r"(to->data()) : "memory");
                return Status::Ok();
              },
          .batch = BatchFor(bytes)};
}

Result<Contender> TcpLimit(uint64_t bytes, Way way) {
  const uint64_t up = way == Way::kUp ? bytes : 1;
  const uint64_t down = way == Way::kUp ? 1 : bytes;
  ASSIGN_OR_RETURN(std::shared_ptr<TcpEcho> echo, TcpEcho::Create(up, down));
  return Contender{.name = "raw tcp", .run = [echo](uint64_t) { return echo->Call(); }};
}

}  // namespace mooncake::bench

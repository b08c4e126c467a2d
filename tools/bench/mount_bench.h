// Files by size through a mount, beside the same on tmpfs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/bench/report.h"
#include "transfer/base/clock.h"
#include "transfer/base/result.h"
#include "transfer/base/units.h"

namespace mooncake::bench {

struct MountBenchOptions {
  std::string dir;                  // of the mount
  std::string beside = "/dev/shm";  // a folder on tmpfs
  std::vector<uint64_t> sizes = {4 * kKiB, 64 * kKiB, kMiB, 16 * kMiB, 64 * kMiB};
  uint64_t request = kMiB;  // bytes of one read(2) or write(2)
  Duration time = Seconds(2);
};

// Leaves nothing behind in either folder.
Result<std::vector<Row>> BenchMount(const MountBenchOptions& options, const Clock& clock);

}  // namespace mooncake::bench

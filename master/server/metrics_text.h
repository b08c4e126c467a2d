// The numbers of a master as text: for Prometheus, and as one line for people.
#pragma once

#include <cstdint>
#include <string>

#include "master/server/master_service.h"

namespace mooncake {

// What the RPC server knows.
struct ConnectionNumbers {
  uint64_t open = 0;
  uint64_t refused = 0;
};

// Prometheus text format 0.0.4. Names: README.md, "Metrics".
std::string MetricsText(MasterService& service, const ConnectionNumbers& connections);

std::string MetricsSummary(MasterService& service, const ConnectionNumbers& connections);

}  // namespace mooncake

// What each call is named in the protocol and in the metrics.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "master/server/call_counters.h"

namespace mooncake {

struct CallName {
  MasterCall call;
  std::string_view rpc;
  std::string_view metric;
  bool batch;  // may be about several keys
};

// By MasterCall.
const std::array<CallName, kMasterCalls>& CallNames();

std::optional<MasterCall> CallOfRpc(std::string_view rpc);

}  // namespace mooncake

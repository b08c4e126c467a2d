// What the service tells of itself.
#include <utility>

#include "master/server/call_names.h"
#include "master/server/master_service.h"

namespace mooncake {

Result<Activity> MasterService::GetActivity(TimePoint) {
  Activity activity;
  activity.latency_bounds_us.assign(kLatencyBoundsUs.begin(), kLatencyBoundsUs.end());
  for (const CallName& name : CallNames()) {
    const CallCounters& counters = counters_.of(name.call);
    if (counters.requests == 0) continue;
    CallActivity& call = activity.calls.emplace_back();
    call.name = name.rpc;
    call.calls = counters.requests;
    call.items = counters.items;
    call.failed_items = counters.failed_items;
    const CallLatency& latency = counters_.latency_of(name.call);
    if (!latency.empty()) call.latencies.assign(latency.counts.begin(), latency.counts.end());
  }
  activity.put_bytes = counters_.value_bytes;
  activity.hit_bytes = counters_.hit_bytes;
  activity.puts_without_room = core_counters().placement_failures;
  return Counted(MasterCall::kGetActivity, Result<Activity>(std::move(activity)));
}

Result<std::vector<ConfigValue>> MasterService::GetConfig(TimePoint) {
  return Counted(MasterCall::kGetConfig, Result<std::vector<ConfigValue>>(options_.config));
}

}  // namespace mooncake

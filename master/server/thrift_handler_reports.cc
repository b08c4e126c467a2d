// The calls about the master itself; see thrift_handler.h.
#include <vector>

#include "master/api/wire.h"
#include "master/server/thrift_handler.h"

namespace mooncake {

void ThriftHandler::GetStatus(thriftgen::GetStatusReply& reply,
                              const thriftgen::PlainRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    ASSIGN_OR_RETURN(const ClusterStatus status, master_.GetStatus(deadline));
    reply.__set_value(wire::Encode(status));
    return Status::Ok();
  });
}

void ThriftHandler::GetActivity(thriftgen::GetActivityReply& reply,
                                const thriftgen::PlainRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    ASSIGN_OR_RETURN(const Activity activity, master_.GetActivity(deadline));
    reply.__set_value(wire::Encode(activity));
    return Status::Ok();
  });
}

void ThriftHandler::GetConfig(thriftgen::GetConfigReply& reply,
                              const thriftgen::PlainRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    ASSIGN_OR_RETURN(const std::vector<ConfigValue> values, master_.GetConfig(deadline));
    reply.values = wire::EncodeAll<thriftgen::ConfigValue>(std::span<const ConfigValue>(values));
    return Status::Ok();
  });
}

}  // namespace mooncake

// The calls about what outlives the master.
#include <vector>

#include "master/api/wire.h"
#include "master/server/thrift_handler.h"

namespace mooncake {

void ThriftHandler::TakeSnapshot(thriftgen::TakeSnapshotReply& reply,
                                 const thriftgen::PlainRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    ASSIGN_OR_RETURN(const SnapshotDescriptor snapshot, master_.TakeSnapshot(deadline));
    reply.__set_value(wire::Encode(snapshot));
    return Status::Ok();
  });
}

void ThriftHandler::ListSnapshots(thriftgen::ListSnapshotsReply& reply,
                                  const thriftgen::PlainRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    ASSIGN_OR_RETURN(const std::vector<SnapshotDescriptor> list, master_.ListSnapshots(deadline));
    reply.snapshots =
        wire::EncodeAll<thriftgen::Snapshot>(std::span<const SnapshotDescriptor>(list));
    return Status::Ok();
  });
}

void ThriftHandler::VerifySnapshot(thriftgen::VerifySnapshotReply& reply,
                                   const thriftgen::VerifySnapshotRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    RETURN_IF_ERROR(wire::CheckSnapshotId(request.id));
    ASSIGN_OR_RETURN(const SnapshotVerdict verdict, master_.VerifySnapshot(request.id, deadline));
    reply.records = static_cast<int64_t>(verdict.records);
    reply.damaged = static_cast<int64_t>(verdict.damaged);
    return Status::Ok();
  });
}

void ThriftHandler::GetDurability(thriftgen::GetDurabilityReply& reply,
                                  const thriftgen::PlainRequest& request) {
  Answer(reply, request.timeout_ms, [&](TimePoint deadline) -> Status {
    ASSIGN_OR_RETURN(const DurabilityStatus status, master_.GetDurability(deadline));
    reply.__set_value(wire::Encode(status));
    return Status::Ok();
  });
}

}  // namespace mooncake

#include "transfer/transport/tcp/tcp_connection.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace mooncake::tcp {

TcpConnection::TcpConnection(const DialTarget& target, const StreamPoolOptions& options,
                             const Clock& clock)
    : target_(target), clock_(clock), pool_(target, options, clock) {}

Status TcpConnection::Open(TimePoint deadline) {
  ASSIGN_OR_RETURN(std::unique_ptr<ClientStream> stream,
                   pool_.Take(StreamPool::Use::kBulk, deadline));
  pool_.Return(std::move(stream));
  return Status::Ok();
}

Status TcpConnection::WithStream(StreamPool::Use use, TimePoint deadline, const Attempt& attempt) {
  ASSIGN_OR_RETURN(std::unique_ptr<ClientStream> stream, pool_.Take(use, deadline));
  Status status = attempt(*stream);
  if (status.code() == ErrorCode::kTransferFail) {
    // Reads, fences and flags can be repeated. So can a write, because Replace() returns only when the node is done
    // with the old stream: the same bytes go to the same place under the same grant.
    ASSIGN_OR_RETURN(stream, pool_.Replace(std::move(stream), deadline));
    status = attempt(*stream);
  }
  if (status.ok()) {
    pool_.Return(std::move(stream));
  } else {
    pool_.Drop(std::move(stream));
  }
  return status;
}

void TcpConnection::Execute(std::span<Slice> slices, TimePoint deadline) {
  std::vector<uint32_t> pending(slices.size());
  std::iota(pending.begin(), pending.end(), 0u);
  if (pending.empty()) return;
  if (clock_.Now() >= deadline) {  // before a good stream is given up for it
    const Status late(ErrorCode::kRpcTimeout,
                      target_.address + ": the deadline had passed before the start");
    for (Slice& slice : slices) slice.status = late;
    return;
  }
  const Status status = WithStream(StreamPool::Use::kBulk, deadline, [&](ClientStream& stream) {
    return stream.Run(slices, pending, deadline);
  });
  for (const uint32_t index : pending) slices[index].status = status;
}

Result<ByteSpan> TcpConnection::View(const SegmentId&, AccessEpoch, uint64_t, uint64_t) {
  return Status(ErrorCode::kNotSupported, target_.address + ": no views over a stream");
}

Status TcpConnection::Control(Op op, const Entry& entry, TimePoint deadline) {
  ErrorCode code = ErrorCode::kOk;
  RETURN_IF_ERROR(WithStream(StreamPool::Use::kControl, deadline, [&](ClientStream& stream) {
    return stream.Call(op, entry, deadline, code);
  }));
  if (code == ErrorCode::kOk) return Status::Ok();
  return Status(code, target_.address + " refused to " + std::string(OpName(op)) + " put " +
                          std::to_string(entry.grant.put_id.value) + " in segment " +
                          entry.segment.ToString());
}

Status TcpConnection::Fence(const SegmentId& segment, PutId put_id, TimePoint deadline) {
  Entry entry;
  entry.segment = segment;
  entry.grant.put_id = put_id;
  const int64_t left_ms = ToMillis(deadline - clock_.Now());
  entry.length = static_cast<uint64_t>(std::max<int64_t>(left_ms, 0));
  return Control(Op::kFence, entry, deadline);
}

Status TcpConnection::Supersede(const SegmentId& segment, AccessEpoch epoch, uint64_t seal_offset,
                                PutId put_id, TimePoint deadline) {
  Entry entry;
  entry.segment = segment;
  entry.epoch = epoch;
  entry.offset = seal_offset;
  entry.grant.put_id = put_id;
  return Control(Op::kSupersede, entry, deadline);
}

Result<ClientStream::Region> TcpConnection::Map(const SegmentId& segment, TimePoint deadline) {
  ErrorCode code = ErrorCode::kOk;
  ClientStream::Region region;
  RETURN_IF_ERROR(WithStream(StreamPool::Use::kControl, deadline, [&](ClientStream& stream) {
    return stream.Map(segment, deadline, code, region);
  }));
  if (code == ErrorCode::kOk) return region;
  return Status(code, target_.address + " has no shared region for segment " + segment.ToString());
}

}  // namespace mooncake::tcp

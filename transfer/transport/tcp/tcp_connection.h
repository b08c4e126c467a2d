// A peer's data server as a Connection: batches and control requests over pooled streams, one redial each.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "transfer/transport/tcp/stream_pool.h"
#include "transfer/transport/transport.h"

namespace mooncake::tcp {

// Thread-safe.
class TcpConnection final : public Connection {
 public:
  TcpConnection(const DialTarget& target, const StreamPoolOptions& options, const Clock& clock);

  // Makes the first stream, so that a peer that is not there is found out now.
  Status Open(TimePoint deadline);

  void Execute(std::span<Slice> slices, TimePoint deadline) override;
  Result<ByteSpan> View(const SegmentId& segment, AccessEpoch epoch, uint64_t offset,
                        uint64_t length) override;
  Status Fence(const SegmentId& segment, PutId put_id, TimePoint deadline) override;
  Status Supersede(const SegmentId& segment, AccessEpoch epoch, uint64_t seal_offset, PutId put_id,
                   TimePoint deadline) override;
  bool healthy() const override { return pool_.healthy(); }

  // The region of a segment, over a Unix socket. kNotSupported: the peer has none for us.
  Result<ClientStream::Region> Map(const SegmentId& segment, TimePoint deadline);

  uint64_t dials() const { return pool_.dials(); }

 private:
  using Attempt = std::function<Status(ClientStream&)>;
  // Runs `attempt` on a pooled stream and, if that breaks, once more on one that displaces it.
  Status WithStream(StreamPool::Use use, TimePoint deadline, const Attempt& attempt);
  Status Control(Op op, const Entry& entry, TimePoint deadline);

  const DialTarget target_;
  const Clock& clock_;
  StreamPool pool_;
};

}  // namespace mooncake::tcp

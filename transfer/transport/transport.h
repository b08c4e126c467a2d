// Port of the data plane: moves bytes between local buffers and segments of one peer.
// Adapters: memcpy, shm, tcp, rdma. Suite: tests/conformance/transport_suite.h.
//
// Decision: a connection executes a *batch* and blocks until each slice of it is settled, instead of submit and
// poll. Every adapter can pipeline inside a batch (tcp: all requests, then all answers; rdma: one doorbell,
// then completions), nothing can complete after the call returned, so a caller's buffer is its own again, and
// there is no completion object to leak. Several peers at once are several threads, which the engine owns.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "transfer/base/byte_span.h"
#include "transfer/base/ids.h"
#include "transfer/base/result.h"
#include "transfer/base/time.h"

namespace mooncake {

enum class SliceOp : uint8_t { kRead, kWrite };

inline constexpr size_t kMaxSliceBuffers = 3;  // data, padding, seal

// One contiguous run of a segment on one side, up to kMaxSliceBuffers local buffers on the other, in order.
struct Slice {
  SliceOp op = SliceOp::kRead;
  SegmentId segment;
  AccessEpoch epoch;
  uint64_t offset = 0;
  // For kWrite the bytes are only read.
  std::array<MutableByteSpan, kMaxSliceBuffers> buffers{};
  WriteGrant grant;  // kWrite only
  // Out. kInvalidVersion: wrong epoch or expired grant. kSegmentNotFound. kInvalidParams: out of the segment.
  // kTransferFail: the path broke. kRpcTimeout: the deadline passed. After kTransferFail and kRpcTimeout of a
  // write its outcome is unknown: Fence() before the space may be given back.
  Status status;

  uint64_t length() const {
    uint64_t total = 0;
    for (const MutableByteSpan& buffer : buffers) total += buffer.size();
    return total;
  }
};

// How to reach the memory of one segment.
struct PeerAddress {
  std::string host_id;       // of the machine; equal to ours: same host
  std::string protocol;      // "tcp", "rdma"
  std::string endpoint;      // HOST:PORT
  std::string local_socket;  // Unix socket of the node, "" = none; "@name" = abstract
  friend auto operator<=>(const PeerAddress&, const PeerAddress&) = default;
};

struct TransportCapabilities {
  bool views = false;  // View() works
  bool same_host_only = false;
  bool same_process_only = false;
  bool needs_registration = false;
};

// A path to one peer, which may own several physical connections. Thread-safe; calls may run in parallel.
class Connection {
 public:
  virtual ~Connection() = default;

  // Settles every slice (slice.status). Returns when all are, at `deadline` at the latest plus the time of
  // one system call; no buffer is touched afterwards. Slices of a batch may be moved in any order.
  virtual void Execute(std::span<Slice> slices, TimePoint deadline) = 0;

  // Same-host memory, readable in place while the lease that covers it lives and the connection exists.
  // kNotSupported unless capabilities().views. kInvalidVersion, kSegmentNotFound, kInvalidParams as above.
  virtual Result<ByteSpan> View(const SegmentId& segment, AccessEpoch epoch, uint64_t offset,
                                uint64_t length) = 0;

  // The node refuses from now on, and has finished with, all writes under this put id. After OK nothing
  // written under it can reach memory any more.
  virtual Status Fence(const SegmentId& segment, PutId put_id, TimePoint deadline) = 0;

  // Sets the superseded flag in the seal at `seal_offset` if that seal names `put_id`; kReplicaIsGone if it
  // names another. The node does it, never a one-sided write.
  virtual Status Supersede(const SegmentId& segment, AccessEpoch epoch, uint64_t seal_offset,
                           PutId put_id, TimePoint deadline) = 0;

  // False once the path is broken for good; the engine then makes a new one.
  virtual bool healthy() const = 0;
};

// Thread-safe.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::string_view name() const = 0;
  virtual TransportCapabilities capabilities() const = 0;

  // True if this transport can serve the peer at all (protocol, same host, same process). Cheap.
  virtual bool CanReach(const PeerAddress& peer) const = 0;
  virtual Result<std::shared_ptr<Connection>> Connect(const PeerAddress& peer,
                                                      TimePoint deadline) = 0;

  // Makes local memory known to the device; a no-op where !needs_registration. `memory` must stay until
  // Unregister of the same start address. kInvalidParams: overlaps another registration.
  virtual Status RegisterMemory(MutableByteSpan memory) = 0;
  virtual Status UnregisterMemory(const std::byte* start) = 0;
};

}  // namespace mooncake

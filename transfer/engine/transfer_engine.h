// The client's one way to the bytes of all nodes: chooses the transport to each peer, keeps connections, moves batches for
// several peers in parallel, and fails fast where a peer has just proved to be away.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transfer/base/clock.h"
#include "transfer/base/executor.h"
#include "transfer/base/result.h"
#include "transfer/engine/peer_table.h"
#include "transfer/transport/transport.h"

namespace mooncake {

// A slice and where its segment is. `peer` must stay until the call returns.
struct PeerSlice {
  const PeerAddress* peer = nullptr;
  Slice slice;
  // Out. False: there was no path to the peer, so nothing was sent and a write needs no fence.
  bool sent = true;
};

struct TransferEngineOptions {
  // A slice of at most this many bytes goes before the larger ones of its batch.
  uint64_t small_bytes = uint64_t{64} << 10;
  PeerTableOptions peers;
};

struct TransferCounters {
  struct PerTransport {
    std::string name;
    uint64_t slices_read = 0;  // settled with OK, as the next four
    uint64_t slices_written = 0;
    uint64_t bytes_read = 0;
    uint64_t bytes_written = 0;
    uint64_t bytes_copied =
        0;  // by this process in user space; 0 where the kernel or a device moves them
    uint64_t views = 0;
    uint64_t failures = 0;  // slices not settled with OK
    uint64_t retries = 0;   // slices tried again on another path or connection
    uint64_t connects = 0;
  };
  std::vector<PerTransport> transports;  // in order of preference
  uint64_t refused_fast = 0;             // calls refused because the peer had just failed
};

// Thread-safe.
class TransferEngine {
 public:
  // `transports` in order of preference, see MakeTransports. `clock` must outlive the engine.
  // kInvalidParams: no transport.
  static Result<std::unique_ptr<TransferEngine>> Create(
      std::vector<std::unique_ptr<Transport>> transports, std::shared_ptr<Executor> executor,
      const Clock& clock, const TransferEngineOptions& options);
  ~TransferEngine();
  TransferEngine(const TransferEngine&) = delete;
  TransferEngine& operator=(const TransferEngine&) = delete;

  // Settles every slice, at `deadline` at the latest; peers in parallel. Reads whose path broke are tried once more on
  // another path. Writes are not: their outcome is unknown after kTransferFail and kRpcTimeout until fenced.
  void Execute(std::span<PeerSlice> slices, TimePoint deadline);

  // Bytes of this host's or process's memory in place, for while their lease lives; when their node has been dead for
  // PeerTableOptions::view_grace they are zeros. Whether they still are what they were is for seal, epoch and lease to
  // say. kNotSupported: not on this host. Else as Connection::View.
  Result<ByteSpan> View(const PeerAddress& peer, const SegmentId& segment, AccessEpoch epoch,
                        uint64_t offset, uint64_t length, TimePoint deadline);
  // Also tries a peer in its back-off: a write that failed is what put it there.
  Status Fence(const PeerAddress& peer, const SegmentId& segment, PutId put_id, TimePoint deadline);
  Status Supersede(const PeerAddress& peer, const SegmentId& segment, AccessEpoch epoch,
                   uint64_t seal_offset, PutId put_id, TimePoint deadline);

  // The nearest way there; kRemote also when there is none.
  PeerLocality LocalityOf(const PeerAddress& peer) const;

  // Makes memory known to the devices that need it. All or nothing.
  Status RegisterMemory(MutableByteSpan memory);
  Status UnregisterMemory(const std::byte* start);

  // Lets go of broken connections and of the memory of dead nodes. Cheap; also done by Execute and View once a second.
  void Tick();

  TransferCounters counters() const;

 private:
  struct Meter;
  struct Group;

  TransferEngine(std::vector<std::unique_ptr<Transport>> transports,
                 std::shared_ptr<Executor> executor, const Clock& clock,
                 const TransferEngineOptions& options);
  std::vector<Group> GroupByPeer(std::span<PeerSlice> slices) const;
  void RunGroup(std::span<PeerSlice> slices, const Group& group, TimePoint deadline);
  void RunInParallel(std::span<PeerSlice> slices, std::vector<Group> groups, TimePoint deadline);
  // Executes `batch` on the path; says whether the peer answered at all.
  void ExecuteOn(const PeerPath& path, std::span<Slice> batch, TimePoint deadline);
  void RetryReads(const PeerAddress& peer, const PeerPath& broken, std::span<Slice> batch,
                  TimePoint deadline);
  void Count(const PeerPath& path, std::span<const Slice> batch);
  void TickIfDue();

  const TransferEngineOptions options_;
  const Clock& clock_;
  std::vector<std::unique_ptr<Transport>> transports_;
  std::unique_ptr<Meter[]> meters_;    // beside transports_
  std::atomic<int64_t> next_tick_{0};  // nanoseconds of clock_; orders nothing
  PeerTable peers_;
  std::shared_ptr<Executor> executor_;  // first to go: nothing runs in the rest then
};

}  // namespace mooncake

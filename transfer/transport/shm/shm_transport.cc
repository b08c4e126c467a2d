#include "transfer/transport/shm/shm_transport.h"

#include <atomic>
#include <unordered_map>
#include <utility>
#include <vector>

#include "transfer/base/mutex.h"
#include "transfer/transport/shm/shm_mapping.h"
#include "transfer/transport/slice_copy.h"
#include "transfer/transport/tcp/tcp_connection.h"

namespace mooncake {
namespace {

// How long View(), which has no deadline of its own, may take to fetch a region.
constexpr Duration kMapTimeout = Seconds(2);
// A look at the node's process costs a system call, and healthy() is asked before every transfer.
constexpr Duration kLookEvery = Millis(500);

class ShmConnection final : public Connection {
 public:
  ShmConnection(const tcp::DialTarget& target, const tcp::StreamPoolOptions& options,
                const Clock& clock)
      : target_(target), options_(options), clock_(clock), socket_(target, options, clock) {}

  Status Open(TimePoint deadline) {
    ASSIGN_OR_RETURN(watch_, tcp::ClientStream::Dial(target_, tcp::NewSession(), options_.socket,
                                                     clock_, deadline));
    next_look_ = (clock_.Now() + kLookEvery).time_since_epoch().count();
    return Status::Ok();
  }

  void Execute(std::span<Slice> slices, TimePoint deadline) override {
    std::vector<uint32_t> over_socket;
    for (uint32_t i = 0; i < slices.size(); ++i) {
      Slice& slice = slices[i];
      const ShmMapping* mapping =
          slice.op == SliceOp::kRead ? MappingOf(slice.segment, deadline) : nullptr;
      if (mapping == nullptr) {
        over_socket.push_back(i);
      } else {
        slice.status = Read(*mapping, slice, deadline);
      }
    }
    if (over_socket.size() == slices.size()) return socket_.Execute(slices, deadline);
    if (!over_socket.empty()) ExecuteOverSocket(slices, over_socket, deadline);
  }

  Result<ByteSpan> View(const SegmentId& segment, AccessEpoch epoch, uint64_t offset,
                        uint64_t length) override {
    const ShmMapping* mapping = MappingOf(segment, clock_.Now() + kMapTimeout);
    if (mapping == nullptr) {
      return Status(ErrorCode::kNotSupported,
                    "segment " + segment.ToString() + " cannot be mapped here");
    }
    RETURN_IF_ERROR(mapping->CheckEpoch(epoch));
    mapping->MarkViewed();
    return mapping->Range(offset, length);
  }

  Status Fence(const SegmentId& segment, PutId put_id, TimePoint deadline) override {
    return socket_.Fence(segment, put_id, deadline);
  }
  Status Supersede(const SegmentId& segment, AccessEpoch epoch, uint64_t seal_offset, PutId put_id,
                   TimePoint deadline) override {
    return socket_.Supersede(segment, epoch, seal_offset, put_id, deadline);
  }

  // Also false when the node's process has ended: its memory, of which mappings would keep all, is to be let go, and its
  // successor's segments are others.
  bool healthy() const override {
    if (gone_.load(std::memory_order_relaxed) || !socket_.healthy()) return false;
    const int64_t now = clock_.Now().time_since_epoch().count();
    int64_t due = next_look_.load(std::memory_order_relaxed);
    if (now < due || !next_look_.compare_exchange_strong(due, now + kLookEvery.count(),
                                                         std::memory_order_relaxed)) {
      return true;
    }
    const bool gone = watch_->looks_dead();
    if (gone) gone_.store(true, std::memory_order_relaxed);
    return !gone;
  }

 private:
  // Null: reads of this segment go over the socket, which also finds the right error. Mappings stay until
  // the connection ends, so the pointer stays good.
  const ShmMapping* MappingOf(const SegmentId& segment, TimePoint deadline) {
    {
      ReaderLock lock(mutex_);
      const auto found = mappings_.find(segment);
      if (found != mappings_.end()) return found->second.get();
    }
    Result<tcp::ClientStream::Region> region = socket_.Map(segment, deadline);
    std::unique_ptr<ShmMapping> mapping;
    if (region.ok()) {
      auto created = ShmMapping::Create(region->fd, region->bytes, segment);
      if (created.ok()) mapping = std::move(created).value();
    } else if (region.code() != ErrorCode::kNotSupported) {
      return nullptr;  // not served, or nobody answers: may be otherwise next time
    }
    // Also remembers that there is none to be had.
    WriterLock lock(mutex_);
    return mappings_.try_emplace(segment, std::move(mapping)).first->second.get();
  }

  Status Read(const ShmMapping& mapping, const Slice& slice, TimePoint deadline) const {
    // The range after the epoch, as the node does: who is late learns that he is late.
    RETURN_IF_ERROR(mapping.CheckEpoch(slice.epoch));
    ASSIGN_OR_RETURN(const ByteSpan bytes, mapping.Range(slice.offset, slice.length()));
    return CopySlice(slice, bytes, [&]() -> Status {
      RETURN_IF_ERROR(mapping.CheckEpoch(slice.epoch));
      if (clock_.Now() < deadline) return Status::Ok();
      return Status(ErrorCode::kRpcTimeout, "copy not finished at the deadline");
    });
  }

  void ExecuteOverSocket(std::span<Slice> slices, const std::vector<uint32_t>& which,
                         TimePoint deadline) {
    std::vector<Slice> part;
    part.reserve(which.size());
    for (const uint32_t i : which) part.push_back(slices[i]);
    socket_.Execute(part, deadline);
    for (size_t i = 0; i < which.size(); ++i) slices[which[i]].status = std::move(part[i].status);
  }

  const tcp::DialTarget target_;
  const tcp::StreamPoolOptions options_;
  const Clock& clock_;
  tcp::TcpConnection socket_;
  std::unique_ptr<tcp::ClientStream> watch_;  // carries nothing after its HELLO; ends with the node
  mutable std::atomic<int64_t> next_look_{0};  // when to look at watch_ again; orders nothing
  mutable std::atomic<bool> gone_{false};      // watch_ has ended; orders nothing
  SharedMutex mutex_;
  std::unordered_map<SegmentId, std::unique_ptr<ShmMapping>> mappings_ MC_GUARDED_BY(mutex_);
};

class ShmTransport final : public Transport {
 public:
  ShmTransport(std::string host_id, const tcp::StreamPoolOptions& options, const Clock& clock)
      : host_id_(std::move(host_id)), options_(options), clock_(clock) {}

  std::string_view name() const override { return "shm"; }
  TransportCapabilities capabilities() const override {
    return {.views = true, .same_host_only = true};
  }
  bool CanReach(const PeerAddress& peer) const override {
    return !peer.local_socket.empty() && !host_id_.empty() && peer.host_id == host_id_;
  }
  Result<std::shared_ptr<Connection>> Connect(const PeerAddress& peer,
                                              TimePoint deadline) override {
    const tcp::DialTarget target{.local = true,
                                 .address = peer.local_socket,
                                 .host_id = peer.host_id,
                                 .endpoint = peer.endpoint};
    auto connection = std::make_shared<ShmConnection>(target, options_, clock_);
    RETURN_IF_ERROR(connection->Open(deadline));
    return std::shared_ptr<Connection>(std::move(connection));
  }
  Status RegisterMemory(MutableByteSpan) override { return Status::Ok(); }
  Status UnregisterMemory(const std::byte*) override { return Status::Ok(); }

 private:
  const std::string host_id_;
  const tcp::StreamPoolOptions options_;
  const Clock& clock_;
};

}  // namespace

std::unique_ptr<Transport> MakeShmTransport(const std::string& host_id,
                                            const tcp::StreamPoolOptions& options,
                                            const Clock& clock) {
  return std::make_unique<ShmTransport>(host_id, options, clock);
}

}  // namespace mooncake

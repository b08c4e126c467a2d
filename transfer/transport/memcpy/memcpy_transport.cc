#include "transfer/transport/memcpy/memcpy_transport.h"

#include <unordered_map>
#include <utility>

#include "transfer/base/guarded.h"
#include "transfer/transport/slice_copy.h"

namespace mooncake {
namespace {

class MemcpyConnection final : public Connection {
 public:
  MemcpyConnection(std::shared_ptr<InProcessDirectory::Entry> entry, const Clock& clock)
      : entry_(std::move(entry)), clock_(clock) {}

  void Execute(std::span<Slice> slices, TimePoint deadline) override {
    for (Slice& slice : slices) slice.status = Move(slice, deadline);
  }

  Result<ByteSpan> View(const SegmentId& segment, AccessEpoch epoch, uint64_t offset,
                        uint64_t length) override {
    ASSIGN_OR_RETURN(const ServedAccess access,
                     Begin([&](ServedSegments& segments) -> Result<ServedAccess> {
                       return segments.BeginRead({segment, epoch, offset, length}, nullptr);
                     }));
    // The view outlives the access; its memory must not go before the connection does.
    viewed_.With([&](auto& owners) { owners.try_emplace(segment, access.keep_alive()); });
    return ByteSpan(access.memory());
  }

  Status Fence(const SegmentId& segment, PutId put_id, TimePoint deadline) override {
    ReaderLock lock(entry_->mutex);
    if (entry_->segments == nullptr) return Gone();
    RETURN_IF_ERROR(entry_->segments->Fence(put_id, deadline));
    if (entry_->segments->Has(segment)) return Status::Ok();
    return Status(ErrorCode::kSegmentNotFound,
                  "segment " + segment.ToString() + " is not served here");
  }

  Status Supersede(const SegmentId& segment, AccessEpoch epoch, uint64_t seal_offset, PutId put_id,
                   TimePoint) override {
    ReaderLock lock(entry_->mutex);
    if (entry_->segments == nullptr) return Gone();
    return entry_->segments->Supersede(segment, epoch, seal_offset, put_id);
  }

  bool healthy() const override {
    ReaderLock lock(entry_->mutex);
    return entry_->segments != nullptr;
  }

 private:
  static Status Gone() {
    return Status(ErrorCode::kTransferFail, "the node of this process has stopped");
  }

  template <typename F>
  Result<ServedAccess> Begin(const F& begin) {
    ReaderLock lock(entry_->mutex);
    if (entry_->segments == nullptr) return Gone();
    return begin(*entry_->segments);
  }

  Status Move(const Slice& slice, TimePoint deadline) {
    const ServedSegments::Range range{slice.segment, slice.epoch, slice.offset, slice.length()};
    ASSIGN_OR_RETURN(const ServedAccess access, Begin([&](ServedSegments& segments) {
                       return slice.op == SliceOp::kRead
                                  ? segments.BeginRead(range, nullptr)
                                  : segments.BeginWrite(range, slice.grant, nullptr);
                     }));
    return CopySlice(slice, access.memory(), [&] { return Check(access, deadline); });
  }

  Status Check(const ServedAccess& access, TimePoint deadline) const {
    if (access.cut())
      return Status(ErrorCode::kInvalidVersion, "the epoch changed, or the put was fenced");
    const TimePoint now = clock_.Now();
    if (now >= deadline) return Status(ErrorCode::kRpcTimeout, "copy not finished at the deadline");
    if (now < access.deadline()) return Status::Ok();
    return Status(ErrorCode::kInvalidVersion, "the write grant ran out during the copy");
  }

  const std::shared_ptr<InProcessDirectory::Entry> entry_;
  const Clock& clock_;
  Guarded<std::unordered_map<SegmentId, std::shared_ptr<void>>> viewed_;
};

class MemcpyTransport final : public Transport {
 public:
  MemcpyTransport(std::shared_ptr<const InProcessDirectory> directory, const Clock& clock)
      : directory_(std::move(directory)), clock_(clock) {}

  std::string_view name() const override { return "memcpy"; }
  TransportCapabilities capabilities() const override {
    return {.views = true, .same_host_only = true, .same_process_only = true};
  }
  bool CanReach(const PeerAddress& peer) const override {
    return directory_->Find(peer) != nullptr;
  }
  Result<std::shared_ptr<Connection>> Connect(const PeerAddress& peer, TimePoint) override {
    auto entry = directory_->Find(peer);
    if (entry == nullptr) {
      return Status(ErrorCode::kTransferFail,
                    "node '" + peer.endpoint + "' is not in this process");
    }
    return std::shared_ptr<Connection>(
        std::make_shared<MemcpyConnection>(std::move(entry), clock_));
  }
  Status RegisterMemory(MutableByteSpan) override { return Status::Ok(); }
  Status UnregisterMemory(const std::byte*) override { return Status::Ok(); }

 private:
  const std::shared_ptr<const InProcessDirectory> directory_;
  const Clock& clock_;
};

}  // namespace

std::unique_ptr<Transport> MakeMemcpyTransport(std::shared_ptr<const InProcessDirectory> directory,
                                               const Clock& clock) {
  return std::make_unique<MemcpyTransport>(std::move(directory), clock);
}

}  // namespace mooncake

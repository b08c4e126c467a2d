#include "tests/support/hook_transport.h"

#include <utility>

namespace mooncake::testing {
namespace {

class HookConnection final : public Connection {
 public:
  HookConnection(std::shared_ptr<Connection> inner, std::shared_ptr<const ExecuteHook> hook)
      : inner_(std::move(inner)), hook_(std::move(hook)) {}
  void Execute(std::span<Slice> slices, TimePoint deadline) override {
    (*hook_)([&] { inner_->Execute(slices, deadline); });
  }
  Result<ByteSpan> View(const SegmentId& segment, AccessEpoch epoch, uint64_t offset,
                        uint64_t length) override {
    return inner_->View(segment, epoch, offset, length);
  }
  Status Fence(const SegmentId& segment, PutId put_id, TimePoint deadline) override {
    return inner_->Fence(segment, put_id, deadline);
  }
  Status Supersede(const SegmentId& segment, AccessEpoch epoch, uint64_t seal_offset, PutId put_id,
                   TimePoint deadline) override {
    return inner_->Supersede(segment, epoch, seal_offset, put_id, deadline);
  }
  bool healthy() const override { return inner_->healthy(); }

 private:
  const std::shared_ptr<Connection> inner_;
  const std::shared_ptr<const ExecuteHook> hook_;
};

class HookTransport final : public Transport {
 public:
  HookTransport(std::unique_ptr<Transport> inner, ExecuteHook hook)
      : inner_(std::move(inner)), hook_(std::make_shared<const ExecuteHook>(std::move(hook))) {}
  std::string_view name() const override { return inner_->name(); }
  TransportCapabilities capabilities() const override { return inner_->capabilities(); }
  bool CanReach(const PeerAddress& peer) const override { return inner_->CanReach(peer); }
  Result<std::shared_ptr<Connection>> Connect(const PeerAddress& peer,
                                              TimePoint deadline) override {
    ASSIGN_OR_RETURN(std::shared_ptr<Connection> connection, inner_->Connect(peer, deadline));
    return std::shared_ptr<Connection>(
        std::make_shared<HookConnection>(std::move(connection), hook_));
  }
  Status RegisterMemory(MutableByteSpan memory) override { return inner_->RegisterMemory(memory); }
  Status UnregisterMemory(const std::byte* start) override {
    return inner_->UnregisterMemory(start);
  }

 private:
  const std::unique_ptr<Transport> inner_;
  const std::shared_ptr<const ExecuteHook> hook_;
};

}  // namespace

std::unique_ptr<Transport> MakeHookTransport(std::unique_ptr<Transport> inner, ExecuteHook hook) {
  return std::make_unique<HookTransport>(std::move(inner), std::move(hook));
}

}  // namespace mooncake::testing

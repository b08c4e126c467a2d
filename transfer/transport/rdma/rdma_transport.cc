#include "transfer/transport/rdma/rdma_transport.h"

#include <string>
#include <utility>

#include "transfer/base/units.h"
#include "transfer/transport/rdma/rdma_connection.h"

namespace mooncake {
namespace {

class RdmaTransportImpl final : public RdmaTransport {
 public:
  RdmaTransportImpl(std::unique_ptr<rdma::DeviceSet> devices, const RdmaTransportOptions& options,
                    const Clock& clock)
      : state_(std::make_shared<rdma::ClientState>(std::move(devices), options, clock)) {}

  std::string_view name() const override { return "rdma"; }
  TransportCapabilities capabilities() const override { return {.needs_registration = true}; }
  bool CanReach(const PeerAddress& peer) const override {
    return peer.protocol == "rdma" && ParseHostPort(peer.endpoint).ok();
  }

  Result<std::shared_ptr<Connection>> Connect(const PeerAddress& peer,
                                              TimePoint deadline) override {
    auto connection = std::make_shared<rdma::RdmaConnection>(peer, state_);
    RETURN_IF_ERROR(connection->Open(deadline));
    return std::shared_ptr<Connection>(std::move(connection));
  }

  Status RegisterMemory(MutableByteSpan memory) override { return state_->memory.Register(memory); }
  Status UnregisterMemory(const std::byte* start) override {
    return state_->memory.Unregister(start);
  }

  RdmaTransportCounters counters() const override {
    const auto load = [](const std::atomic<uint64_t>& n) {
      return n.load(std::memory_order_relaxed);
    };
    const rdma::ClientCounters& c = state_->counters;
    return {.work_requests = load(c.work_requests),
            .messages = load(c.messages),
            .bytes_copied = load(c.bytes_copied),
            .registrations = load(c.registrations),
            .dials = load(c.dials)};
  }

 private:
  const std::shared_ptr<rdma::ClientState> state_;
};

}  // namespace

Result<std::unique_ptr<RdmaTransport>> RdmaTransport::Create(const RdmaTransportOptions& options,
                                                             const Clock& clock) {
  if (options.max_channels_per_peer == 0 || options.chunk_bytes == 0 || options.signal_every == 0 ||
      options.send_depth <= 2 * options.signal_every ||
      options.staging_bytes / kMaxSliceBuffers < options.max_staged_bytes) {
    return Status(ErrorCode::kInvalidParams,
                  "rdma: channels, chunk and signal_every must not be 0, send_depth must exceed "
                  "twice signal_every, staging must hold three staged buffers");
  }
  ASSIGN_OR_RETURN(std::unique_ptr<rdma::DeviceSet> devices, rdma::DeviceSet::Open());
  return std::unique_ptr<RdmaTransport>(new RdmaTransportImpl(std::move(devices), options, clock));
}

}  // namespace mooncake

// The transport suite over real verbs.
#include "tests/conformance/transport_suite.h"
#include "tests/integration/rdma/rdma_node.h"
#include "transfer/transport/rdma/rdma_transport.h"

namespace mooncake::testing {
namespace {

class RdmaHarness final : public TransportHarness {
 public:
  RdmaHarness(const RdmaTransportOptions& options, uint64_t server_chunk)
      : node_(kSegmentBytes, server_chunk) {
    auto transport = RdmaTransport::Create(options, SystemClock());
    MC_CHECK(transport.ok()) << transport.message();
    transport_ = std::move(transport).value();
  }
  ServedNode& node() override { return node_.node(); }
  Transport& transport() override { return *transport_; }
  PeerAddress peer() const override { return node_.peer(); }
  size_t standing_accesses() const override { return node_.server().stats().exports; }

 private:
  RdmaNode node_;
  std::unique_ptr<Transport> transport_;
};

// As it comes.
std::unique_ptr<TransportHarness> Plain() {
  return std::make_unique<RdmaHarness>(RdmaTransportOptions{}, kGiB);
}

// Chunks, requests and queues so small that slices are cut in every way, and everything waits for room.
std::unique_ptr<TransportHarness> Narrow() {
  RdmaTransportOptions options;
  options.max_request_bytes = 100'000;
  options.send_depth = 5;
  options.signal_every = 2;
  options.max_staged_bytes = 3000;
  options.staging_bytes = 9001;
  options.max_channels_per_peer = 3;
  return std::make_unique<RdmaHarness>(options, 3 * kMiB);
}

MC_TRANSPORT_SUITE(Rdma, Plain);
MC_TRANSPORT_SUITE(RdmaNarrow, Narrow);

}  // namespace
}  // namespace mooncake::testing

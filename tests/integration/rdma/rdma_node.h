// A node that serves one segment over Soft-RoCE, for the tests that run in the machine of vm/run.sh.
#pragma once

#include <memory>
#include <string>

#include "tests/support/served_node.h"
#include "transfer/base/check.h"
#include "transfer/transport/rdma/rdma_server.h"

namespace mooncake::testing {

inline constexpr char kRdmaHost[] = "host-a";
inline constexpr char kRdmaAddress[] = "10.77.0.1";  // of rxe0, see vm/run.sh

class RdmaNode {
 public:
  explicit RdmaNode(uint64_t bytes, uint64_t chunk_bytes = uint64_t{1} << 30,
                    const Clock& clock = SystemClock())
      : node_(bytes, clock) {
    RdmaServerOptions options;
    options.listen = std::string(kRdmaAddress) + ":0";
    options.host_id = kRdmaHost;
    options.chunk_bytes = chunk_bytes;
    auto server = RdmaServer::Create(options, node_.segments(), clock);
    MC_CHECK(server.ok()) << server.message();
    server_ = std::move(server).value();
  }

  ServedNode& node() { return node_; }
  RdmaServer& server() { return *server_; }
  const RdmaServer& server() const { return *server_; }
  PeerAddress peer() const {
    return {.host_id = kRdmaHost, .protocol = "rdma", .endpoint = server_->endpoint()};
  }

 private:
  ServedNode node_;
  std::unique_ptr<RdmaServer> server_;
};

}  // namespace mooncake::testing

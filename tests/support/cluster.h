// A cluster in this process: a master, store nodes with real data servers, and clients that reach them by the path a test asks for.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/store_client.h"
#include "master/server/master_service.h"
#include "storenode/node/store_node.h"
#include "tests/support/faulty_master.h"
#include "transfer/base/units.h"
#include "transfer/transport/in_process_directory.h"

namespace mooncake::testing {

enum class DataPathKind : uint8_t { kMemcpy, kShm, kTcp };
std::string_view DataPathName(DataPathKind kind);

struct ClusterOptions {
  int nodes = 1;
  uint64_t segment_size = 16 * kMiB;
  MasterServiceOptions master;
  bool distinct_hosts = false;  // each node on a host of its own; no shared memory then
};

// Not thread-safe, but what it hands out is.
class Cluster {
 public:
  // Aborts with the reason if it cannot be built: a test has no use for half of one.
  explicit Cluster(const ClusterOptions& options = {});
  ~Cluster();

  MasterService& service() { return *service_; }
  // What clients call; add faults here.
  FaultyMaster& faults() { return *client_master_; }

  StoreNode& node(size_t i) { return *nodes_[i].node; }
  const PeerAddress& address(size_t i) const { return nodes_[i].address; }
  // The node is gone without a word to the master.
  void KillNode(size_t i);
  // Another life under the same name.
  void RestartNode(size_t i);

  struct ClientSetup {
    DataPathKind path = DataPathKind::kMemcpy;
    ClientOptions options;
    // Runs around each batch on its way to a node, with the transport's own Execute as argument. Null: no hook.
    std::function<void(const std::function<void()>& execute)> around;
    const Clock* clock = nullptr;  // null: the system's
    // Instead of those of `path`, e.g. a FakeTransport. Null: none.
    std::function<std::unique_ptr<Transport>()> transport;
  };
  std::unique_ptr<Client> NewClient(const ClientSetup& setup);
  std::unique_ptr<Client> NewClient(DataPathKind path = DataPathKind::kMemcpy) {
    return NewClient(ClientSetup{.path = path});
  }

  uint64_t used_bytes();
  uint64_t objects();

 private:
  struct Node {
    std::shared_ptr<FaultyMaster> master;
    std::unique_ptr<StoreNode> node;
    PeerAddress address;
  };
  void StartNode(size_t i);

  const ClusterOptions options_;
  std::shared_ptr<MasterService> service_;
  std::shared_ptr<FaultyMaster> client_master_;
  std::shared_ptr<InProcessDirectory> directory_ = std::make_shared<InProcessDirectory>();
  std::vector<Node> nodes_;
};

}  // namespace mooncake::testing

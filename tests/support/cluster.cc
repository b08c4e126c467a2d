#include "tests/support/cluster.h"

#include "client/client_factory.h"
#include "client/segment_directory.h"
#include "storenode/node/tcp_data_server.h"
#include "tests/support/hook_transport.h"
#include "transfer/base/executor.h"
#include "transfer/transport/transport_factory.h"

namespace mooncake::testing {
namespace {

constexpr char kHost[] = "this-host";

template <typename T>
T Must(Result<T> result) {
  MC_CHECK(result.ok()) << result.status();
  return std::move(*result);
}

}  // namespace

std::string_view DataPathName(DataPathKind kind) {
  switch (kind) {
    case DataPathKind::kMemcpy:
      return "memcpy";
    case DataPathKind::kShm:
      return "shm";
    case DataPathKind::kTcp:
      break;
  }
  return "tcp";
}

Cluster::Cluster(const ClusterOptions& options) : options_(options) {
  service_ = Must(MasterService::Create(options.master, SystemClock()));
  client_master_ = std::make_shared<FaultyMaster>(service_);
  nodes_.resize(static_cast<size_t>(options.nodes));
  for (size_t i = 0; i < nodes_.size(); ++i) StartNode(i);
}

Cluster::~Cluster() {
  for (Node& node : nodes_) {
    if (node.node == nullptr) continue;
    directory_->Withdraw(node.address);
    node.node->Stop();
  }
}

void Cluster::StartNode(size_t i) {
  Node& node = nodes_[i];
  node.master = std::make_shared<FaultyMaster>(service_);
  StoreNodeOptions options;
  options.name = "n" + std::to_string(i);
  options.segment_size = options_.segment_size;
  options.listen = "127.0.0.1:0";
  options.host_id = options_.distinct_hosts ? "host-" + std::to_string(i) : kHost;
  node.node = Must(StoreNode::Create(
      options, {.master = node.master, .serve = TcpDataServerFactory()}, SystemClock()));
  node.address = AddressOf(node.node->segment());
  MC_CHECK_OK(directory_->Publish(node.address, node.node->served()));
}

void Cluster::KillNode(size_t i) {
  Node& node = nodes_[i];
  node.master->SetScript([](std::string_view) { return Fault::kLoseRequest; });
  directory_->Withdraw(node.address);
  node.node->Stop();
  node.node.reset();
}

void Cluster::RestartNode(size_t i) {
  if (nodes_[i].node != nullptr) KillNode(i);
  StartNode(i);
}

std::unique_ptr<Client> Cluster::NewClient(const ClientSetup& setup) {
  const Clock& clock = setup.clock == nullptr ? SystemClock() : *setup.clock;
  TransportFactoryOptions factory;
  factory.host_id = kHost;
  factory.shared_memory = setup.path == DataPathKind::kShm;
  if (setup.path == DataPathKind::kMemcpy) factory.in_process = directory_;
  std::vector<std::unique_ptr<Transport>> transports = Must(MakeTransports(factory, clock));
  if (setup.transport) {
    transports.clear();
    transports.push_back(setup.transport());
  }
  if (setup.around) {
    for (auto& transport : transports)
      transport = MakeHookTransport(std::move(transport), setup.around);
  }
  ClientOptions options = setup.options;
  options.host_id = kHost;
  std::unique_ptr<TransferEngine> engine =
      Must(TransferEngine::Create(std::move(transports), MakeThreadPool("transfer", 2), clock, {}));
  return Must(internal::MakeClient(options, {.master = client_master_, .engine = std::move(engine)},
                                   clock));
}

uint64_t Cluster::used_bytes() {
  return Must(service_->GetStatus(SystemClock().Now() + Seconds(10))).used;
}

uint64_t Cluster::objects() {
  return Must(service_->GetStatus(SystemClock().Now() + Seconds(10))).object_count;
}

}  // namespace mooncake::testing

#include "client/embedded/embedded_store.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <glog/logging.h>

#include "client/client_factory.h"
#include "client/segment_directory.h"
#include "master/server/master_service.h"
#include "master/server/thrift_server.h"
#include "storenode/node/store_node.h"
#include "storenode/node/tcp_data_server.h"
#include "transfer/base/executor.h"
#include "transfer/base/machine.h"
#include "transfer/base/mutex.h"
#include "transfer/transport/transport_factory.h"

namespace mooncake {
namespace {

constexpr uint64_t kMinSize = 64 * kKiB;
constexpr uint64_t kPageBytes = 4 * kKiB;

class EmbeddedStoreImpl final : public EmbeddedStore {
 public:
  EmbeddedStoreImpl(const EmbeddedOptions& options, const Clock& clock)
      : options_(Completed(options)), clock_(clock), pid_(getpid()) {}
  ~EmbeddedStoreImpl() override { Stop(); }

  Status Start();

  Client& client() override { return *client_; }
  Result<std::unique_ptr<Client>> NewClient(const ClientOptions& options) override;
  MasterApi& master() override { return *master_; }
  const std::string& rpc_address() const override { return rpc_address_; }
  uint64_t capacity() const override { return options_.size; }
  void Stop() override;

 private:
  static EmbeddedOptions Completed(EmbeddedOptions options);
  Status StartMaster();
  Status StartNode();

  const EmbeddedOptions options_;
  const Clock& clock_;
  const pid_t pid_;
  std::shared_ptr<MasterService> master_;
  std::unique_ptr<ThriftServer> rpc_;
  std::string rpc_address_;
  const std::shared_ptr<InProcessDirectory> directory_ = std::make_shared<InProcessDirectory>();
  std::unique_ptr<StoreNode> node_;
  PeerAddress published_;
  std::unique_ptr<Client> client_;
  Mutex mutex_;
  bool stopped_ MC_GUARDED_BY(mutex_) = false;
};

EmbeddedOptions EmbeddedStoreImpl::Completed(EmbeddedOptions options) {
  options.size = (options.size + kPageBytes - 1) / kPageBytes * kPageBytes;
  if (options.node_name.empty()) options.node_name = "embedded-" + std::to_string(getpid());
  if (options.host_id.empty()) options.host_id = MachineId();
  return options;
}

Status EmbeddedStoreImpl::Start() {
  RETURN_IF_ERROR(StartMaster());
  RETURN_IF_ERROR(StartNode());
  ASSIGN_OR_RETURN(client_, NewClient(options_.client));
  return Status::Ok();
}

Status EmbeddedStoreImpl::StartMaster() {
  ASSIGN_OR_RETURN(std::unique_ptr<MasterService> service, MasterService::Create({}, clock_));
  master_ = std::move(service);
  auto rpc = ThriftServer::Start(
      {.address = {options_.host, options_.rpc_port}, .latencies = &master_->latencies()}, *master_,
      [master = master_.get()] { return master->term(); }, clock_);
  if (!rpc.ok()) {
    return Annotate(rpc.status(), "RPC port of the embedded store (rpc_port " +
                                      std::to_string(options_.rpc_port) +
                                      "; 0 takes any free one)");
  }
  rpc_ = std::move(*rpc);
  rpc_address_ = rpc_->address().ToString();
  return Status::Ok();
}

Status EmbeddedStoreImpl::StartNode() {
  StoreNodeOptions node;
  node.name = options_.node_name;
  node.segment_size = options_.size;
  node.huge_pages = options_.huge_pages;
  node.prefault = options_.prefault;
  node.listen = HostPort{options_.host, 0}.ToString();
  node.master_address = rpc_address_;
  node.host_id = options_.host_id;
  ASSIGN_OR_RETURN(
      node_, StoreNode::Create(node, {.master = master_, .serve = TcpDataServerFactory()}, clock_));
  published_ = AddressOf(node_->segment());
  return directory_->Publish(published_, node_->served());
}

Result<std::unique_ptr<Client>> EmbeddedStoreImpl::NewClient(const ClientOptions& options) {
  ClientOptions own = options;
  own.host_id = options_.host_id;
  const TransportFactoryOptions transports{
      .host_id = own.host_id, .shared_memory = own.use_shared_memory, .in_process = directory_};
  ASSIGN_OR_RETURN(std::vector<std::unique_ptr<Transport>> paths,
                   MakeTransports(transports, clock_));
  ASSIGN_OR_RETURN(
      std::unique_ptr<TransferEngine> engine,
      TransferEngine::Create(
          std::move(paths), MakeThreadPool("mc-transfer", std::clamp(own.transfer_threads, 1, 256)),
          clock_, {}));
  return internal::MakeClient(own, {.master = master_, .engine = std::move(engine)}, clock_);
}

void EmbeddedStoreImpl::Stop() {
  if (getpid() != pid_) {
    // A forked child: threads and sockets are the parent's. Nothing is torn down, and nothing waits.
    (void)client_.release();
    (void)node_.release();
    (void)rpc_.release();
    new std::shared_ptr<MasterService>(master_);
    return;
  }
  {
    MutexLock lock(mutex_);
    if (std::exchange(stopped_, true)) return;
  }
  if (rpc_ != nullptr) rpc_->Stop();
  if (node_ != nullptr) {
    directory_->Withdraw(published_);
    node_->Stop();
  }
  if (master_ != nullptr) master_->BeginShutdown();
}

}  // namespace

Status EmbeddedOptions::Validate() const {
  if (size < kMinSize) {
    return Status(
        ErrorCode::kInvalidParams,
        "size " + FormatSize(size) + ": an embedded store needs at least " + FormatSize(kMinSize));
  }
  return Status::Ok();
}

Result<std::unique_ptr<EmbeddedStore>> EmbeddedStore::Create(const EmbeddedOptions& options) {
  RETURN_IF_ERROR(options.Validate());
  auto store = std::make_unique<EmbeddedStoreImpl>(options, SystemClock());
  RETURN_IF_ERROR(store->Start());
  return std::unique_ptr<EmbeddedStore>(std::move(store));
}

}  // namespace mooncake

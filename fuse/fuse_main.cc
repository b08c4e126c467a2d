// mount.mooncake: see daemon.h for its life, mount_options.cc for its options.
#include <glog/logging.h>

#include "client/embedded/embedded_store.h"
#include "fuse/daemon.h"

namespace mooncake::fs {
namespace {

Result<OpenedStore> OpenEmbedded(const MountOptions& options) {
  EmbeddedOptions embedded;
  embedded.size = options.size;
  embedded.rpc_port = options.rpc_port;
  embedded.client.timeout = options.timeout;
  if (!options.tenant.empty()) embedded.client.tenant = options.tenant;
  ASSIGN_OR_RETURN(std::shared_ptr<EmbeddedStore> store, EmbeddedStore::Create(embedded));
  OpenedStore opened;
  opened.client = &store->client();
  opened.in_process = true;
  opened.address = store->rpc_address();
  opened.description =
      "embedded store of " + FormatSize(store->capacity()) + ", RPC at " + store->rpc_address();
  opened.keeper = std::move(store);
  return opened;
}

Result<OpenedStore> OpenCluster(const MountOptions& options) {
  ClientOptions client_options;
  client_options.master = options.source;
  client_options.timeout = options.timeout;
  if (!options.tenant.empty()) client_options.tenant = options.tenant;
  client_options.on_master = [source = options.source](const Status& status) {
    if (status.ok()) {
      LOG(INFO) << "the master answers again master=" << source;
    } else {
      LOG(WARNING) << "the master does not answer, operations fail until it does master=" << source
                   << " " << status;
    }
  };
  // The mount has to be there or fail within the time that its parent waits.
  auto client = Client::Connect(client_options);
  if (!client.ok()) {
    return Status(client.code(),
                  "master " + options.source + " does not answer (" + client.message() +
                      "); check that mooncake-master runs there and that the port is reachable");
  }
  OpenedStore opened;
  opened.client = client->get();
  opened.address = options.source;
  opened.description = "master " + options.source;
  opened.keeper = std::shared_ptr<Client>(std::move(*client));
  return opened;
}

Result<OpenedStore> OpenStore(const MountOptions& options) {
  return options.embedded() ? OpenEmbedded(options) : OpenCluster(options);
}

}  // namespace
}  // namespace mooncake::fs

int main(int argc, char** argv) {
  return mooncake::fs::RunMount(argc, argv, mooncake::fs::OpenStore);
}
